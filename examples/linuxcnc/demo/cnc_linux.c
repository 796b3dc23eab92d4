// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same path by a thread of Linux, as well as Linux can: SCHED_FIFO, memory locked, absolute
 * sleeps of 25 us, as LinuxCNC's own threads in user space have them. What it missed while it was
 * late it does at once. Positions come as lines "x y tool" on standard input, one a millisecond.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <time.h>

#define PORT		0x378
#define PERIOD_NS	25000
#define CALLS		40	/* a position */
#define STEPS		100.0	/* a millimetre */
#define MOST		20000

struct position {
	double at[2];
	int tool;
};

struct axis {
	long steps;
	bool high, back;
};

static struct position path[MOST];

/* A step takes a period up and one down; its direction stands a period before. */
static unsigned int step(struct axis *axis, double mm)
{
	double off = mm * STEPS - axis->steps;
	bool back = off < 0;

	if (axis->high) {
		axis->high = false;
	} else if (off >= 0.5 || off <= -0.5) {
		if (axis->back == back) {
			axis->high = true;
			axis->steps += axis->back ? -1 : 1;
		} else {
			axis->back = back;
		}
	}
	return axis->high | (unsigned int)axis->back << 1;
}

static void sleep_until(long long ns)
{
	struct timespec when = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
		;
}

int main(void)
{
	struct sched_param param = { .sched_priority = 80 };
	static struct axis axes[2];
	struct timespec now;
	long long start;
	size_t n = 0;

	while (n < MOST && scanf("%lf %lf %d", &path[n].at[0], &path[n].at[1], &path[n].tool) == 3)
		n++;
	if (n < 2) {
		fprintf(stderr, "usage: cnc_linux < POSITIONS\n");
		return 2;
	}
	if (ioperm(PORT, 3, 1) || mlockall(MCL_CURRENT | MCL_FUTURE) ||
	    sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("cnc_linux");
		return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	start = now.tv_sec * 1000000000LL + now.tv_nsec + PERIOD_NS;
	for (size_t call = 0; call < (n - 1) * CALLS; call++) {
		const struct position *from = &path[call / CALLS], *to = from + 1;
		double part = (double)(call % CALLS) / CALLS;
		unsigned int pins = to->tool << 4;

		for (int i = 0; i < 2; i++)
			pins |= step(&axes[i], from->at[i] + (to->at[i] - from->at[i]) * part)
				<< 2 * i;
		sleep_until(start + call * PERIOD_NS);
		outb(pins, PORT);
	}
	return 0;
}
