/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulated tapper: when it taps, given the tones it hears. Pure integer arithmetic, so that a
 * seed gives the same taps everywhere; tactus.tap.tapper is the same in Python.
 *
 * Wing and Kristofferson (1973): a timekeeper ticks, and each tick leads to a tap after a motor
 * delay. With tick K(n), timekeeper interval C(n), motor delay D(n):
 *
 *	tap(n) = K(n) + D(n)
 *	K(n+1) = K(n) + C(n) - correction (tap(n) - tone(n))
 *
 * the last term while there are tones: linear phase correction (Vorberg and Wing, 1996). A tone
 * belongs to the tap that it is nearest to, which may be the one to come. C and D are independent,
 * normal, with the means and standard deviations of struct tapper_params.
 *
 * Its user asks for tapper_next(), calls tapper_tapped() when that moment has come and
 * tapper_heard() when a tone sounds. All instants are ns of one clock of the user's.
 */
#ifndef _TAPPER_H
#define _TAPPER_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
typedef int64_t s64;
typedef uint64_t u64;
typedef uint32_t u32;
#endif

#define TAPPER_NEVER 0x7fffffffffffffffLL
#define TAPPER_PERMILLE 1000

/**
 * struct tapper_params - who taps
 * @seed: of the deviates; equal seeds tap equally
 * @interval_ns: mean of the timekeeper; 0: the distance of the first two tones
 * @timekeeper_sd_ns: standard deviation of C
 * @motor_ns: mean of D
 * @motor_sd_ns: standard deviation of D
 * @correction_permille: of an asynchrony, taken back in the next interval; 0 to 1000
 * @listen: tones to hear before the first tap; 0: begin at @start_ns
 * @start_ns: with @listen 0, the first tick
 */
struct tapper_params {
	u64 seed;
	s64 interval_ns;
	s64 timekeeper_sd_ns;
	s64 motor_ns;
	s64 motor_sd_ns;
	u32 correction_permille;
	u32 listen;
	s64 start_ns;
};

/* private to this file */
struct tapper {
	struct tapper_params p;
	u64 state;
	s64 interval;
	s64 tick;		/* K of the coming tap */
	s64 delay;		/* its D */
	s64 last;		/* the last tap, if taps */
	s64 tone;		/* the last tone, if tones */
	u32 taps, tones;
	/* tone came before the tap that it belongs to, which is the coming one */
	int early;
};

/* splitmix64 (Steele, Lea and Flood, 2014). */
static inline u64 tapper_random(struct tapper *t)
{
	u64 z = t->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/*
 * A normal deviate times @sd: the sum of twelve uniform ones of 16 bits less its mean, which has
 * the standard deviation 1 (to 2e-10), excess kurtosis -0.1, and ends at six of them.
 */
static inline s64 tapper_deviate(struct tapper *t, s64 sd)
{
	s64 sum = -393210;	/* 12 * 65535 / 2 */
	u64 bits = 0;
	int i;

	for (i = 0; i < 12; i++) {
		bits = i & 3 ? bits >> 16 : tapper_random(t);
		sum += bits & 0xffff;
	}
	return (sum * sd) >> 16;
}

static inline void tapper_init(struct tapper *t, const struct tapper_params *p)
{
	*t = (struct tapper) { .p = *p, .state = p->seed, .interval = p->interval_ns };
	t->tick = p->listen ? TAPPER_NEVER : p->start_ns;
	t->delay = p->motor_ns + tapper_deviate(t, p->motor_sd_ns);
}

/* When the next tap is; TAPPER_NEVER: not before a tone. */
static inline s64 tapper_next(const struct tapper *t)
{
	return t->tick == TAPPER_NEVER ? TAPPER_NEVER : t->tick + t->delay;
}

/* asynchrony * permille / 1000, rounded down for either sign: as in Python. */
static inline s64 tapper_correction(const struct tapper *t, s64 asynchrony)
{
	s64 product = asynchrony * t->p.correction_permille;
	s64 quotient = product / TAPPER_PERMILLE;

	return quotient - (quotient * TAPPER_PERMILLE > product);
}

/* The moment of tapper_next() has come. */
static inline void tapper_tapped(struct tapper *t)
{
	t->last = t->tick + t->delay;
	t->taps++;
	t->tick += t->interval + tapper_deviate(t, t->p.timekeeper_sd_ns);
	if (t->early)
		t->tick -= tapper_correction(t, t->last - t->tone);
	t->early = 0;
	t->delay = t->p.motor_ns + tapper_deviate(t, t->p.motor_sd_ns);
}

/* A tone sounded at @now. */
static inline void tapper_heard(struct tapper *t, s64 now)
{
	s64 before = t->tone;

	t->tone = now;
	t->tones++;
	if (!t->interval && t->tones == 2)
		t->interval = now - before;
	if (t->tick == TAPPER_NEVER) {
		if (t->tones >= t->p.listen && t->interval)
			t->tick = now + t->interval - t->p.motor_ns;
		return;
	}
	if (t->taps && now - t->last <= tapper_next(t) - now)
		t->tick -= tapper_correction(t, t->last - now);
	else
		t->early = 1;
}

#endif
