// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tick: take a sample out of the FIFO, modulate it, write it to the port. All of it is RT
 * code, in the CMOS clock's interrupt or in an RT task.
 *
 * The output rests (bit 1 of port 0x61 is 0: no current) whenever there is no sample.
 *
 * Invariants: the tick alone touches the stream, the modulator and the counters while the
 * ticker runs; Linux only reads the counters, and asks by flags that the tick takes down. A
 * stamp is made for each write that a tick makes to a port.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/sysfs.h>
#include <rt/fifo.h>
#include "speaker.h"

#define SLOPE_HZ 8192
#define SIGMA_HZ 32000
#define PWM_HZ 16384
#define FORGET_MS 1000		/* a tick comes long before */

/* What the stamps FIFO carries, little-endian; one record for each write to a port. */
struct stamp {
	u32 seq;	/* 0, 1, ... since loading; counts on over records that found no room */
	u8 port;
	u8 value;
	s16 sample;	/* what the value stands for; NO_SAMPLE: to rest, or up from it */
	s64 time_ns;	/* rt_get_time() just after the write */
};

#define NO_SAMPLE S16_MIN

unsigned int player_fifo;
int player_stamps_fifo = -1;
struct sounds player_sounds;
bool player_paused;
struct player_stats player_stats;

static bool forget_asked, clear_asked;
static u32 stamp_seq;
static bool playing;			/* the last tick had a sample */
static RTIME ticked_at, written_at;	/* 0: not since the start, or the last rest */
static u64 frames_before, underruns_before;	/* what the stream had counted at the last clear */

/* What is really done; under speaker_lock, and nothing of it changes while the ticker runs. */
static struct {
	int mode, clock;		/* never MODE_AUTO, CLOCK_AUTO */
	struct tick_rate rate;
	u64 period_ns;
} now;

static int fifo_peek(void *buf, int count)
{
	return rtf_peek(player_fifo, buf, count);
}

static int fifo_get(void *buf, int count)
{
	return rtf_get(player_fifo, buf, count);
}

static int fifo_used(void)
{
	return rtf_used(player_fifo);
}

static int fifo_flush(void)
{
	return rtf_flush(player_fifo);
}

static const struct stream_fifo stream_fifo = {
	.peek = fifo_peek,
	.get = fifo_get,
	.used = fifo_used,
	.flush = fifo_flush,
};

static struct stream stream = { .sounds = &player_sounds, .fifo = &stream_fifo };
static struct modulator modulator;

#define COUNT(what) WRITE_ONCE(player_stats.what, player_stats.what + 1)

/* Write to a port, and say so. When that was. */
static RTIME put(u8 port, u8 value, s16 sample)
{
	struct stamp stamp = {
		.seq = stamp_seq++,
		.port = port,
		.value = value,
		.sample = sample,
	};

	outb(value, port);
	stamp.time_ns = rt_get_time();
	if (player_stamps_fifo >= 0 &&
	    rtf_put(player_stamps_fifo, &stamp, sizeof(stamp)) != sizeof(stamp))
		COUNT(stamps_lost);
	return stamp.time_ns;
}

/* Bit 1 of port 0x61. */
static RTIME put_bit(unsigned int bit, s16 sample)
{
	u8 value = inb(PORT_SPEAKER) & ~SPEAKER_DATA;

	return put(PORT_SPEAKER, bit ? value | SPEAKER_DATA : value, sample);
}

static void rest(void)
{
	if (!playing)
		return;
	put_bit(0, NO_SAMPLE);
	playing = false;
	written_at = 0;
}

static void note_interval(RTIME at, RTIME due)
{
	u64 interval = at - written_at;

	if (written_at) {
		if (interval < player_stats.interval_min_ns)
			WRITE_ONCE(player_stats.interval_min_ns, interval);
		if (interval > player_stats.interval_max_ns)
			WRITE_ONCE(player_stats.interval_max_ns, interval);
	}
	written_at = at;
	if (due && at > due && at - due > player_stats.late_max_ns)
		WRITE_ONCE(player_stats.late_max_ns, at - due);
}

static void play(int sample, RTIME due)
{
	RTIME at;

	if (now.mode != MODE_SLOPE)
		sample = clamp(sample * READ_ONCE(speaker_volume) / 100, -S16_MAX, S16_MAX);
	if (now.mode == MODE_PWM) {
		at = put(PORT_PIT_CH2, modulate(&modulator, sample), sample);
		if (!playing)
			put_bit(1, NO_SAMPLE);
	} else {
		at = put_bit(modulate(&modulator, sample), sample);
	}
	playing = true;
	note_interval(at, due);
	COUNT(samples);
}

static void count_tick(void)
{
	RTIME at = rt_get_time();
	u64 interval = at - ticked_at;

	COUNT(ticks);
	if (ticked_at && interval > now.period_ns + now.period_ns / 2)
		WRITE_ONCE(player_stats.missed,
			   player_stats.missed - 1 +
			   (interval + now.period_ns / 2) / now.period_ns);
	ticked_at = at;
}

static void forget_intervals(void)
{
	WRITE_ONCE(player_stats.late_max_ns, 0);
	WRITE_ONCE(player_stats.interval_min_ns, U64_MAX);
	WRITE_ONCE(player_stats.interval_max_ns, 0);
	written_at = 0;
}

static void clear(void)
{
	WRITE_ONCE(player_stats.ticks, 0);
	WRITE_ONCE(player_stats.samples, 0);
	WRITE_ONCE(player_stats.missed, 0);
	WRITE_ONCE(player_stats.stamps_lost, 0);
	frames_before = stream.frames;
	underruns_before = stream.underruns;
	forget_intervals();
}

/* Context: RT interrupt or RT task. */
static void player_tick(RTIME due)
{
	int sample;

	if (READ_ONCE(clear_asked)) {
		clear();
		smp_store_release(&clear_asked, false);
	}
	count_tick();
	if (READ_ONCE(forget_asked)) {
		stream_stop(&stream);
		smp_store_release(&forget_asked, false);
	}
	if (!READ_ONCE(player_paused) && stream_sample(&stream, &sample))
		play(sample, due);
	else
		rest();
	WRITE_ONCE(player_stats.frames, stream.frames - frames_before);
	WRITE_ONCE(player_stats.underruns, stream.underruns - underruns_before);
}

/* Ask the tick for something and wait until it has done it. */
static int ask(bool *flag)
{
	unsigned int tries;

	WRITE_ONCE(*flag, true);
	for (tries = 0; tries < FORGET_MS && smp_load_acquire(flag); tries++)
		usleep_range(1000, 1500);
	return READ_ONCE(*flag) ? -EIO : 0;
}

/* Forget what the FIFO holds. Under speaker_lock. Returns 0, or -EIO: no tick comes. */
int player_forget(void)
{
	return ask(&forget_asked);
}

/* All counters from zero. Under speaker_lock. Returns 0, or -EIO: no tick comes. */
int player_clear(void)
{
	WRITE_ONCE(player_stats.files, 0);
	WRITE_ONCE(player_stats.refused, 0);
	return ask(&clear_asked);
}

static int mode_for(int wanted)
{
	if (wanted != MODE_AUTO)
		return wanted;
	return port_has_pwm() ? MODE_PWM : MODE_SIGMA;
}

static unsigned int rate_for(int mode, int clock, unsigned int wanted_hz)
{
	static const unsigned int own_hz[] = {
		[MODE_SLOPE] = SLOPE_HZ, [MODE_SIGMA] = SIGMA_HZ, [MODE_PWM] = PWM_HZ,
	};

	return wanted_hz ?: clock == CLOCK_RTC ? SLOPE_HZ : own_hz[mode];
}

static int start_with(const struct speaker_setup *wanted, int mode, int clock)
{
	static const enum modulation ways[] = {
		[MODE_SLOPE] = MODULATE_SLOPE, [MODE_SIGMA] = MODULATE_SIGMA,
		[MODE_PWM] = MODULATE_PWM,
	};

	now.mode = mode;
	now.clock = clock;
	now.rate = ticker_rate(clock, rate_for(mode, clock, wanted->rate_hz));
	now.period_ns = ((u64)NSEC_PER_SEC * now.rate.den + now.rate.num / 2) / now.rate.num;
	stream_rate(&stream, now.rate);
	modulate_init(&modulator, ways[mode], wanted->order, now.rate);
	playing = false;
	ticked_at = 0;
	forget_intervals();
	port_setup(mode == MODE_PWM);
	return ticker_start(clock, now.rate, player_tick);
}

static int start(const struct speaker_setup *wanted)
{
	int mode = mode_for(wanted->mode), clock = wanted->clock, err;

	if (clock == CLOCK_AUTO)
		clock = mode == MODE_SLOPE && (!wanted->rate_hz || wanted->rate_hz == SLOPE_HZ) ?
			CLOCK_RTC : CLOCK_TASK;
	err = start_with(wanted, mode, clock);
	if (err && wanted->clock == CLOCK_AUTO && clock == CLOCK_RTC) {
		pr_info("an RT task plays instead\n");
		err = start_with(wanted, mode, CLOCK_TASK);
	}
	return err;
}

/* Begin as speaker_setup says. Under speaker_lock; may sleep. */
int player_start(void)
{
	return start(&speaker_setup);
}

/* Go on in another way, or in the same if that is not possible. Under speaker_lock; may sleep. */
int player_change(const struct speaker_setup *wanted)
{
	int err;

	ticker_stop();
	err = start(wanted);
	if (!err)
		speaker_setup = *wanted;
	else if (start(&speaker_setup))
		pr_err("and what was before does not start any more\n");
	return err;
}

/* No tick any more. Under speaker_lock. */
void player_stop(void)
{
	ticker_stop();
}

u64 player_interval_max_dev_ns(void)
{
	u64 lowest = READ_ONCE(player_stats.interval_min_ns);
	u64 highest = READ_ONCE(player_stats.interval_max_ns);
	u64 early = lowest < now.period_ns ? now.period_ns - lowest : 0;
	u64 late = highest > now.period_ns ? highest - now.period_ns : 0;

	return max(early, late);
}

/* The line of control/now. Under speaker_lock. */
ssize_t player_now(char *buf)
{
	const char *state = READ_ONCE(player_paused) ? "paused" :
			    READ_ONCE(playing) ? "playing" : "rest";

	return sysfs_emit(buf, "mode=%s order=%u clock=%s period_ns=%llu levels=%u state=%s\n",
			  speaker_modes[now.mode], now.mode == MODE_SIGMA ? modulator.order : 0,
			  speaker_clocks[now.clock], (unsigned long long)now.period_ns,
			  modulator.levels, state);
}
