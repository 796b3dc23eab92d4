// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thesis's Figure 2.1: a tone by a Linux program that counts and toggles the speaker's bit.
 *
 *	naive [SECONDS [HZ [STAMPS]]]
 *
 * It is the naive twin of rt_speaker: on an idle machine it is nearly steady, and anything else
 * that runs is heard. The delay of the figure, a constant there, is chosen at the start by
 * timing the counting. STAMPS is a file for a record of each port write, in the format of
 * rt_speaker's stamps (README.md).
 *
 * Needs root (CAP_SYS_RAWIO). Exit status: 0; 1 no access, or the file could not be written;
 * 2 usage.
 */
#include <err.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/io.h>
#include <time.h>

#define PORT_PIT_CH2 0x42
#define PORT_PIT_MODE 0x43
#define PORT_SPEAKER 0x61
#define SPEAKER_GATE 0x01
#define SPEAKER_DATA 0x02

#define NSEC_PER_SEC 1000000000LL
#define TRIES 5
#define TRY_LOOPS 20000

struct stamp {
	uint32_t seq;
	uint8_t port;
	uint8_t value;
	int16_t sample;		/* 0: there are none here */
	int64_t time_ns;	/* CLOCK_MONOTONIC just after the write */
};

static struct stamp *stamps;
static unsigned int writes, room;
static uint8_t silent;		/* the port's value with the data bit off */
static volatile sig_atomic_t stopped;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static void delay(unsigned int loops)
{
	for (volatile unsigned int i = 0; i < loops; i++)
		;
}

/* How often to count for so long: by the fastest of some tries, which nothing held up. */
static unsigned int loops_for(int64_t time_ns)
{
	int64_t best = INT64_MAX;

	for (int n = 0; n < TRIES; n++) {
		int64_t start = now_ns(), took;

		delay(TRY_LOOPS);
		took = now_ns() - start;
		if (took < best)
			best = took;
	}
	return time_ns * TRY_LOOPS / (best > 0 ? best : 1);
}

/* Returns the time of the write. */
static int64_t speaker(int on)
{
	uint8_t value = silent | (on ? SPEAKER_DATA : 0);
	int64_t now;

	outb(value, PORT_SPEAKER);
	now = now_ns();
	if (writes < room)
		stamps[writes] = (struct stamp){ .seq = writes, .port = PORT_SPEAKER,
						 .value = value, .time_ns = now };
	writes++;
	return now;
}

/* The speaker then follows the data bit: the channel's output is 1 and stays so. */
static void speaker_take(uint8_t before)
{
	outb(before | SPEAKER_GATE | SPEAKER_DATA, PORT_SPEAKER);
	/* channel 2, both bytes, mode 0: 1 when it has counted down */
	outb(0xb0, PORT_PIT_MODE);
	outb(3, PORT_PIT_CH2);
	outb(0, PORT_PIT_CH2);
	silent = (before | SPEAKER_GATE) & ~SPEAKER_DATA;
}

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static void save(const char *path)
{
	unsigned int count = writes < room ? writes : room;
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(stamps, sizeof(*stamps), count, file) != count || fclose(file))
		err(1, "%s", path);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 5, hz = argc > 2 ? atof(argv[2]) : 512;
	unsigned int loops;
	int64_t until;
	uint8_t before;

	if (argc > 4 || seconds <= 0 || seconds > 3600 || hz < 20 || hz > 20000) {
		fprintf(stderr, "usage: naive [SECONDS [HZ [STAMPS]]]\n");
		return 2;
	}
	if (ioperm(PORT_PIT_CH2, 2, 1) || ioperm(PORT_SPEAKER, 1, 1))
		err(1, "ioperm");
	if (argc > 3) {
		room = seconds * hz * 2 + 100;
		stamps = calloc(room, sizeof(*stamps));
		if (!stamps)
			err(1, "room for the stamps");
	}
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	loops = loops_for(NSEC_PER_SEC / 2 / hz);
	before = inb(PORT_SPEAKER);
	speaker_take(before);
	until = now_ns() + (int64_t)(seconds * NSEC_PER_SEC);
	do {
		delay(loops);
		speaker(1);
		delay(loops);
	} while (speaker(0) < until && !stopped);
	/* the end, for who listens */
	outb(before & ~(SPEAKER_GATE | SPEAKER_DATA), PORT_SPEAKER);
	outb(before, PORT_SPEAKER);
	if (argc > 3)
		save(argv[3]);
	return 0;
}
