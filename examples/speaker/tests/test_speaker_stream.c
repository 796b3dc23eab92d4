// SPDX-License-Identifier: GPL-2.0-only
/* Headers in any pieces, and from bytes to samples, of examples/speaker. */
#include "check.h"
#include "examples/speaker/kernel/au.c"
#include "examples/speaker/kernel/codec.c"
#include "examples/speaker/kernel/resample.c"
#include "examples/speaker/kernel/stream.c"

static u8 file[4096];
static u32 file_bytes;

static void put(const void *bytes, u32 n)
{
	memcpy(file + file_bytes, bytes, n);
	file_bytes += n;
}

static void put_big(u32 value)
{
	u8 bytes[4] = { value >> 24, value >> 16, value >> 8, value };

	put(bytes, 4);
}

static void put_little(u32 value, u32 n)
{
	u8 bytes[4] = { value, value >> 8, value >> 16, value >> 24 };

	put(bytes, n);
}

static void put_sounds(u32 n)
{
	for (u32 i = 0; i < n; i++)
		file[file_bytes++] = 0x80 + i % 64;
}

/* An .au header of @offset bytes. */
static void au(u32 offset, u32 size, u32 coding, u32 rate, u32 channels)
{
	put(".snd", 4);
	put_big(offset);
	put_big(size);
	put_big(coding);
	put_big(rate);
	put_big(channels);
	for (u32 i = 24; i < offset && i < 200; i++)
		file[file_bytes++] = i;
}

static void new_au(u32 offset, u32 size, u32 coding, u32 rate, u32 channels)
{
	file_bytes = 0;
	au(offset, size, coding, rate, channels);
}

/* Up to the sound of @data bytes; @more bytes of other chunks are around. */
static void new_wav(u32 tag, u32 bits, u32 channels, u32 rate, u32 data, u32 riff)
{
	file_bytes = 0;
	put("RIFF", 4);
	put_little(riff, 4);
	put("WAVEjunk", 8);
	put_little(3, 4);
	put("abc", 4);		/* with its pad byte */
	put("fmt ", 4);
	put_little(tag == 0xfffe ? 40 : 18, 4);
	put_little(tag, 2);
	put_little(channels, 2);
	put_little(rate, 4);
	put_little(rate * channels * bits / 8, 4);
	put_little(channels * bits / 8, 2);
	put_little(bits, 2);
	put_little(tag == 0xfffe ? 22 : 0, 2);
	if (tag == 0xfffe) {
		put_little(bits, 2);
		put_little(3, 4);
		put_little(1, 4);	/* PCM's GUID, its rest does not matter */
		put_little(0, 4);
		put_little(0, 4);
		put_little(0, 4);
	}
	put("data", 4);
	put_little(data, 4);
}

/* Where the sound of @file begins, read in pieces of @piece; or the error. */
static int read_file(struct au_reader *r, u32 piece)
{
	u32 at, n, used;
	int ret;

	au_begin(r);
	CHECK(au_at_start(r));
	for (at = 0; at < file_bytes; at += n) {
		n = min(piece, file_bytes - at);
		ret = au_feed(r, file + at, n, &used);
		if (ret == AU_SOUND)
			return at + used;
		if (ret)
			return ret;
		CHECK_EQ(used, n);
	}
	return 0;
}

static void expect_sound(int at, u32 rate, int coding, int channels, u64 left)
{
	for (u32 piece = 1; piece <= file_bytes; piece++) {
		struct au_reader r;

		CHECK_EQ(read_file(&r, piece), at);
		CHECK_EQ(r.format.rate_hz, rate);
		CHECK_EQ(r.format.coding, coding);
		CHECK_EQ(r.format.channels, channels);
		CHECK_EQ(r.left, left);
		CHECK(au_in_sound(&r));
	}
}

static void expect_error(int error)
{
	for (u32 piece = 1; piece <= file_bytes; piece++) {
		struct au_reader r;

		CHECK_EQ(read_file(&r, piece), error);
		CHECK(strlen(au_reason(error)) > 15);
	}
}

static void test_headers(void)
{
	static const u32 offsets[] = { 24, 28, 32, 130 };

	for (int i = 0; i < 4; i++) {
		new_au(offsets[i], 100, 1, 8000, 1);
		put_sounds(9);
		expect_sound(offsets[i], 8000, AU_MULAW, 1, 100);
	}
	new_au(24, 0xffffffff, 3, 44100, 2);
	put_sounds(1);
	expect_sound(24, 44100, AU_S16_BIG, 2, AU_TO_END);
	new_au(24, 0, 2, 4000, 1);
	expect_sound(24, 4000, AU_S8, 1, 0);
	new_au(24, 7, 27, 48000, 1);
	expect_sound(24, 48000, AU_ALAW, 1, 7);

	new_au(23, 100, 1, 8000, 1);
	expect_error(AU_BAD_OFFSET);
	new_au(AU_OFFSET_MAX + 1, 100, 1, 8000, 1);
	expect_error(AU_BAD_OFFSET);
	new_au(24, 100, 6, 8000, 1);
	expect_error(AU_BAD_CODING);
	new_au(24, 100, 1, 3999, 1);
	expect_error(AU_BAD_RATE);
	new_au(24, 100, 1, 48001, 1);
	expect_error(AU_BAD_RATE);
	new_au(24, 100, 1, 8000, 0);
	expect_error(AU_BAD_CHANNELS);
	new_au(24, 100, 1, 8000, 0x10001);
	expect_error(AU_BAD_CHANNELS);
	new_au(24, 100, 1, 8000, 1);
	file[3] = 'x';
	expect_error(AU_NOT_A_FILE);
	file_bytes = 1;
	file[0] = 0x7f;
	expect_error(AU_NOT_A_FILE);
	file_bytes = 0;
	for (int i = 0; i < 300; i++)
		put("OggS", 4);
	expect_error(AU_NOT_A_FILE);
}

static void test_wav(void)
{
	new_wav(1, 16, 2, 44100, 400, 462);
	put_sounds(8);
	expect_sound(58, 44100, AU_S16_LITTLE, 2, 400);
	new_wav(1, 8, 1, 8000, 0xffffffff, 0xffffffff);
	expect_sound(58, 8000, AU_U8, 1, AU_TO_END);
	new_wav(0xfffe, 16, 1, 16000, 7, 0);
	expect_sound(80, 16000, AU_S16_LITTLE, 1, 7);
	new_wav(6, 8, 1, 8000, 4, 62);
	expect_sound(58, 8000, AU_ALAW, 1, 4);
	new_wav(7, 8, 1, 8000, 4, 62);
	expect_sound(58, 8000, AU_MULAW, 1, 4);

	new_wav(1, 24, 1, 8000, 4, 62);
	expect_error(AU_BAD_CODING);
	new_wav(3, 32, 1, 8000, 4, 62);
	expect_error(AU_BAD_CODING);
	new_wav(1, 16, 6, 8000, 4, 62);
	expect_error(AU_BAD_CHANNELS);
	new_wav(1, 16, 1, 96000, 4, 62);
	expect_error(AU_BAD_RATE);
	new_wav(1, 16, 1, 8000, 4, 62);
	memcpy(file + 24, "fmx ", 4);
	expect_error(AU_NO_FORMAT);
	new_wav(1, 16, 1, 8000, 4, 62);
	file[28] = 15;
	expect_error(AU_BAD_CHUNK);
	new_wav(1, 16, 1, 8000, 4, 62);
	memcpy(file + 8, "AVI ", 4);
	expect_error(AU_NOT_A_FILE);
}

/* A FIFO of 1000 bytes, as RT-FIFOs are. */
static u8 ring[1000];
static u32 head, tail;

static int fifo_used(void)
{
	return head - tail;
}

static int fifo_peek(void *buf, int count)
{
	CHECK(count >= 0 && count <= 512);
	if ((u32)count > head - tail)
		return -EAGAIN;
	for (int i = 0; i < count; i++)
		((u8 *)buf)[i] = ring[(tail + i) % sizeof(ring)];
	return count;
}

static int fifo_get(void *buf, int count)
{
	int ret = fifo_peek(buf, count);

	if (ret > 0)
		tail += ret;
	return ret;
}

static int fifo_flush(void)
{
	int ret = head - tail;

	tail = head;
	return ret;
}

static const struct stream_fifo fifo = { fifo_peek, fifo_get, fifo_used, fifo_flush };
static struct sounds sounds;
static struct intake in;
static struct stream out;
static u64 files;

static void start(struct tick_rate rate, bool raw)
{
	memset(&sounds, 0, sizeof(sounds));
	memset(&in, 0, sizeof(in));
	memset(&out, 0, sizeof(out));
	head = tail = 0;
	files = 0;
	/* Where the count of bytes wraps is no special place. */
	in.entered = out.taken = 0xffffff00;
	in.sounds = out.sounds = &sounds;
	out.fifo = &fifo;
	stream_rate(&out, rate);
	intake_open(&in, raw);
}

static int written(const u8 *bytes, u32 n)
{
	const u8 *parts[2] = { bytes, bytes + n / 3 };
	u32 counts[2] = { n / 3, n - n / 3 };
	int ret;

	CHECK(n <= sizeof(ring) - (head - tail));
	ret = intake_write(&in, parts, counts, &files);
	if (!ret)
		for (u32 i = 0; i < n; i++)
			ring[head++ % sizeof(ring)] = bytes[i];
	return ret;
}

static const struct tick_rate equal = { 8000, 1 };

/*
 * Play until it is silent for 3 ticks; the number of samples, which are to be those of
 * put_sounds().
 */
static int played(u32 first)
{
	int n = 0, silent = 0, sample;

	while (silent < 3) {
		if (!stream_sample(&out, &sample)) {
			silent++;
			continue;
		}
		CHECK(!silent);
		CHECK_EQ(sample, codec_mulaw(0x80 + (first + n) % 64));
		n++;
	}
	return n;
}

static void test_a_file_is_played_and_its_header_is_not(void)
{
	static const u32 offsets[] = { 24, 28, 32, 130 };

	for (int i = 0; i < 4; i++) {
		for (u32 piece = 1; piece < 300; piece++) {
			start(equal, false);
			new_au(offsets[i], 100, 1, 8000, 1);
			put_sounds(100);
			for (u32 at = 0; at < file_bytes; at += piece)
				CHECK_EQ(written(file + at, min(piece, file_bytes - at)), 0);
			CHECK(intake_close(&in));
			CHECK_EQ(played(0), 100);
			CHECK_EQ(fifo_used(), 0);
			CHECK_EQ(files, 1);
			CHECK_EQ(out.frames, 100);
			CHECK_EQ(out.underruns, 0);
		}
	}
}

static void test_several_openings_and_files(void)
{
	start(equal, false);
	for (int i = 0; i < 3; i++) {
		new_au(24, 50, 1, 8000, 1);
		put_sounds(50);
		au(28, 50, 1, 8000, 1);
		put_sounds(50);
		CHECK_EQ(written(file, file_bytes), 0);
		CHECK(intake_close(&in));
	}
	for (int i = 0, sample; i < 300; i++) {
		CHECK(stream_sample(&out, &sample));
		CHECK_EQ(sample, codec_mulaw(0x80 + i % 50));
	}
	CHECK_EQ(played(0), 0);
	CHECK_EQ(files, 6);
}

static void test_refused_changes_nothing(void)
{
	struct intake before;

	start(equal, false);
	new_au(24, 50, 1, 8000, 1);
	put_sounds(50);
	CHECK_EQ(written(file, 60), 0);
	before = in;
	new_au(24, 14, 1, 8000, 1);
	put_sounds(14);
	au(24, 3, 9, 8000, 1);
	/* 14 bytes to the first one's end, a whole file, and one that cannot be played */
	CHECK_EQ(written(file + 24, file_bytes - 24), AU_BAD_CODING);
	CHECK(!memcmp(&before, &in, sizeof(in)));
	CHECK_EQ(sounds.put, 1);
	put_sounds(14);
	CHECK_EQ(written(file + file_bytes - 14, 14), 0);
	CHECK(intake_close(&in));
	CHECK_EQ(out.frames, 0);
	for (int i = 0, sample; i < 50; i++)
		CHECK(stream_sample(&out, &sample));
}

static void test_cut_off(void)
{
	/* In the header: nothing is heard, and the next file is whole. */
	start(equal, false);
	new_au(24, 50, 1, 8000, 1);
	CHECK_EQ(written(file, 13), 0);
	CHECK(!intake_close(&in));
	new_au(24, 0xffffffff, 1, 8000, 1);
	put_sounds(40);
	CHECK_EQ(written(file, file_bytes), 0);
	CHECK(intake_close(&in));
	CHECK_EQ(played(0), 40);
	/* In the sound, and of 16 bits in two channels in the middle of a sample. */
	new_au(24, 50, 1, 8000, 1);
	put_sounds(20);
	CHECK_EQ(written(file, file_bytes), 0);
	CHECK(!intake_close(&in));
	CHECK_EQ(played(0), 20);
	for (u32 odd = 1; odd < 4; odd++) {
		int sample, n = 0;

		new_au(24, 400, 3, 8000, 2);
		put_sounds(40 + odd);
		CHECK_EQ(written(file, file_bytes), 0);
		for (int i = 0; i < 20; i++)
			n += stream_sample(&out, &sample);
		CHECK_EQ(n, 10);
		/* Nobody waits for the rest in fsync(). */
		CHECK_EQ(fifo_used(), 0);
		CHECK(!intake_close(&in));
		new_au(24, 50, 1, 8000, 1);
		put_sounds(50);
		CHECK_EQ(written(file, file_bytes), 0);
		CHECK(intake_close(&in));
		CHECK_EQ(played(0), 50);
		CHECK_EQ(out.underruns, 0);
	}
}

/*
 * A length that is no whole number of samples: the rest of it is not heard, and the next file is.
 */
static void test_an_odd_length(void)
{
	for (u32 odd = 0; odd < 4; odd++) {
		int sample, n = 0;

		start(equal, false);
		new_au(24, 40 + odd, 3, 8000, 2);
		put_sounds(40 + odd);
		CHECK_EQ(written(file, file_bytes), 0);
		new_au(24, odd, 3, 8000, 2);
		put_sounds(odd);
		CHECK_EQ(written(file, file_bytes), 0);
		CHECK(intake_close(&in));
		for (int i = 0; i < 20; i++)
			n += stream_sample(&out, &sample);
		CHECK_EQ(n, 10);
		CHECK_EQ(fifo_used(), 0);
	}
}

/* A sample that comes in bytes, each of which the RT end has seen alone. */
static void test_a_sample_in_parts(void)
{
	static const u8 sounds_of_4[] = { 1, 2, 1, 4, 2, 2, 2, 4 };
	int sample;

	start(equal, false);
	new_au(24, 0xffffffff, 3, 8000, 2);
	CHECK_EQ(written(file, file_bytes), 0);
	for (int i = 0; i < 8; i++) {
		CHECK(!stream_sample(&out, &sample));
		CHECK_EQ(fifo_used(), 0);
		CHECK_EQ(written(sounds_of_4 + i, 1), 0);
		if (i % 4 == 3) {
			CHECK(stream_sample(&out, &sample));
			CHECK_EQ(sample, i == 3 ? 0x103 : 0x203);
		}
	}
	CHECK_EQ(out.underruns, 1);
}

static void test_gaps(void)
{
	int sample;

	start((struct tick_rate){ RAW_RATE_HZ, 1 }, true);
	CHECK(!stream_sample(&out, &sample));
	file_bytes = 0;
	put_sounds(100);
	CHECK_EQ(written(file, 30), 0);
	CHECK_EQ(played(0), 30);
	CHECK_EQ(out.underruns, 0);
	CHECK_EQ(written(file + 30, 70), 0);
	CHECK_EQ(played(30), 70);
	CHECK_EQ(out.underruns, 1);
	CHECK(intake_close(&in));
	/* The next opening's is no gap. */
	CHECK_EQ(written(file, 100), 0);
	CHECK_EQ(played(0), 100);
	CHECK_EQ(out.underruns, 1);
}

/* The last byte leaves the FIFO with the tick at which it sounds, and not before. */
static void test_an_empty_fifo_has_sounded(void)
{
	for (u32 rate = 8000; rate <= 64000; rate += 4000) {
		u32 n = 0;
		int sample;

		start((struct tick_rate){ rate, 1 }, false);
		new_au(24, 160, 1, 8000, 1);
		put_sounds(160);
		CHECK_EQ(written(file, file_bytes), 0);
		while (fifo_used()) {
			CHECK(stream_sample(&out, &sample));
			n++;
		}
		CHECK(n + 1 >= 160 * rate / 8000 && n <= 160 * rate / 8000 + 1);
		CHECK(!stream_sample(&out, &sample));
	}
}

static void test_stop(void)
{
	int sample;

	start(equal, false);
	new_au(24, 500, 1, 8000, 1);
	put_sounds(500);
	CHECK_EQ(written(file, 300), 0);
	CHECK(stream_sample(&out, &sample));
	in.discard = true;
	stream_stop(&out);
	CHECK(!stream_sample(&out, &sample));
	CHECK_EQ(written(file + 300, 224), 0);
	CHECK(intake_close(&in));
	CHECK(!stream_sample(&out, &sample));
	CHECK_EQ(fifo_used(), 0);
	new_au(24, 50, 1, 8000, 1);
	put_sounds(50);
	CHECK_EQ(written(file, file_bytes), 0);
	CHECK(intake_close(&in));
	CHECK_EQ(played(0), 50);
}

/* Tiny files until there is no more room for what is known of them. */
static void test_many_sounds(void)
{
	u32 n = 0;
	int ret;

	start(equal, false);
	new_au(24, 1, 1, 8000, 1);
	put_sounds(1);
	while (!(ret = written(file, file_bytes)) && n < 30)
		n++;
	CHECK_EQ(n, 30);
	for (; n < 1000; n++) {
		/* Taken by nobody: as if the FIFO were endless. */
		tail = head;
		ret = written(file, file_bytes);
		if (ret)
			break;
		CHECK(intake_close(&in));
	}
	CHECK_EQ(ret, INTAKE_FULL);
	CHECK_EQ(sounds.put, SOUNDS_MAX / 2);
	/* Many in one piece, too. */
	start(equal, false);
	file_bytes = 0;
	for (n = 0; n < 150; n++) {
		au(24, 1, 1, 8000, 1);
		put_sounds(1);
	}
	CHECK_EQ(intake_write(&in, (const u8 *[2]){ file, file },
			      (u32[2]){ file_bytes, 0 }, &files), INTAKE_FULL);
	CHECK_EQ(sounds.put, 0);
}

/* Random bytes, headers and pieces: nothing is read or written that should not be. */
static void test_random(void)
{
	u32 seed = 1;
	int sample;

	for (int round = 0; round < 3000; round++) {
		start((struct tick_rate){ 8000 + round % 56000, 1 }, false);
		for (int i = 0; i < 30; i++) {
			seed = seed * 1664525 + 1013904223;
			if (seed >> 31)
				new_au(24 + (seed >> 8) % 100, seed >> 20, 1 + (seed >> 16) % 3,
				       4000 + (seed >> 4) % 44000, 1 + (seed >> 12) % 2);
			else
				new_wav(1, 8 + (seed >> 3) % 2 * 8, 1 + (seed >> 9) % 2, 44100,
					seed >> 22, seed >> 14);
			if ((seed >> 5) % 16 == 0)
				file[(seed >> 18) % file_bytes] ^= 1 << (seed >> 13) % 8;
			put_sounds((seed >> 7) % 300);
			if (file_bytes > sizeof(ring) - fifo_used())
				file_bytes = sizeof(ring) - fifo_used();
			written(file, file_bytes);
			if ((seed >> 15) % 4 == 0)
				intake_close(&in);
			for (u32 ticks = (seed >> 10) % 500; ticks--; )
				if (stream_sample(&out, &sample))
					CHECK(sample >= -32767 && sample <= 32767);
			CHECK((s32)(in.entered - out.taken) == fifo_used());
		}
	}
}

int main(void)
{
	test_headers();
	test_wav();
	test_a_file_is_played_and_its_header_is_not();
	test_several_openings_and_files();
	test_refused_changes_nothing();
	test_cut_off();
	test_an_odd_length();
	test_a_sample_in_parts();
	test_gaps();
	test_an_empty_fifo_has_sounded();
	test_stop();
	test_many_sounds();
	test_random();
	return 0;
}
