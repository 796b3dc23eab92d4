// SPDX-License-Identifier: GPL-2.0-only
/* The headers of .au and WAV files: see au.h. */
#include "au.h"

enum state { MAGIC, AU_HEAD, AU_REST, RIFF_HEAD, CHUNK_HEAD, CHUNK_FMT, SOUND };

#define CHUNK_BYTES 8
#define FMT_BYTES 16
#define FMT_EXTENSIBLE_BYTES 40
#define FMT_SUBFORMAT 24	/* its first two bytes are a tag as in a plain one */
/* Sizes from here on are what programs write that could not know. */
#define RIFF_UNKNOWN 0x7ffff000u

static u32 big(const u8 *p)
{
	return (u32)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static u32 little(const u8 *p)
{
	return (u32)p[3] << 24 | p[2] << 16 | p[1] << 8 | p[0];
}

static u32 little16(const u8 *p)
{
	return p[1] << 8 | p[0];
}

static void expect(struct au_reader *r, enum state state, u32 want)
{
	r->state = state;
	r->want = want;
	r->have = 0;
}

void au_begin(struct au_reader *r)
{
	memset(r, 0, sizeof(*r));
	expect(r, MAGIC, 4);
}

bool au_at_start(const struct au_reader *r)
{
	return r->state == MAGIC && !r->have;
}

bool au_in_sound(const struct au_reader *r)
{
	return r->state == SOUND;
}

static int check_format(const struct au_format *f)
{
	if (f->rate_hz < AU_RATE_MIN_HZ || f->rate_hz > AU_RATE_MAX_HZ)
		return AU_BAD_RATE;
	if (f->channels < 1 || f->channels > 2)
		return AU_BAD_CHANNELS;
	return AU_MORE;
}

/* Does it begin as a file of ours does? Asked for every byte: what cannot be is refused at once. */
static int magic(struct au_reader *r)
{
	bool snd = !memcmp(r->head, ".snd", r->have), riff = !memcmp(r->head, "RIFF", r->have);

	if (!snd && !riff)
		return AU_NOT_A_FILE;
	if (r->have < 4)
		return AU_MORE;
	if (snd)
		expect(r, AU_HEAD, 20);
	else
		expect(r, RIFF_HEAD, 8);
	return AU_MORE;
}

/* The 20 bytes after the magic word. */
static int au_head(struct au_reader *r)
{
	u32 offset = big(r->head), size = big(r->head + 4), channels = big(r->head + 16);

	if (offset < 24 || offset > AU_OFFSET_MAX)
		return AU_BAD_OFFSET;
	switch (big(r->head + 8)) {
	case 1:
		r->format.coding = AU_MULAW;
		break;
	case 2:
		r->format.coding = AU_S8;
		break;
	case 3:
		r->format.coding = AU_S16_BIG;
		break;
	case 27:
		r->format.coding = AU_ALAW;
		break;
	default:
		return AU_BAD_CODING;
	}
	r->format.rate_hz = big(r->head + 12);
	r->format.channels = channels > 2 ? 3 : channels;
	r->left = size == 0xffffffff ? AU_TO_END : size;
	r->skip = offset - 24;
	r->riff_left = 0;
	r->pad = 0;
	expect(r, AU_REST, 0);
	return check_format(&r->format);
}

static int riff_head(struct au_reader *r)
{
	u32 size = little(r->head);

	if (memcmp(r->head + 4, "WAVE", 4))
		return AU_NOT_A_FILE;
	r->has_format = false;
	r->riff_left = size < 4 || size >= RIFF_UNKNOWN ? AU_TO_END : size - 4;
	expect(r, CHUNK_HEAD, CHUNK_BYTES);
	return AU_MORE;
}

/* So many bytes of the RIFF file are a chunk of it. */
static void riff_take(struct au_reader *r, u64 bytes)
{
	if (r->riff_left != AU_TO_END)
		r->riff_left -= min(bytes, r->riff_left);
}

static void next_chunk(struct au_reader *r)
{
	if (r->riff_left)
		expect(r, CHUNK_HEAD, CHUNK_BYTES);
	else
		expect(r, MAGIC, 4);
}

static int chunk_head(struct au_reader *r)
{
	u32 size = little(r->head + 4);
	u64 padded = (u64)size + (size & 1);

	riff_take(r, CHUNK_BYTES);
	if (!memcmp(r->head, "data", 4)) {
		if (!r->has_format)
			return AU_NO_FORMAT;
		r->left = size >= RIFF_UNKNOWN ? AU_TO_END : size;
		r->pad = size & 1 && r->left != AU_TO_END;
		riff_take(r, padded);
		expect(r, AU_REST, 0);
		return AU_MORE;
	}
	riff_take(r, padded);
	if (memcmp(r->head, "fmt ", 4)) {
		r->skip = padded;
		next_chunk(r);
		return AU_MORE;
	}
	if (size < FMT_BYTES)
		return AU_BAD_CHUNK;
	/* skip is what follows the part that is looked at: see fmt(). */
	expect(r, CHUNK_FMT, min(size, (u32)FMT_EXTENSIBLE_BYTES));
	r->left = padded - r->want;
	return AU_MORE;
}

static int fmt(struct au_reader *r)
{
	u32 tag = little16(r->head), bits = little16(r->head + 14);
	u32 channels = little16(r->head + 2);

	if (tag == 0xfffe && r->want == FMT_EXTENSIBLE_BYTES)
		tag = little16(r->head + FMT_SUBFORMAT);
	if (tag == 1 && bits == 16)
		r->format.coding = AU_S16_LITTLE;
	else if (tag == 1 && bits == 8)
		r->format.coding = AU_U8;
	else if (tag == 6 && bits == 8)
		r->format.coding = AU_ALAW;
	else if (tag == 7 && bits == 8)
		r->format.coding = AU_MULAW;
	else
		return AU_BAD_CODING;
	r->format.rate_hz = little(r->head + 4);
	r->format.channels = min(channels, 3u);
	r->has_format = true;
	r->skip = r->left;
	next_chunk(r);
	return check_format(&r->format);
}

/* All that was wanted is in r->head. */
static int step(struct au_reader *r)
{
	switch (r->state) {
	case AU_HEAD:
		return au_head(r);
	case RIFF_HEAD:
		return riff_head(r);
	case CHUNK_HEAD:
		return chunk_head(r);
	default:
		return fmt(r);
	}
}

/* The sound is over: what now? */
static void sound_over(struct au_reader *r)
{
	r->skip = r->pad;
	next_chunk(r);
}

int au_feed(struct au_reader *r, const u8 *bytes, u32 n, u32 *used)
{
	u32 at = 0;
	u64 part;
	int ret;

	for (;;) {
		*used = at;
		/* What needs no further byte. */
		if (!r->skip && r->state == AU_REST) {
			r->state = SOUND;
			return AU_SOUND;
		}
		if (r->state == SOUND && !r->left) {
			sound_over(r);
			continue;
		}
		if (at == n)
			return AU_MORE;

		if (r->skip) {
			part = min(r->skip, (u64)(n - at));
			r->skip -= part;
			at += part;
			continue;
		}
		if (r->state == SOUND) {
			part = min(r->left, (u64)(n - at));
			if (r->left != AU_TO_END)
				r->left -= part;
			at += part;
			continue;
		}
		r->head[r->have++] = bytes[at++];
		ret = r->state == MAGIC ? magic(r) : r->have == r->want ? step(r) : AU_MORE;
		if (ret < 0)
			return ret;
	}
}

const char *au_reason(int result)
{
	switch (result) {
	case AU_NOT_A_FILE:
		return "neither an .au nor a WAV file (raw=1 plays any bytes as mu-law)";
	case AU_BAD_OFFSET:
		return "the .au header's length is not 24 to 65536";
	case AU_BAD_CODING:
		return "not mu-law, A-law or linear of 8 or 16 bits";
	case AU_BAD_RATE:
		return "the rate is not 4000 to 48000 Hz";
	case AU_BAD_CHANNELS:
		return "there are not 1 or 2 channels";
	case AU_BAD_CHUNK:
		return "the WAV file's format is too short";
	case AU_NO_FORMAT:
		return "the WAV file's sound comes before its format";
	default:
		return "nothing wrong";
	}
}
