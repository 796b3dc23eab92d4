/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sound at one rate from samples at another: a windowed sinc, in whole numbers.
 *
 * Where the rates are equal every sample is left as it is. Else 16 samples around the moment
 * that is wanted count, more if the rate goes down, as its band then has to be cut.
 * Pure: no kernel in it.
 */
#ifndef _SPEAKER_RESAMPLE_H
#define _SPEAKER_RESAMPLE_H

#include "au.h"
#include "rate.h"

#define RESAMPLE_HISTORY 128u	/* samples kept; a power of 2, twice RESAMPLE_REACH_MAX and some */
#define RESAMPLE_REACH_MAX 60	/* at 48000 to 8000 Hz */

struct resample {
	u64 step;		/* samples a tick, 2^32 being 1 */
	u32 cut;		/* of the band, 2^16 being all of it */
	int reach;		/* so many samples on either side count */
	u32 at;			/* the sample whose turn it is; counts on and wraps */
	u32 fraction;		/* of a sample, 2^32 being 1, by which the tick comes after it */
	u32 have;		/* samples given so far; wraps as @at does */
	s16 history[RESAMPLE_HISTORY];	/* sample n at n % RESAMPLE_HISTORY */
};

/**
 * resample_rate - what goes in and what is wanted; the samples given so far stay
 * @r: the resampler
 * @from_hz: AU_RATE_MIN_HZ to AU_RATE_MAX_HZ
 * @to: 8000 to 64000 ticks a second
 */
void resample_rate(struct resample *r, u32 from_hz, struct tick_rate to);

/* Forget all samples: silence came before the next one. */
void resample_begin(struct resample *r);

/* Give it the next sample; not more than resample_wants(). */
static inline void resample_give(struct resample *r, s16 sample)
{
	r->history[r->have++ % RESAMPLE_HISTORY] = sample;
}

/* How many samples it could use now; those it does not get by resample_get() are silence. */
static inline int resample_wants(const struct resample *r)
{
	return max((s32)(r->at + r->reach + 1 - r->have), 0);
}

/* Has it the sample whose turn it is? If not, the sound is over, or is missing. */
static inline bool resample_ready(const struct resample *r)
{
	return (s32)(r->have - r->at) > 0;
}

/**
 * resample_get - the sound at the present tick; go on to the next
 * @r: the resampler
 *
 * Return: -32767 to 32767.
 */
int resample_get(struct resample *r);

#endif
