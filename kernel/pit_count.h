/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts of the 8254. Pure logic. */
#ifndef _TACTUS_PIT_COUNT_H
#define _TACTUS_PIT_COUNT_H

#include <rt/pure.h>

/* 1193182 counts a second: one is 838 ns. */
#define PL_PIT_COUNTS_PER_NS 5124678ULL	/* << 32, rounded up */
#define PL_PIT_LONGEST_COUNT 65535U	/* 16 bits */
#define PL_PIT_LONGEST_NS 54000000ULL	/* a little less than that many counts */

/*
 * pl_pit_count - the count that lasts for @wait_ns, PL_PIT_LONGEST_NS at most
 *
 * Rounded up, by one count at most: 1 to PL_PIT_LONGEST_COUNT.
 */
static inline u16 pl_pit_count(u64 wait_ns)
{
	return (wait_ns * PL_PIT_COUNTS_PER_NS >> 32) + 1;
}

#endif
