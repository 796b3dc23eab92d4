// SPDX-License-Identifier: GPL-2.0-only
#include "codec.h"

#define MULAW_BIAS 33	/* on the scale of 14 bits */

s16 codec_mulaw(u8 code)
{
	int bits = code ^ 0xff;		/* sent inverted */
	int segment = bits >> 4 & 7, step = bits & 15;
	int level = (((2 * step + MULAW_BIAS) << segment) - MULAW_BIAS) * 4;

	return bits & 0x80 ? -level : level;
}

s16 codec_alaw(u8 code)
{
	int bits = code ^ 0x55;		/* every other bit is sent inverted */
	int segment = bits >> 4 & 7, step = bits & 15;
	int level = segment ? (2 * step + 33) << (segment - 1) : 2 * step + 1;

	level *= 8;
	return bits & 0x80 ? level : -level;
}

static int sample(u8 coding, const u8 *p)
{
	switch (coding) {
	case AU_MULAW:
		return codec_mulaw(*p);
	case AU_ALAW:
		return codec_alaw(*p);
	case AU_S8:
		return (*p ^ 0x80) * 256 - 32768;
	case AU_U8:
		return *p * 256 - 32768;
	case AU_S16_BIG:
		return (s16)(p[0] << 8 | p[1]);
	default:
		return (s16)(p[1] << 8 | p[0]);
	}
}

s16 codec_frame(const struct au_format *f, const u8 *bytes)
{
	int left = sample(f->coding, bytes);

	if (f->channels == 1)
		return left;
	return (left + sample(f->coding, bytes + au_frame_bytes(f) / 2)) / 2;
}
