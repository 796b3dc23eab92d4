/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The speaker driver: what its files share.
 *
 *   main.c      parameters, the FIFO and its writers, loading and unloading
 *   control.c   /sys/module/rt_speaker: control and stats
 *   player.c    a tick: the RT end; and how it is set up
 *   ticker.c    what calls it: the CMOS clock's interrupt, or an RT task
 *   port.c      port 0x61 and channel 2 of the timer
 *   owner.c     pcspkr is kept off them
 *   stream.c au.c codec.c resample.c modulate.c    pure: from bytes to bits
 *
 * Locks: speaker_lock around all that changes the set-up, in Linux processes. Within it
 * i8253_lock or rtc_lock around the set-up of the chips, never both, as Linux's drivers of
 * these take them. The tick takes none: it cannot wait for Linux.
 */
#ifndef _SPEAKER_H
#define _SPEAKER_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <rt/time.h>
#include "modulate.h"
#include "stream.h"

enum speaker_mode { MODE_SLOPE, MODE_SIGMA, MODE_PWM, MODE_AUTO, MODES };
enum speaker_clock { CLOCK_RTC, CLOCK_TASK, CLOCK_AUTO, CLOCKS };

extern const char *const speaker_modes[MODES];
extern const char *const speaker_clocks[CLOCKS];

/* What was asked for, and may be changed while loaded. */
struct speaker_setup {
	int mode;		/* enum speaker_mode */
	int clock;		/* enum speaker_clock */
	unsigned int order;	/* 1, 2 */
	unsigned int rate_hz;	/* 0: the mode's own */
};

#define RATE_MIN_HZ 8000
#define RATE_MAX_HZ 64000
#define VOLUME_MAX 400

extern struct mutex speaker_lock;
extern struct speaker_setup speaker_setup;	/* under speaker_lock */
extern int speaker_volume;			/* percent */
extern bool speaker_raw;			/* for the next opening */

/* main.c; under speaker_lock, may sleep */
int speaker_change(const struct speaker_setup *wanted);
int speaker_stop(void);

/* player.c: its FIFOs; stamps_fifo may be -1 */
extern unsigned int player_fifo;
extern int player_stamps_fifo;
extern struct sounds player_sounds;
extern bool player_paused;
int player_start(void);
int player_change(const struct speaker_setup *wanted);
void player_stop(void);
int player_forget(void);
int player_clear(void);
ssize_t player_now(char *buf);

/*
 * Counted since loading or player_clear(); the tick alone writes them, but for the two of main.c's.
 */
struct player_stats {
	u64 ticks, samples, frames, underruns, missed, stamps_lost;
	u64 late_max_ns;
	u64 interval_min_ns, interval_max_ns;	/* U64_MAX, 0: none yet */
	u64 files, refused;			/* main.c's */
};

extern struct player_stats player_stats;
u64 player_interval_max_dev_ns(void);

/* control.c */
int control_add(void);
void control_remove(void);

/* ticker.c */

/**
 * ticker_start - have a function called at each tick from now on
 * @clock: CLOCK_RTC or CLOCK_TASK
 * @rate: of CLOCK_TASK, ticks a second as its period is 1/@rate rounded to nanoseconds, see
 *	ticker_rate()
 * @fn: RT code; told when the tick was due, or 0 where nobody knows
 *
 * Return: 0, or what request_RTirq() or rt_task_init() say, or -EIO: the clock does not tick.
 */
int ticker_start(int clock, struct tick_rate rate, void (*fn)(RTIME due));

/**
 * ticker_try - may it be had?
 * @clock: one of enum speaker_clock
 *
 * Asked before the speaker is touched: who has the CMOS clock's interrupt may be playing.
 *
 * Return: 0, or what request_RTirq() says.
 */
int ticker_try(int clock);

/* On return it is not called any more, and the chip is as before. */
void ticker_stop(void);

/* The ticks that there really are when @hz are asked of @clock. */
struct tick_rate ticker_rate(int clock, unsigned int hz);

/* port.c */
int port_take(void);
void port_give_back(void);
bool port_has_pwm(void);
void port_setup(bool pwm);

#define PORT_SPEAKER 0x61
#define SPEAKER_GATE 0x01	/* lets PIT channel 2 count */
#define SPEAKER_DATA 0x02	/* ANDed with the channel's output */
#define SPEAKER_OUT 0x20	/* that output */
#define PORT_PIT_CH2 0x42

/* owner.c */
int owner_take(void);
void owner_give_back(void);

#endif
