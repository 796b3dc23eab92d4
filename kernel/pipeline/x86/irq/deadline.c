// SPDX-License-Identifier: GPL-2.0-only
/* See deadline.h. */
#include "pipeline/x86/irq/deadline.h"

#define NS_PER_MS 1000000ULL

#ifdef __KERNEL__
static void set_ns_per_tsc(u64 ratio)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(pl_cpu.ns_per_tsc, cpu) = ratio;
}
#else
u64 pl_ns_per_tsc;

static void set_ns_per_tsc(u64 ratio)
{
	pl_ns_per_tsc = ratio;
}
#endif

static u64 tsc_per_ns;	/* << PL_TSC_SHIFT, rounded down */

void pl_tsc_init(unsigned int khz)
{
	set_ns_per_tsc((NS_PER_MS << PL_TSC_SHIFT) / khz);
	tsc_per_ns = ((u64)khz << PL_TSC_SHIFT) / NS_PER_MS;
}

void pl_deadline_arm(u64 wait_ns)
{
	/*
	 * Relative to now: the two factors are not exact reciprocals, and an instant,
	 * unlike a wait, is long enough for that to show. What both lose by rounding,
	 * over the longest wait and at 8 GHz, is less than what is added here.
	 */
	u64 now = pl_tsc(), deadline = now + pl_tsc_scale(wait_ns + 3, tsc_per_ns) + 1;

	/* 0 would disarm, and a small value be long past; the end of time is not reached. */
	pl_deadline_write(deadline > now ? deadline : ~0ULL);
}

void pl_deadline_disarm(void)
{
	pl_deadline_write(0);
}

u64 pl_deadline_left_ns(void)
{
	u64 deadline = pl_deadline_read(), now = pl_tsc();

	return deadline > now ? pl_tsc_ns(deadline - now) : 0;
}
