// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exchange of what ring 3 has and sees, on a CPU made of an array: each side finds what it left,
 * whatever the others did meanwhile, and RT code finds nothing of whoever it interrupted.
 */
#include "check.h"
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#include "pipeline/x86/ring3/swap.h"

static u64 reg[RING3_REGS];
static int writes[RING3_REGS];

/* What a selector's load does to the base; the GDT says 0. */
static __always_inline void ring3_write(enum ring3_reg which, u64 value)
{
	writes[which]++;
	reg[which] = which == RING3_CR3 ? value & ~RING3_CR3_NOFLUSH : value;
	if (which == RING3_FS_SEL)
		reg[RING3_FS] = 0;
	if (which == RING3_GS_SEL)
		reg[RING3_GS] = 0;
}

static __always_inline u64 ring3_read(enum ring3_reg which)
{
	return reg[which];
}

static u64 state = 88172645463325252ULL;

static u64 random_u64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

#define HALVES 3

static const struct ring3_machine machine = {
	.keys = true, .io_none = 0x8000, .msr = { 101, 102, 103, 104 },
};

/* What each side believes to have; by register. */
static u64 linux_has[RING3_REGS], rt_has[HALVES][RING3_REGS];
static struct ring3_cpu cpu;
static struct ring3_state halves[HALVES];

static const enum ring3_reg both[] = {
	RING3_CR3, RING3_TOP, RING3_FS, RING3_GS, RING3_PKRU,
};

static void check_linux(void)
{
	for (int r = 0; r < RING3_REGS; r++)
		CHECK_EQ(reg[r], linux_has[r]);
}

static void check_rt(int half)
{
	for (unsigned int i = 0; i < sizeof(both) / sizeof(both[0]); i++)
		CHECK_EQ(reg[both[i]], rt_has[half][both[i]]);
	CHECK_EQ(reg[RING3_MM], RING3_MM_SWITCHING);
	CHECK_EQ(reg[RING3_IO], machine.io_none);
	CHECK_EQ(reg[RING3_DR7], 0);
	CHECK_EQ(reg[RING3_CR4], linux_has[RING3_CR4] & ~(RING3_CR4_TSD | RING3_CR4_PCE));
	for (int i = 0; i < RING3_MSRS; i++)
		CHECK_EQ(reg[RING3_FIRST_MSR + i], linux_has[RING3_CR4] & RING3_CR4_VMXE ?
			 machine.msr[i] : linux_has[RING3_FIRST_MSR + i]);
}

/* Linux goes on and changes what it likes: all of it is the next one's to interrupt. */
static void linux_runs(void)
{
	for (int r = 0; r < RING3_REGS; r++) {
		if (random_u64() & 1)
			reg[r] = random_u64() & ~RING3_CR3_NOFLUSH;
		linux_has[r] = reg[r];
	}
	if (random_u64() & 1)
		reg[RING3_DR7] = linux_has[RING3_DR7] = 0;
}

/* Ring 3 can change its bases and keys, and load selectors. */
static void rt_runs(int half)
{
	static const enum ring3_reg own[] = { RING3_FS, RING3_GS, RING3_PKRU };

	for (int i = 0; i < RING3_SELS; i++)
		if (random_u64() & 1)
			ring3_write(RING3_FIRST_SEL + i, random_u64() & 0xffff);
	for (int i = 0; i < 3; i++)
		reg[own[i]] = random_u64();
	for (int i = 0; i < 3; i++)
		rt_has[half][own[i]] = reg[own[i]];
}

static void test_each_finds_what_it_left(void)
{
	for (int i = 0; i < HALVES; i++) {
		halves[i] = (struct ring3_state) {
			.cr3 = 0x1000 * (i + 1), .top = 0x77000 + i, .fs = i, .gs = 10 + i,
			.pkru = 20 + i,
		};
		rt_has[i][RING3_CR3] = halves[i].cr3;
		rt_has[i][RING3_TOP] = halves[i].top;
		rt_has[i][RING3_FS] = halves[i].fs;
		rt_has[i][RING3_GS] = halves[i].gs;
		rt_has[i][RING3_PKRU] = halves[i].pkru;
	}
	linux_runs();
	for (int turn = 0; turn < 100000; turn++) {
		int next = random_u64() % (HALVES + 1);

		if (next == HALVES) {
			ring3_swap(&machine, &cpu, NULL);
			check_linux();
			linux_runs();
		} else {
			ring3_swap(&machine, &cpu, &halves[next]);
			check_rt(next);
			rt_runs(next);
		}
	}
	ring3_swap(&machine, &cpu, NULL);
	check_linux();
}

/* What costs a trap to a hypervisor, or a flush, is written only where it must be. */
static void test_writes_no_more_than_it_must(void)
{
	memset(reg, 0, sizeof(reg));
	memset(writes, 0, sizeof(writes));
	ring3_swap(&machine, &cpu, &halves[0]);
	ring3_swap(&machine, &cpu, &halves[0]);
	ring3_swap(&machine, &cpu, NULL);
	ring3_swap(&machine, &cpu, NULL);
	CHECK_EQ(writes[RING3_CR3], 2);
	CHECK_EQ(writes[RING3_DR7], 0);
	CHECK_EQ(writes[RING3_CR4], 0);
	CHECK_EQ(writes[RING3_DS], 0);
	CHECK_EQ(writes[RING3_GS_SEL], 0);
	CHECK_EQ(writes[RING3_LSTAR], 0);
}

int main(void)
{
	test_each_finds_what_it_left();
	test_writes_no_more_than_it_must();
	return 0;
}
