/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples of a file's coding to linear ones of 16 bits. Pure: no kernel in it. */
#ifndef _SPEAKER_CODEC_H
#define _SPEAKER_CODEC_H

#include "au.h"

/* One byte of ITU-T G.711 mu-law: -32124 to 32124, steps of at least 8. */
s16 codec_mulaw(u8 code);

/* One byte of ITU-T G.711 A-law: -32256 to 32256. */
s16 codec_alaw(u8 code);

/**
 * codec_frame - one sample of all channels, mixed to one
 * @f: the format
 * @bytes: au_frame_bytes(@f) of them
 *
 * Return: the sample; of two channels the mean.
 */
s16 codec_frame(const struct au_format *f, const u8 *bytes);

#endif
