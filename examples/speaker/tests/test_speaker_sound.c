// SPDX-License-Identifier: GPL-2.0-only
/* Codings, change of rate and modulation of examples/speaker. */
#include <math.h>
#include "check.h"
#include "examples/speaker/kernel/codec.c"
#include "examples/speaker/kernel/resample.c"
#include "examples/speaker/kernel/modulate.c"

#define SECONDS 2

/* All 256 codes as sox decodes them (sox -D -t ul - -t s16 -), folded into one number. */
static u32 fold(s16 (*decode)(u8 code))
{
	u32 sum = 0;

	for (int code = 0; code < 256; code++)
		sum = (sum ^ (u16)decode(code)) * 16777619 + 1;
	return sum;
}

static void test_codec(void)
{
	struct au_format f = { .coding = AU_S16_BIG, .channels = 2 };
	static const u8 bytes[] = { 0x7f, 0xff, 0x80, 0x01 };

	CHECK_EQ(fold(codec_mulaw), 0xe6a45100);
	CHECK_EQ(fold(codec_alaw), 0xb6bc64c0);
	CHECK_EQ(codec_frame(&f, bytes), (32767 - 32767) / 2);
	f.coding = AU_S16_LITTLE;
	CHECK_EQ(codec_frame(&f, bytes), (-129 + 384) / 2);
	f.channels = 1;
	CHECK_EQ(codec_frame(&f, bytes), -129);
	f.coding = AU_S8;
	CHECK_EQ(codec_frame(&f, bytes), 127 * 256);
	CHECK_EQ(codec_frame(&f, bytes + 2), -128 * 256);
	f.coding = AU_U8;
	f.channels = 2;
	CHECK_EQ(codec_frame(&f, bytes), ((127 - 128) * 256 + 127 * 256) / 2);
}

/*
 * A tone of @hz at @from, at the ticks @to: what is left beside that tone, in dB below it; and
 * *@got is the tone's frequency by its phase over the time.
 */
static double tone(u32 from, struct tick_rate to, double hz, double *got)
{
	static double out[70000 * SECONDS];
	double ticks = (double)to.num / to.den, level = 16000, a = 0, b = 0, rest = 0, whole = 0;
	int n = ticks * SECONDS, from_n = 2000, used = 0;
	double phases[2];
	struct resample r;

	resample_begin(&r);
	resample_rate(&r, from, to);
	for (int i = 0; i < n; i++) {
		while (resample_wants(&r))
			resample_give(&r, lrint(level * sin(2 * M_PI * hz * used++ / from)));
		CHECK(resample_ready(&r));
		out[i] = resample_get(&r);
		CHECK(fabs(out[i]) <= 32767);
	}
	/* The phase of two stretches, from correlating with the tone itself. */
	for (int half = 0; half < 2; half++) {
		int start = from_n + half * (n / 2), length = n / 2 - 2 * from_n;

		a = b = 0;
		for (int i = start; i < start + length; i++) {
			a += out[i] * sin(2 * M_PI * hz * i / ticks);
			b += out[i] * cos(2 * M_PI * hz * i / ticks);
		}
		phases[half] = atan2(b, a);
		a /= length / 2.0;
		b /= length / 2.0;
		rest = whole = 0;
		for (int i = start; i < start + length; i++) {
			double is = a * sin(2 * M_PI * hz * i / ticks) +
				    b * cos(2 * M_PI * hz * i / ticks);

			rest += (out[i] - is) * (out[i] - is);
			whole += is * is;
		}
	}
	*got = hz + (phases[1] - phases[0]) / (2 * M_PI) / (n / 2 / ticks);
	return 10 * log10(whole / rest);
}

static void test_pitch_and_quality(void)
{
	static const u32 from[] = { 4000, 8000, 11025, 22050, 32000, 44100, 48000 };
	static const struct tick_rate to[] = {
		{ 8192, 1 }, { 1000000000, 125000 }, { 1000000000, 61035 },
		{ 1000000000, 31250 }, { 1000000000, 15625 },
	};
	double got, cents, db;

	for (size_t i = 0; i < sizeof(from) / sizeof(*from); i++) {
		for (size_t j = 0; j < sizeof(to) / sizeof(*to); j++) {
			db = tone(from[i], to[j], 1000, &got);
			cents = 1200 * fabs(log2(got / 1000));
			CHECK(cents < 0.01);
			CHECK(db > 55);
		}
	}
	/* The check sees a rate that is one part in a thousand off. */
	tone(8000, (struct tick_rate){ 8200, 1 }, 1000, &got);
	tone(8008, (struct tick_rate){ 8192, 1 }, 1000, &got);
	CHECK(tone(8000, (struct tick_rate){ 8192, 1 }, 2900, &got) > 50);
}

/* What is above the new band must not come back inside of it. */
static void test_alias(void)
{
	struct tick_rate to = { 8192, 1 };
	struct resample r;
	double power = 0, level;
	int used = 0, n = 8192;

	resample_begin(&r);
	resample_rate(&r, 44100, to);
	for (int i = 0; i < n; i++) {
		while (resample_wants(&r))
			resample_give(&r, lrint(16000 * sin(2 * M_PI * 6000 * used++ / 44100)));
		level = resample_get(&r);
		if (i > 100)	/* the tone's beginning has all frequencies */
			power += level * level / n;
	}
	CHECK(10 * log10(power / (16000. * 16000 / 2)) < -50);
}

static void test_equal_rates_change_nothing(void)
{
	struct tick_rate to = { 8192, 1 };
	struct resample r;

	resample_begin(&r);
	resample_rate(&r, 8192, to);
	for (int i = -32767; i < 32767; i += 17) {
		CHECK_EQ(resample_wants(&r), 1);
		CHECK(!resample_ready(&r));
		resample_give(&r, i);
		CHECK_EQ(resample_wants(&r), 0);
		CHECK_EQ(resample_get(&r), i);
	}
}

/* Silence stands in for what comes late, and what comes late is used all the same. */
static void test_late_samples(void)
{
	struct tick_rate to = { 16384, 1 };
	struct resample r, in_time;
	int a = 0, b = 0, apart = 0;

	resample_begin(&r);
	resample_rate(&r, 8000, to);
	in_time = r;
	for (int i = 0; i < 300; i++) {
		while (resample_wants(&in_time))
			resample_give(&in_time, 10000);
		/* Only just in time, but for the last hundred. */
		while (i < 200 ? !resample_ready(&r) : resample_wants(&r) > 0)
			resample_give(&r, 10000);
		a = resample_get(&r);
		b = resample_get(&in_time);
		apart += i > 20 && i < 200 && abs(a - b) > 100;
	}
	CHECK(apart > 50);
	CHECK_EQ(a, b);
	CHECK(abs(a - 10000) < 50);
}

/* Behind the last sample there is silence, not what was there a while ago. */
static void test_the_end(void)
{
	struct tick_rate to = { 16384, 1 };
	struct resample r;
	int last = 0;

	resample_begin(&r);
	resample_rate(&r, 8000, to);
	for (int i = 0; i < 300; i++) {
		resample_give(&r, 10000);
		while (resample_ready(&r) && (i == 299 || !resample_wants(&r)))
			last = resample_get(&r);
	}
	CHECK(!resample_ready(&r));
	CHECK(last > 0 && last < 9000);
}

/* Appendix B, to the letter. */
static int thesis(int x)
{
	static int before;
	int ret;

	if (x & 0x80)
		x = 382 - x;
	ret = x > before;
	before = x;
	return ret;
}

static void test_slope(void)
{
	struct tick_rate rate = { 8192, 1 };
	struct modulator m;

	/* It starts from the lowest rank, that of byte 0. */
	for (int first = 0; first < 256; first++) {
		modulate_init(&m, MODULATE_SLOPE, 0, rate);
		CHECK_EQ(modulate(&m, codec_mulaw(first)), first > 0);
	}
	modulate_init(&m, MODULATE_SLOPE, 0, rate);
	for (int first = 0; first < 256; first++) {
		for (int then = 0; then < 256; then++) {
			CHECK_EQ(modulate(&m, codec_mulaw(first)), thesis(first));
			CHECK_EQ(modulate(&m, codec_mulaw(then)), thesis(then));
		}
	}
}

/* The mean of the bits is the sample, and loud sound leads nothing astray. */
static void test_sigma(void)
{
	for (u32 hz = 8000; hz <= 64000; hz += 8000) {
		for (unsigned int order = 1; order <= 2; order++) {
			struct tick_rate rate = { hz, 1 };
			struct modulator m;

			modulate_init(&m, MODULATE_SIGMA, order, rate);
			CHECK(abs(m.zero - (int)(2 * cos(2 * M_PI * 2000 / hz) * 16384)) < 20);
			for (int level = -24000; level <= 24000; level += 3000) {
				long sum = 0;

				for (int i = 0; i < 20000; i++)
					sum += modulate(&m, i & 2048 ? 32767 : -32767);
				modulate_init(&m, MODULATE_SIGMA, order, rate);
				sum = 0;
				for (int i = 0; i < 20000; i++)
					sum += modulate(&m, level) ? 32768 : -32768;
				/* The second order's zero is not at 0 Hz. */
				if (order == 1 || hz >= 32000)
					CHECK(labs(sum / 20000 - level) < (order == 1 ? 10 : 4000));
			}
		}
	}
}

static void test_pwm(void)
{
	static const struct { u32 hz; int levels; } cases[] = {
		{ 8000, 147 }, { 8192, 143 }, { 16384, 70 }, { 48000, 22 }, { 64000, 16 },
	};
	struct modulator m;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tick_rate rate = { cases[i].hz, 1 };

		modulate_init(&m, MODULATE_PWM, 0, rate);
		CHECK_EQ(m.levels, cases[i].levels);
		CHECK(m.levels * 1e9 / PIT_HZ < 1e9 / cases[i].hz - 838);
		for (int sample = -32767; sample <= 32767; sample += 999) {
			double sum = 0, wanted;

			for (int n = 0; n < 1000; n++) {
				unsigned int count = modulate(&m, sample);

				CHECK(count >= 1 && count <= m.levels);
				sum += count;
			}
			wanted = (m.levels + 1) / 2. - sample / 32768. * (m.levels - 1) / 2;
			CHECK(fabs(sum / 1000 - wanted) < 0.01);
		}
	}
}

int main(void)
{
	test_codec();
	test_equal_rates_change_nothing();
	test_pitch_and_quality();
	test_alias();
	test_late_samples();
	test_the_end();
	test_slope();
	test_sigma();
	test_pwm();
	return 0;
}
