/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the bytes that Linux writes to the sample of each tick.
 *
 * Two ends. Linux's (struct intake) sees all that is to be written before it enters the FIFO:
 * it reads the headers and says from which byte of the FIFO on how many are sound, and of
 * which form. The RT end (struct stream) takes the bytes out: those that nothing has been
 * said of are headers, and mean nothing to it. So the RT end's work at a tick is bounded, and
 * what is no sound is refused where somebody can be told.
 *
 * Bytes are taken out of the FIFO when they have sounded, not before: an empty FIFO is silence.
 *
 * Pure: no kernel in it, the FIFO is behind struct stream_fifo. One writer (intake) and one
 * reader (stream) of struct sounds, at the same time.
 */
#ifndef _SPEAKER_STREAM_H
#define _SPEAKER_STREAM_H

#include "au.h"
#include "resample.h"

#define SOUNDS_MAX 256u		/* sounds in the FIFO at a time; a power of 2 */
#define RAW_RATE_HZ 8192	/* of the thesis's bytes */

/* Bytes @start to @start + @bytes of all that went through the FIFO, @start modulo 2^32. */
struct sound {
	u32 start;
	u64 bytes;		/* AU_TO_END: up to the next sound; 0: ends the one before */
	struct au_format format;
};

struct sounds {
	struct sound ring[SOUNDS_MAX];
	/* by intake; store-release (A), after the sound, before its bytes */
	u32 put;
	u32 got;		/* by stream */
};

/* Linux's end. Calls must not overlap. */
struct intake {
	struct sounds *sounds;
	struct au_reader reader;
	u32 entered;		/* bytes so far, modulo 2^32 */
	bool raw;
	bool discard;		/* the rest of this opening is not to be heard */
	bool open_ended;	/* the last sound put is AU_TO_END */
};

#define INTAKE_FULL (-100)	/* too many sounds are waiting */

/* Somebody opens the FIFO; @raw: the bytes are mu-law samples and nothing else. */
void intake_open(struct intake *in, bool raw);

/**
 * intake_write - see what is to be written
 * @in: this end
 * @bytes: where, in one piece or two
 * @counts: how many in each
 * @files: raised by the headers that were complete
 *
 * Return: 0: let them enter; a negative enum au_result or INTAKE_FULL: refuse them all, and
 * nothing has changed.
 */
int intake_write(struct intake *in, const u8 *const bytes[2], const u32 counts[2], u64 *files);

/* He has closed it. Returns false if a header, or a sound of known length, was cut off. */
bool intake_close(struct intake *in);

/* What a stream takes its bytes from; as rtf_peek() and so on. */
struct stream_fifo {
	int (*peek)(void *buf, int count);
	int (*get)(void *buf, int count);
	int (*used)(void);
	int (*flush)(void);
};

struct stream {
	struct sounds *sounds;
	const struct stream_fifo *fifo;
	struct tick_rate rate;
	u32 taken;		/* bytes so far, modulo 2^32 */
	bool active;		/* @sound is being played */
	bool begun;		/* at least one sample of it has been */
	bool gap;		/* and then one was missing */
	struct sound sound;
	u64 left;		/* bytes of it that have not sounded, or AU_TO_END */
	u32 sounded;		/* samples of it that have; counts as resample.have */
	u8 part[4];		/* of a sample that the FIFO had only a part of, and has no more */
	u32 part_bytes;
	u64 frames, underruns;	/* since the start */
	struct resample resample;
	u8 buffer[512];
};

/* Begin; also at a new rate of ticks, when the sound that is being played goes on. */
void stream_rate(struct stream *s, struct tick_rate rate);

/**
 * stream_sample - the sample of this tick
 * @s: the stream
 * @sample: set if there is one
 *
 * At most 256 bytes are taken and some 120 multiplied, whatever the FIFO holds.
 *
 * Return: is there one?
 */
bool stream_sample(struct stream *s, int *sample);

/* Forget all that the FIFO holds, and the sound that is being played. */
void stream_stop(struct stream *s);

#endif
