/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A set of interrupt vectors: the pending log.
 *
 * Pure logic. A set belongs to one CPU and is touched with that CPU's hardware
 * interrupts off, so nothing here is atomic.
 */
#ifndef _TACTUS_VECSET_H
#define _TACTUS_VECSET_H

#include <rt/pure.h>

#define PL_VECTORS 256

struct pl_vecset {
	u64 word[PL_VECTORS / 64];
};

static inline void pl_vecset_add(struct pl_vecset *set, unsigned int vector)
{
	set->word[vector / 64] |= 1ULL << (vector % 64);
}

static inline void pl_vecset_del(struct pl_vecset *set, unsigned int vector)
{
	set->word[vector / 64] &= ~(1ULL << (vector % 64));
}

static inline bool pl_vecset_has(const struct pl_vecset *set, unsigned int vector)
{
	return set->word[vector / 64] >> (vector % 64) & 1;
}

static inline bool pl_vecset_empty(const struct pl_vecset *set)
{
	return !(set->word[0] | set->word[1] | set->word[2] | set->word[3]);
}

/*
 * pl_vecset_top - the highest vector of a set, as the APIC would choose
 *
 * Return: the vector, or -1 if the set is empty.
 */
static inline int pl_vecset_top(const struct pl_vecset *set)
{
	for (int i = PL_VECTORS / 64 - 1; i >= 0; i--)
		if (set->word[i])
			return i * 64 + 63 - __builtin_clzll(set->word[i]);
	return -1;
}

/** pl_vecset_word - the vectors from 32 * @n on, a bit each, as the APIC's registers have them */
static inline u32 pl_vecset_word(const struct pl_vecset *set, unsigned int n)
{
	return set->word[n / 2] >> (n % 2 * 32);
}

#endif
