// SPDX-License-Identifier: GPL-2.0-only
/*
 * How late an ordinary program's loop is, in RT mode or as Linux runs it: see --help. Measured in
 * the program itself: the clock at the first instructions after the wait, minus the release.
 */
#define _GNU_SOURCE
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <tactus/rt.h>

#define NS_PER_S 1000000000LL
#define BIN_NS 20
#define BINS 2000		/* up to 40 us; the last takes all that is later */
#define BAR 50

static struct {
	int64_t min, max, sum;
	uint64_t jobs, missed, bins[BINS];
} late;

static void note(int64_t ns)
{
	int64_t bin = ns < 0 ? 0 : ns / BIN_NS;

	if (!late.jobs || ns < late.min)
		late.min = ns;
	if (!late.jobs || ns > late.max)
		late.max = ns;
	late.jobs++;
	late.sum += ns;
	late.bins[bin < BINS ? bin : BINS - 1]++;
}

/* In RT mode: nothing in the loop is a system call of Linux. */
static void loop_rt(int64_t period, int64_t jobs, int64_t work)
{
	struct rt_attr attr = {
		.period_ns = period, .budget_ns = period / 2, .priority = 10, .cpu = -1,
	};
	struct rt_job job;
	int error;

	if (rt_enter(&attr))
		errx(1, "%s", rt_why());
	for (int64_t k = 1; k <= jobs; k++) {
		error = rt_wait(&job);
		note(rt_now() - job.release_ns);
		late.missed += error || job.number != k;
		for (int64_t until = rt_now() + work; rt_now() < until; )
			;
	}
	rt_leave();
}

static int64_t linux_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* The same as Linux can do it best: the highest priority there is. */
static void loop_linux(int64_t period, int64_t jobs, int64_t work)
{
	struct sched_param highest = { .sched_priority = 99 };
	int64_t next = linux_now() + period;

	if (sched_setscheduler(0, SCHED_FIFO, &highest))
		err(1, "SCHED_FIFO");
	for (int64_t k = 0; k < jobs; k++, next += period) {
		struct timespec until = { next / NS_PER_S, next % NS_PER_S };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		note(linux_now() - next);
		late.missed += linux_now() - next >= period;
		for (int64_t until = linux_now() + work; linux_now() < until; )
			;
	}
}

static void print_histogram(void)
{
	uint64_t most = 0;

	for (int bin = 0; bin < BINS; bin++)
		most = late.bins[bin] > most ? late.bins[bin] : most;
	for (int bin = 0; bin < BINS; bin++)
		if (late.bins[bin])
			printf("%6d ns%c %8" PRIu64 " %.*s\n", bin * BIN_NS,
			       bin == BINS - 1 ? '+' : ' ', late.bins[bin],
			       (int)(BAR * late.bins[bin] / most),
			       "##################################################");
}

static void help(void)
{
	puts("usage: user_latency [--linux] [--json] [--period=US] [--work=US] [--seconds=S]\n"
	     "How late a periodic loop of this program is.\n\n"
	     "  --linux      not in RT mode: SCHED_FIFO 99 and clock_nanosleep()\n"
	     "  --json       one line for programs, no histogram\n"
	     "  --period=US  of the loop (default: 1000)\n"
	     "  --work=US    each job computes for so long, up to a third of the period\n"
	     "               (default: 0)\n"
	     "  --seconds=S  how long (default: 10)");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "linux", no_argument, NULL, 'l' }, { "json", no_argument, NULL, 'j' },
		{ "period", required_argument, NULL, 'p' },
		{ "work", required_argument, NULL, 'w' },
		{ "seconds", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' }, { 0 },
	};
	bool in_linux = false, json = false;
	double seconds = 10, period_us = 1000, work_us = 0;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'l')
			in_linux = true;
		else if (option == 'j')
			json = true;
		else if (option == 'p')
			period_us = atof(optarg);
		else if (option == 'w')
			work_us = atof(optarg);
		else if (option == 's')
			seconds = atof(optarg);
		else if (option == 'h')
			return help(), 0;
		else
			return 2;
	}
	if (optind != argc || !(period_us >= 20 && period_us <= 1e6) ||
	    !(work_us >= 0 && work_us <= period_us / 3) || !(seconds > 0 && seconds <= 86400))
		errx(2, "the period must be 20 to 1000000 us, the work up to a third of it, the time"
		     " up to a day; see --help");
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		err(1, "mlockall");
	(in_linux ? loop_linux : loop_rt)(period_us * 1000, seconds * 1e6 / period_us,
						    work_us * 1000);

	if (!json)
		print_histogram();
	printf(json ? "{\"jobs\": %" PRIu64 ", \"min_ns\": %" PRId64
		      ", \"mean_ns\": %.0f, \"max_ns\": %" PRId64 ", \"missed\": %" PRIu64 "}\n" :
		      "jobs %" PRIu64 ", min %" PRId64 " ns, mean %.0f ns, max %" PRId64
		      " ns, missed %" PRIu64 "\n",
	       late.jobs, late.min, (double)late.sum / late.jobs, late.max, late.missed);
	return 0;
}
