// SPDX-License-Identifier: GPL-2.0-only
#include "resample.h"
#include "sinc.h"

#define CUT_ALL 65536u
/* The kernel's slope needs some room below half of the lower rate. */
#define CUT_MARGIN 59000u

void resample_rate(struct resample *r, u32 from_hz, struct tick_rate to)
{
	u64 per_num = (u64)from_hz * to.den;	/* samples in to.num ticks */
	u64 whole = div_u64(per_num, to.num);
	u64 rest = per_num - whole * to.num;

	r->step = (whole << 32) + div_u64(rest << 32, to.num);
	if (r->step == 1ULL << 32) {
		r->fraction = 0;
		r->reach = 0;
		r->cut = CUT_ALL;
		return;
	}
	r->cut = CUT_ALL;
	if (r->step > 1ULL << 32)
		r->cut = div_u64((u64)CUT_MARGIN << 16, (u32)(r->step >> 16));
	r->reach = (SINC_CROSSINGS * CUT_ALL + r->cut - 1) / r->cut;
}

void resample_begin(struct resample *r)
{
	memset(r->history, 0, sizeof(r->history));
	r->at = 0;
	r->fraction = 0;
	r->have = 0;
}

/* The kernel at @x, 2^16 being one of its entries; 0 beyond its end. */
static s64 kernel_at(u64 x)
{
	u32 entry = x >> 16, rest = x & 0xffff;

	if (entry >= SINC_CROSSINGS * SINC_STEPS)
		return 0;
	return sinc_half[entry] + ((s64)(sinc_half[entry + 1] - sinc_half[entry]) * rest >> 16);
}

/* Samples that have not come are silence, until they do. */
static void pad(struct resample *r)
{
	u32 n;

	for (n = r->have; (s32)(r->at + r->reach + 1 - n) > 0; n++)
		r->history[n % RESAMPLE_HISTORY] = 0;
}

static int filter(const struct resample *r)
{
	/* from one sample to the next in the kernel */
	const u64 stride = (u64)r->cut * SINC_STEPS;
	u64 after = (stride * (r->fraction >> 16)) >> 16;
	s64 sum = 0;
	u64 x;
	u32 n;

	for (x = after, n = r->at; x < (u64)SINC_CROSSINGS * SINC_STEPS << 16; x += stride, n--)
		sum += kernel_at(x) * r->history[n % RESAMPLE_HISTORY];
	for (x = stride - after, n = r->at + 1; x < (u64)SINC_CROSSINGS * SINC_STEPS << 16;
	     x += stride, n++)
		sum += kernel_at(x) * r->history[n % RESAMPLE_HISTORY];
	return clamp((sum >> 15) * r->cut >> 16, (s64)-S16_MAX, (s64)S16_MAX);
}

int resample_get(struct resample *r)
{
	int sample;
	u64 next;

	pad(r);
	if (r->reach)
		sample = filter(r);
	else
		sample = max((int)r->history[r->at % RESAMPLE_HISTORY], -S16_MAX);
	next = (u64)r->fraction + (u32)r->step;
	r->fraction = next;
	r->at += (r->step >> 32) + (next >> 32);
	return sample;
}
