/* SPDX-License-Identifier: GPL-2.0-only */
/* How fast a count-down runs, from how far it got in several stretches of time. Pure logic. */
#ifndef _TACTUS_COUNT_RATE_H
#define _TACTUS_COUNT_RATE_H

#include <rt/pure.h>

/* Rates are counts per ns, << 32. */
#define PL_RATE_SHIFT 32
#define PL_RATE_SPREAD 1024	/* stretches agree if half of them are within 1 in so many */

/** pl_rate - the rate of @counts in @ns, which is not 0 */
static inline u64 pl_rate(u32 counts, u64 ns)
{
	return ((u64)counts << PL_RATE_SHIFT) / ns;
}

/**
 * pl_rate_mean - the rate that @count stretches agree on
 * @rates: one each; sorted in place
 * @count: how many
 *
 * The mean of the middle half: one that something got into, an SMI or a hypervisor, does not count,
 * and the others together know the rate better than each alone, which sees whole steps only.
 *
 * Return: the rate, or 0: the middle half of them lies too far apart.
 */
static inline u64 pl_rate_mean(u64 *rates, unsigned int count)
{
	unsigned int first = count / 4, last = count - 1 - count / 4;
	u64 above = 0;

	for (unsigned int i = 1; i < count; i++) {
		u64 rate = rates[i];
		unsigned int at = i;

		for (; at && rates[at - 1] > rate; at--)
			rates[at] = rates[at - 1];
		rates[at] = rate;
	}
	if (rates[last] - rates[first] > rates[count / 2] / PL_RATE_SPREAD)
		return 0;
	for (unsigned int i = first; i <= last; i++)
		above += rates[i] - rates[first];
	return rates[first] + above / (last - first + 1);
}

/** pl_rate_differs - in parts per million, by how much @rate is above @other */
static inline s64 pl_rate_differs(u64 rate, u64 other)
{
	return ((s64)rate - (s64)other) * 1000000 / (s64)other;
}

#endif
