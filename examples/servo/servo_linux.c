// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same pendulum held by a thread of Linux, as well as Linux can: SCHED_FIFO, memory locked,
 * absolute sleeps. The argument is the number of jobs; the records go to standard output.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "pendulum.h"

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void sleep_until(long long ns)
{
	struct timespec when = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
		;
}

int main(int argc, char **argv)
{
	size_t jobs = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	struct sched_param param = { .sched_priority = 80 };
	static struct servo servo;
	struct servo_record *records;
	long long start;

	records = jobs ? calloc(jobs, sizeof(*records)) : NULL;
	if (!records) {
		fprintf(stderr, "usage: servo_linux JOBS > FILE\n");
		return 2;
	}
	if (mlockall(MCL_CURRENT | MCL_FUTURE) || sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("servo_linux");
		return 1;
	}
	start = now_ns() + SERVO_PERIOD_NS;
	for (size_t job = 0; job < jobs; job++) {
		sleep_until(start + job * SERVO_PERIOD_NS);
		servo_job(&servo, now_ns() - start, job * SERVO_PERIOD_NS, &records[job]);
	}
	return fwrite(records, sizeof(*records), jobs, stdout) == jobs ? 0 : 1;
}
