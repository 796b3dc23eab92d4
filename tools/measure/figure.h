/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A figure: count, minimum, mean, maximum, spread and histogram of times in ns.
 *
 * Programs and modules that measure the same thing share this file, so that their figures mean the
 * same. Bins are logarithmic: a value below 64 ns has a bin of its own, any other one of the 32 that
 * divide its octave, so a bin is at most 1/32 of its value wide. Negative values are mirrored.
 *
 * Printed (figure_text()) as one line and one more for each bin that is not empty:
 *
 *	FIGURE name count=N missed=N min=NS max=NS sum=NS square=NS2
 *	BIN lower upper count
 *
 * Locking: none; one writer. Pure: no kernel in it.
 */
#ifndef _MEASURE_FIGURE_H
#define _MEASURE_FIGURE_H

#ifdef __KERNEL__
#include <linux/string.h>
#include <linux/types.h>
/* RT figures are small: 64 bits hold the sum of their squares. */
typedef u64 figure_square;
#else
#include <stdint.h>
#include <string.h>
typedef uint64_t u64;
typedef int64_t s64;
typedef double figure_square;
#endif

#define FIGURE_EXACT	64	/* ns; from here on bins are 1/32 of an octave */
#define FIGURE_OCTAVES	34	/* 2^6 to 2^40 ns, which is 18 minutes */
#define FIGURE_SIDE	(FIGURE_EXACT + FIGURE_OCTAVES * 32)

struct figure {
	u64 count;
	u64 missed;	/* beats that were due and did not come; who measures counts them */
	s64 min;
	s64 max;
	s64 sum;
	figure_square square;
	u64 bins[2 * FIGURE_SIDE];	/* from the lowest to the highest; 0 is bin FIGURE_SIDE */
};

/* The bin of a magnitude on either side of 0. Context: any. */
static inline unsigned int figure_place(u64 ns)
{
	unsigned int octave;

	if (ns < FIGURE_EXACT)
		return ns;
	octave = 63 - __builtin_clzll(ns);
	if (octave >= 6 + FIGURE_OCTAVES)
		return FIGURE_SIDE - 1;
	return FIGURE_EXACT + (octave - 6) * 32 + ((ns >> (octave - 5)) & 31);
}

/* The least magnitude of a place, ns. Context: any. */
static inline s64 figure_edge(unsigned int place)
{
	unsigned int octave;

	if (place < FIGURE_EXACT)
		return place;
	octave = (place - FIGURE_EXACT) / 32 + 6;
	return (s64)(32 + (place - FIGURE_EXACT) % 32) << (octave - 5);
}

/* The least value of a bin, ns; the least of the next one is one more than its greatest. */
static inline s64 figure_lower(unsigned int bin)
{
	if (bin >= FIGURE_SIDE)
		return figure_edge(bin - FIGURE_SIDE);
	/* Bin FIGURE_SIDE - 1 has -1 alone. */
	return -figure_edge(FIGURE_SIDE - bin + 1) + 1;
}

/* Forget everything. */
static inline void figure_clear(struct figure *f)
{
	memset(f, 0, sizeof(*f));
}

/* One more value, ns. Context: the writer, any; it calls nothing. */
static inline void figure_note(struct figure *f, s64 ns)
{
	if (!f->count || ns < f->min)
		f->min = ns;
	if (!f->count || ns > f->max)
		f->max = ns;
	f->count++;
	f->sum += ns;
	f->square += (figure_square)ns * ns;
	f->bins[ns >= 0 ? FIGURE_SIDE + figure_place(ns) : FIGURE_SIDE - figure_place(-ns)]++;
}

#endif
