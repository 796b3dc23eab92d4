// SPDX-License-Identifier: GPL-2.0-only
#include "modulate.h"
#include "codec.h"

#define FULL 32768
/* A second-order loop that has lost its way is brought back at this error. */
#define ERROR_MAX (4 * FULL)
/* (2 pi 2000 Hz)^2, where the noise of the second order is least */
#define ZERO_W2 157913670ULL
#define COUNT_ONE 65536		/* pwm reckons in parts of a count */
/* Counts that are left over: the speaker must be on again before the next tick. */
#define SPARE_COUNTS 2

/* 2 cos(w) of the zero at this rate, 2^14 being 1. */
static int zero_at(struct tick_rate rate)
{
	u64 hz = div_u64(rate.num + rate.den / 2, rate.den);
	/* By its series; w is below 1.6, and 2^20 is 1. */
	s64 w2 = div_u64((ZERO_W2 << 20) / hz, (u32)hz);
	s64 w4 = w2 * w2 >> 20, w6 = w4 * w2 >> 20, w8 = w6 * w2 >> 20;

	return (int)(((2LL << 20) - w2 + w4 / 12 - w6 / 360 + w8 / 20160) >> 6);
}

void modulate_init(struct modulator *m, enum modulation kind, unsigned int order,
		   struct tick_rate rate)
{
	memset(m, 0, sizeof(*m));
	m->kind = kind;
	m->order = order;
	m->before = codec_mulaw(0);	/* the thesis's: the lowest there is */
	if (kind == MODULATE_SIGMA)
		m->zero = zero_at(rate);
	if (kind == MODULATE_PWM)
		m->levels = min(div_u64((u64)PIT_HZ * rate.den, rate.num) - SPARE_COUNTS, 255ULL);
}

static unsigned int slope(struct modulator *m, int sample)
{
	unsigned int rises = sample > m->before;

	m->before = sample;
	return rises;
}

static unsigned int sigma(struct modulator *m, int sample)
{
	int wanted = sample + m->error, bit;

	if (m->order == 2)
		wanted = sample + (int)((s64)m->zero * m->error >> 14) - m->error_before;
	bit = wanted > 0;
	m->error_before = m->error;
	m->error = clamp(wanted - (bit ? FULL : -FULL), -ERROR_MAX, ERROR_MAX);
	return bit;
}

static unsigned int pwm(struct modulator *m, int sample)
{
	int middle = (m->levels + 1) * (COUNT_ONE / 2), half = (m->levels - 1) * (COUNT_ONE / 2);
	int wanted = middle - (int)((s64)sample * half / FULL) + m->error;
	int count = clamp((wanted + COUNT_ONE / 2) / COUNT_ONE, 1, (int)m->levels);

	m->error = clamp(wanted - count * COUNT_ONE, -2 * COUNT_ONE, 2 * COUNT_ONE);
	return count;
}

unsigned int modulate(struct modulator *m, int sample)
{
	switch (m->kind) {
	case MODULATE_SLOPE:
		return slope(m, sample);
	case MODULATE_SIGMA:
		return sigma(m, sample);
	default:
		return pwm(m, sample);
	}
}
