// SPDX-License-Identifier: GPL-2.0-only
/*
 * The TSC-deadline shot's arithmetic. The TSC and the deadline MSR are fakes: no emulator
 * here offers that mode.
 */
#include "check.h"
#include "pipeline/x86/irq/deadline.c"

static u64 fake_tsc, fake_msr;

u64 pl_tsc(void)
{
	return fake_tsc;
}

void pl_deadline_write(u64 tsc)
{
	fake_msr = tsc;
}

u64 pl_deadline_read(void)
{
	return fake_msr;
}

/* kHz: the emulator's; the slowest and the fastest imaginable; crooked real ones. */
static const unsigned int clocks_khz[] = { 1000000, 400000, 8000000, 2194843, 2893299, 3699999, 7999999 };
static const u64 waits_ns[] = { 0, 1, 2, 3, 7, 999, 1000, 12345, 1000000, 999999999, PL_DEADLINE_LONGEST_NS };
static const u64 starts[] = { 0, 1, 3333333333ULL, 1ULL << 32, (1ULL << 32) - 1,
			      0x123456789abcdefULL, 1ULL << 62 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* At the deadline the clock has gone on by the wait: not less, and hardly more. */
static void never_early(unsigned int khz, u64 start, u64 wait_ns)
{
	u64 tick_ns = 1000000 / khz + 1, before;

	fake_tsc = start;
	before = pl_tsc_clock();
	pl_deadline_arm(wait_ns);
	CHECK(fake_msr > start);
	fake_tsc = fake_msr;
	CHECK(pl_tsc_clock() - before >= wait_ns);
	CHECK(pl_tsc_clock() - before - wait_ns <= 4 + 2 * tick_ns);
}

/* What is left tells what was asked for, and 0 when that is over. */
static void left(unsigned int khz, u64 start, u64 wait_ns)
{
	u64 tick_ns = 1000000 / khz + 1;

	fake_tsc = start;
	pl_deadline_arm(wait_ns);
	CHECK(pl_deadline_left_ns() >= wait_ns);
	CHECK(pl_deadline_left_ns() <= wait_ns + 4 + 2 * tick_ns);
	fake_tsc = fake_msr;
	CHECK_EQ(pl_deadline_left_ns(), 0);
	fake_tsc = fake_msr + 1000;		/* long past */
	CHECK_EQ(pl_deadline_left_ns(), 0);
	pl_deadline_disarm();
	CHECK_EQ(fake_msr, 0);
	CHECK_EQ(pl_deadline_left_ns(), 0);	/* none */
}

/* 0 disarms, a value behind the TSC's is due at once: neither may come of an addition. */
static void wrap(void)
{
	for (u64 before_end = 0; before_end < 4000; before_end++) {
		fake_tsc = ~0ULL - before_end;
		pl_deadline_arm(1000);
		CHECK(fake_msr > fake_tsc || fake_msr == ~0ULL);
	}
}

int main(void)
{
	for (unsigned int c = 0; c < COUNT(clocks_khz); c++) {
		pl_tsc_init(clocks_khz[c]);
		for (unsigned int s = 0; s < COUNT(starts); s++)
			for (unsigned int w = 0; w < COUNT(waits_ns); w++) {
				never_early(clocks_khz[c], starts[s], waits_ns[w]);
				left(clocks_khz[c], starts[s], waits_ns[w]);
			}
		wrap();
	}
	return 0;
}
