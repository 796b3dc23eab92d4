/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The headers of .au and WAV files, read byte by byte from a stream in whatever pieces it comes.
 *
 *	              .snd                         offset reached
 *	   +--------> AU_HEAD ---> (rest of the header) -----------> sound
 *	   |                                                          |
 *	magic <------------------------------ its length is over -----+
 *	   |                                                          | WAV: and its pad byte
 *	   +--------> RIFF ------> chunk <----------------------------+
 *	              RIFF          | ^
 *	                            +-+ "fmt ", or one that is skipped;   "data" ---> sound
 *
 * Pure: no kernel in it. The reader is a value: copy it to try what a piece would do.
 */
#ifndef _SPEAKER_AU_H
#define _SPEAKER_AU_H

#include <rt/pure.h>

enum au_coding { AU_MULAW, AU_ALAW, AU_S8, AU_U8, AU_S16_BIG, AU_S16_LITTLE };

#define AU_RATE_MIN_HZ 4000
#define AU_RATE_MAX_HZ 48000
#define AU_OFFSET_MAX 65536
#define AU_TO_END U64_MAX	/* a length that the header does not tell */

struct au_format {
	u32 rate_hz;
	u8 coding;		/* enum au_coding */
	u8 channels;		/* 1 or 2 */
};

/* What au_feed() says; the errors have words in au_reason(). */
enum au_result {
	AU_MORE,		/* all of the piece has been read */
	AU_SOUND,		/* sound begins behind what has been read: format, left */
	AU_NOT_A_FILE = -8,
	AU_BAD_OFFSET,
	AU_BAD_CODING,
	AU_BAD_RATE,
	AU_BAD_CHANNELS,
	AU_BAD_CHUNK,
	AU_NO_FORMAT,
};

struct au_reader {
	u8 state;
	bool has_format;	/* the WAV's "fmt " has come */
	u8 pad;			/* 1: the sound ends with a byte of padding */
	u8 have;		/* bytes in head */
	u8 head[40];
	u32 want;		/* bytes head is to have */
	u64 skip;		/* bytes that mean nothing to us come first */
	u64 riff_left;		/* bytes until the RIFF file is over */
	u64 left;		/* bytes of the sound to come, or AU_TO_END */
	struct au_format format;
};

/**
 * au_begin - expect a file's first byte
 * @r: the reader
 */
void au_begin(struct au_reader *r);

/**
 * au_feed - read on
 * @r: the reader
 * @bytes: what comes next
 * @n: how many
 * @used: set to how many have been read: all, or up to where sound begins
 *
 * Return: AU_MORE; AU_SOUND, after which @r->format and @r->left (bytes, or AU_TO_END) tell of
 * the sound, and the caller goes on with the rest; or a negative enum au_result, after which
 * @r is of no use.
 */
int au_feed(struct au_reader *r, const u8 *bytes, u32 n, u32 *used);

/* Is it between two files? If not, the stream was cut off. */
bool au_at_start(const struct au_reader *r);

/* Is it in the middle of a sound? */
bool au_in_sound(const struct au_reader *r);

/* Why au_feed() refuses; words for people. */
const char *au_reason(int result);

/* Bytes of one sample of all channels. */
static inline u32 au_frame_bytes(const struct au_format *f)
{
	return f->channels * (f->coding >= AU_S16_BIG ? 2u : 1u);
}

#endif
