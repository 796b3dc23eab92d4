// SPDX-License-Identifier: GPL-2.0-only
/* See deadline.h. */
#include "pipeline/x86/irq/deadline.h"

#define NS_SHIFT 32
#define NS_PER_MS 1000000ULL

static u64 ns_per_tsc, tsc_per_ns;	/* << NS_SHIFT, rounded down */

static inline u64 scale(u64 value, u64 factor)
{
	return (unsigned __int128)value * factor >> NS_SHIFT;
}

void pl_tsc_init(unsigned int khz)
{
	ns_per_tsc = (NS_PER_MS << NS_SHIFT) / khz;
	tsc_per_ns = ((u64)khz << NS_SHIFT) / NS_PER_MS;
}

u64 pl_tsc_factor(void)
{
	return ns_per_tsc;
}

u64 pl_tsc_clock(void)
{
	return scale(pl_tsc(), ns_per_tsc);
}

void pl_deadline_arm(u64 wait_ns)
{
	/*
	 * Relative to now: the two factors are not exact reciprocals, and an instant,
	 * unlike a wait, is long enough for that to show. What both lose by rounding,
	 * over the longest wait and at 8 GHz, is less than what is added here.
	 */
	u64 now = pl_tsc(), deadline = now + scale(wait_ns + 3, tsc_per_ns) + 1;

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

	return deadline > now ? scale(deadline - now, ns_per_tsc) : 0;
}
