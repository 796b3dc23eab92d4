// SPDX-License-Identifier: GPL-2.0-only
/* From bytes to samples: see stream.h. */
#include "stream.h"
#include "codec.h"

#define SKIP_BYTES 256		/* at a tick */

void intake_open(struct intake *in, bool raw)
{
	au_begin(&in->reader);
	in->raw = raw;
	in->discard = false;
	in->open_ended = false;
}

/*
 * Is there room for another, after @planned? Half of it is for the ends that intake_close() puts.
 */
static bool sounds_full(const struct sounds *q, u32 planned)
{
	return q->put - smp_load_acquire(&q->got) + planned >= SOUNDS_MAX / 2;	/* with (B) */
}

static void put_sound(struct intake *in, const struct sound *sound)
{
	struct sounds *q = in->sounds;

	q->ring[q->put % SOUNDS_MAX] = *sound;
	smp_store_release(&q->put, q->put + 1);		/* (A): with the one in next_sound() */
	in->open_ended = sound->bytes == AU_TO_END;
}

/* Every byte of an opening is a sample of a sound. */
static int write_raw(struct intake *in)
{
	struct sound sound = {
		.start = in->entered,
		.bytes = AU_TO_END,
		.format = { .rate_hz = RAW_RATE_HZ, .coding = AU_MULAW, .channels = 1 },
	};

	if (in->open_ended)
		return 0;
	if (sounds_full(in->sounds, 0))
		return INTAKE_FULL;
	put_sound(in, &sound);
	return 0;
}

/* Would these bytes, the next, do? How many sounds begin in them is added to *@planned. */
static int try_piece(const struct intake *in, struct au_reader *r, const u8 *bytes, u32 n,
		     u32 *planned)
{
	u32 at = 0, used;
	int ret;

	while ((ret = au_feed(r, bytes + at, n - at, &used)) == AU_SOUND) {
		if (sounds_full(in->sounds, (*planned)++))
			return INTAKE_FULL;
		at += used;
	}
	return ret;
}

/* They do: byte @start of the FIFO is the first. */
static void read_piece(struct intake *in, const u8 *bytes, u32 n, u32 start, u64 *files)
{
	u32 at = 0, used;

	while (au_feed(&in->reader, bytes + at, n - at, &used) == AU_SOUND) {
		struct sound sound = { start + at + used, in->reader.left, in->reader.format };

		at += used;
		++*files;
		if (sound.bytes)
			put_sound(in, &sound);
	}
}

/* All or nothing: first a look, then the same again in earnest. */
static int write_files(struct intake *in, const u8 *const bytes[2], const u32 counts[2],
		       u64 *files)
{
	struct au_reader trial = in->reader;
	u32 planned = 0;
	int ret;

	ret = try_piece(in, &trial, bytes[0], counts[0], &planned);
	if (ret >= 0)
		ret = try_piece(in, &trial, bytes[1], counts[1], &planned);
	if (ret < 0)
		return ret;
	read_piece(in, bytes[0], counts[0], in->entered, files);
	read_piece(in, bytes[1], counts[1], in->entered + counts[0], files);
	return 0;
}

int intake_write(struct intake *in, const u8 *const bytes[2], const u32 counts[2], u64 *files)
{
	int ret = 0;

	if (!in->discard)
		ret = in->raw ? write_raw(in) : write_files(in, bytes, counts, files);
	if (ret >= 0)
		in->entered += counts[0] + counts[1];
	return min(ret, 0);
}

bool intake_close(struct intake *in)
{
	struct sound end = { .start = in->entered };
	bool in_sound = au_in_sound(&in->reader);
	bool cut = !in->raw && !in->discard &&
		   (in_sound ? in->reader.left && in->reader.left != AU_TO_END
			     : !au_at_start(&in->reader));

	if (in->raw ? in->open_ended : in_sound)
		put_sound(in, &end);
	intake_open(in, in->raw);
	return !cut;
}

void stream_rate(struct stream *s, struct tick_rate rate)
{
	s->rate = rate;
	if (s->active)
		resample_rate(&s->resample, s->sound.format.rate_hz, rate);
}

/* The sound behind the present one, or NULL if it is not known yet. */
static const struct sound *next_sound(struct sounds *q)
{
	if (smp_load_acquire(&q->put) == q->got)	/* (A): with the one in put_sound() */
		return NULL;
	return &q->ring[q->got % SOUNDS_MAX];
}

static void begin(struct stream *s, const struct sound *next)
{
	s->sound = *next;
	s->left = next->bytes;
	s->active = next->bytes;
	s->begun = false;
	s->gap = false;
	s->sounded = 0;
	s->part_bytes = 0;
	smp_store_release(&s->sounds->got, s->sounds->got + 1);	/* (B): with sounds_full() */
	resample_begin(&s->resample);
	resample_rate(&s->resample, s->sound.format.rate_hz, s->rate);
}

/* Take what is no sound out of the FIFO, up to the next sound, and begin that. */
static void skip(struct stream *s)
{
	u32 n = min((u32)max(s->fifo->used(), 0), (u32)SKIP_BYTES);
	const struct sound *next = next_sound(s->sounds);

	if (next)
		n = min(n, next->start - s->taken);
	if (n && s->fifo->get(s->buffer, n) == (int)n)
		s->taken += n;
	if (next && s->taken == next->start)
		begin(s, next);
}

/*
 * Bytes of the present sound that are here and have not sounded; *@last: no more will come.
 * In this order: whose bytes are here is known by then.
 */
static u32 bytes_here(struct stream *s, bool *last)
{
	u64 here = s->part_bytes + max(s->fifo->used(), 0);
	const struct sound *next = next_sound(s->sounds);
	u64 end = s->left;

	if (next)
		end = min(end, (u64)(next->start - (s->taken - s->part_bytes)));
	*last = end <= here;
	return min(here, end);
}

/* Give the resampler what it wants of the @here bytes. */
static void decode(struct stream *s, u32 here)
{
	struct resample *r = &s->resample;
	u32 frame = au_frame_bytes(&s->sound.format);
	u32 before = r->have - s->sounded;	/* decoded already, and still in the FIFO */
	u32 n = min(before + resample_wants(r), here / frame), peek, i;

	if (n <= before)
		return;
	peek = n * frame - s->part_bytes;
	memcpy(s->buffer, s->part, s->part_bytes);
	if (s->fifo->peek(s->buffer + s->part_bytes, peek) != (int)peek)
		return;
	for (i = before; i < n; i++)
		resample_give(r, codec_frame(&s->sound.format, s->buffer + i * frame));
}

/* Take out of the FIFO what has sounded. */
static void take_sounded(struct stream *s)
{
	struct resample *r = &s->resample;
	u32 upto = (s32)(r->at - r->have) < 0 ? r->at : r->have;
	u32 n = upto - s->sounded, bytes = n * au_frame_bytes(&s->sound.format);

	if (!n || s->fifo->get(s->buffer, bytes - s->part_bytes) < 0)
		return;
	s->taken += bytes - s->part_bytes;
	s->part_bytes = 0;
	s->sounded = upto;
	s->frames += n;
	if (s->left != AU_TO_END)
		s->left -= bytes;
}

/* Half a frame is all there is: out with it, so that nobody waits for it in fsync(). */
static void take_part(struct stream *s, u32 here)
{
	u32 n = here - s->part_bytes;

	if (n && s->fifo->get(s->part + s->part_bytes, n) == (int)n) {
		s->part_bytes += n;
		s->taken += n;
	}
}

static bool play(struct stream *s, int *sample)
{
	u32 frame = au_frame_bytes(&s->sound.format);
	bool last;
	u32 here = bytes_here(s, &last);

	decode(s, here);
	if (resample_ready(&s->resample)) {
		if (s->gap)
			s->underruns++;
		s->gap = false;
		s->begun = true;
		*sample = resample_get(&s->resample);
		take_sounded(s);
		return true;
	}
	if (last) {
		s->active = false;
	} else {
		s->gap = s->begun;
		if (here < frame)
			take_part(s, here);
	}
	return false;
}

bool stream_sample(struct stream *s, int *sample)
{
	int i;

	/* One sound ends, its end is told, the next begins: without a tick of rest. */
	for (i = 0; i < 3; i++) {
		if (!s->active)
			skip(s);
		if (s->active && play(s, sample))
			return true;
	}
	return false;
}

void stream_stop(struct stream *s)
{
	u32 put = smp_load_acquire(&s->sounds->put);	/* (A): with the one in put_sound() */
	int n = s->fifo->flush();

	s->taken += max(n, 0);
	s->active = false;
	smp_store_release(&s->sounds->got, put);	/* (B): with sounds_full() */
}
