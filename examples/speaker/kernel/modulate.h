/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From samples to what one bit can do: three ways. Pure: no kernel in it.
 *
 * slope   1 if the wave rises (thesis, Appendix B): differentiate, then clip.
 * sigma   the sign of the wave plus what all bits before have been off; second order puts the
 *         noise's zero at 2 kHz, in the middle of speech.
 * pwm     how long the speaker is off until the next tick, in counts of the PC's timer; what
 *         whole counts are off is carried on to the next.
 */
#ifndef _SPEAKER_MODULATE_H
#define _SPEAKER_MODULATE_H

#include "rate.h"

#define PIT_HZ 1193182u

enum modulation { MODULATE_SLOPE, MODULATE_SIGMA, MODULATE_PWM };

struct modulator {
	u8 kind;		/* enum modulation */
	u8 order;		/* of sigma: 1 or 2 */
	u8 levels;		/* of pwm: counts are 1 to this */
	int before;		/* slope: the sample before */
	int error, error_before;	/* sigma, pwm: what the last ones were off */
	int zero;		/* sigma: 2 cos(w), 2^14 being 1 */
};

/**
 * modulate_init - begin
 * @m: the modulator
 * @kind: which way
 * @order: of sigma, 1 or 2
 * @rate: the ticks, 8000 to 64000 a second
 */
void modulate_init(struct modulator *m, enum modulation kind, unsigned int order,
		   struct tick_rate rate);

/**
 * modulate - what is put out for a sample
 * @m: the modulator
 * @sample: -32767 to 32767
 *
 * Return: the bit, 0 or 1; of pwm the count, 1 (loudest) to @m->levels.
 */
unsigned int modulate(struct modulator *m, int sample);

#endif
