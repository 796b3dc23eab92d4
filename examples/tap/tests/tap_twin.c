// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tap loop as FTAP has it: a user-space process with SCHED_FIFO and locked memory, on the
 * UART of Linux's own driver, whose output it joins to its input inside of the chip.
 *
 *	tap_twin DEVICE INPUTS
 *
 * One Note On and one Note Off 1 ms apart are sent round until INPUTS messages have come in; prints
 * how many came and, in ns, the mean and the longest time from one to the next:
 *
 *	inputs=1000 mean_ns=960123 max_ns=974000
 *
 * It does what examples/tap/kernel/loop.c does, in the same order, at the same pace (an emulated
 * UART has none of its own), and sleeps in ppoll() until input comes or a byte may be sent.
 *
 * Exit status: 0; 1 something failed; 2 usage.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#ifndef TIOCM_LOOP
#define TIOCM_LOOP 0x8000	/* of <asm/termios.h>, which <termios.h> does not go with */
#endif

#define BYTE_NS 320000
#define ROOM 256

static uint8_t waiting[ROOM];
static unsigned int head, tail;

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void queue(const uint8_t *message)
{
	for (int n = 0; n < 3; n++)
		waiting[head++ % ROOM] = message[n];
}

static int open_uart(const char *name)
{
	int loop = TIOCM_LOOP | TIOCM_DTR | TIOCM_RTS;
	int fd = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK);
	struct termios tio;

	if (fd < 0 || tcgetattr(fd, &tio))
		die(name);
	cfmakeraw(&tio);
	tio.c_cflag |= CLOCAL | CREAD;
	cfsetspeed(&tio, B38400);
	if (tcsetattr(fd, TCSANOW, &tio) || ioctl(fd, TIOCMBIS, &loop) || tcflush(fd, TCIOFLUSH))
		die(name);
	return fd;
}

int main(int argc, char **argv)
{
	const struct sched_param urgent = { .sched_priority = 99 };
	static const uint8_t note_on[] = { 0x90, 60, 64 }, note_off[] = { 0x80, 60, 64 };
	int64_t start, before = 0, first = 0, last = 0, longest = 0, free_at = 0;
	unsigned int wanted, inputs = 0, have = 0, off_sent = 0;
	uint8_t message[3];
	int fd;

	if (argc != 3) {
		fprintf(stderr, "usage: tap_twin DEVICE INPUTS\n");
		return 2;
	}
	wanted = atoi(argv[2]);
	fd = open_uart(argv[1]);
	if (mlockall(MCL_CURRENT | MCL_FUTURE) || sched_setscheduler(0, SCHED_FIFO, &urgent))
		die("cannot be a real-time process");

	start = now_ns();
	queue(note_on);
	while (inputs < wanted) {
		uint8_t byte;

		while (read(fd, &byte, 1) == 1) {
			message[have++] = byte;
			if (have < 3)
				continue;
			have = 0;
			last = now_ns();
			if (!inputs++)
				first = last;
			else if (last - before > longest)
				longest = last - before;
			before = last;
			queue(message);
		}

		int64_t now = now_ns(), until = now + 10000000;

		if (now - start > 600000000000LL) {
			fprintf(stderr, "tap_twin: no end\n");
			return 1;
		}
		if (!off_sent && now - start >= 1000000) {
			queue(note_off);
			off_sent = 1;
		}
		if (!off_sent)
			until = start + 1000000;
		while (head != tail && free_at - BYTE_NS <= now) {
			if (write(fd, &waiting[tail % ROOM], 1) != 1)
				die("write");
			tail++;
			free_at = (free_at > now ? free_at : now) + BYTE_NS;
			now = now_ns();
		}
		if (head != tail && free_at - BYTE_NS < until)
			until = free_at - BYTE_NS;
		if (until > now) {
			struct timespec left = { (until - now) / 1000000000,
						 (until - now) % 1000000000 };
			struct pollfd input = { .fd = fd, .events = POLLIN };

			if (ppoll(&input, 1, &left, NULL) < 0 && errno != EINTR)
				die("ppoll");
		}
	}
	printf("inputs=%u mean_ns=%lld max_ns=%lld\n", inputs,
	       (long long)((last - first) / (inputs - 1)), (long long)longest);
	return 0;
}
