// SPDX-License-Identifier: GPL-2.0-only
/*
 * tactus-measure: what a program sees of time on this machine. See --help.
 *
 * `tactus measure` runs it on a running machine, `make bench` in the bench; figure.h has the form of
 * what it prints. A measurement by a module (tests/vm/measure/modules) goes through here too, so that all
 * have the same load beside them.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <tactus/rt.h>

#include "measure.h"

#define LOAD_LEAD_NS 50000000	/* what a load has to get going */
/* RT mode leaves Linux half of the CPU: it reads the clock in bursts. */
#define BURST_NS 1000000

static struct figure figure;

s64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/*
 * Finney's three: an ordinary process; setpriority() and mlockall(); SCHED_FIFO and mlockall(). First
 * prepare(), which may take its time.
 */
static void prepare(const char *who)
{
	if (strcmp(who, "user") && mlockall(MCL_CURRENT | MCL_FUTURE))
		err(1, "mlockall");
}

static void become(const char *who)
{
	struct sched_param highest = { .sched_priority = 99 };

	if (!strcmp(who, "nice") && setpriority(PRIO_PROCESS, 0, -20))
		err(1, "setpriority");
	if (!strcmp(who, "fifo") && sched_setscheduler(0, SCHED_FIFO, &highest))
		err(1, "SCHED_FIFO");
}

/* An ordinary process again, whatever it was. */
static void become_ordinary(void)
{
	struct sched_param none = { 0 };

	if (sched_setscheduler(0, SCHED_OTHER, &none) || setpriority(PRIO_PROCESS, 0, 0))
		err(1, "SCHED_OTHER");
}

static void print_figure(const char *name)
{
	printf("FIGURE %s count=%llu missed=%llu min=%lld max=%lld sum=%lld square=%.0f\n", name,
	       (unsigned long long)figure.count, (unsigned long long)figure.missed,
	       (long long)figure.min, (long long)figure.max, (long long)figure.sum, figure.square);
	for (unsigned int bin = 0; bin < 2 * FIGURE_SIDE; bin++)
		if (figure.bins[bin])
			printf("BIN %lld %lld %llu\n", (long long)figure_lower(bin),
			       (long long)figure_lower(bin + 1), (unsigned long long)figure.bins[bin]);
}

static const struct beats *find_beats(const char *name)
{
	for (const struct beats *beats = all_beats; beats->name; beats++)
		if (!strcmp(beats->name, name))
			return beats;
	errx(2, "no such means to wait: %s; --help has all", name);
}

static void measure_gaps_in_rt(s64 count)
{
	const struct beats *beats = find_beats("rt_wait");
	s64 last, until;

	prepare("rt");
	beats->begin(2 * BURST_NS);
	last = rt_now();
	until = last + BURST_NS;
	for (s64 n = 0; n < count; n++) {
		s64 now = rt_now();

		figure_note(&figure, now - last);
		last = now;
		if (now < until)
			continue;
		beats->wait(2 * BURST_NS);
		last = rt_now();
		until = last + BURST_NS;
	}
	beats->end();
	print_figure("gaps");
}

static void measure_gaps(const char *as, s64 count)
{
	s64 last;

	prepare(as);
	become(as);
	last = now_ns();
	for (s64 n = 0; n < count; n++) {
		s64 now = now_ns();

		figure_note(&figure, now - last);
		last = now;
	}
	print_figure("gaps");
}

/*
 * @late: lateness on the grid from the first beat instead of the gaps' error. To begin and to end beats
 * at a high priority could take for ever: PREEMPT_RT's /dev/rtc waits for its own timer's function,
 * which then does not get the CPU.
 */
static void measure_beats(const struct beats *beats, const char *as, s64 period, s64 busy, s64 warm_up,
			  s64 count, bool late)
{
	s64 last, first;

	prepare(as);
	first = last = beats->begin(period);
	become(as);
	for (s64 n = 1 - warm_up; n <= count; n++) {
		s64 now, due;

		beats->wait(period);
		now = beats->now();
		due = first + (n + warm_up) * period;
		if (n > 0) {
			figure_note(&figure, late ? now - due : now - last - period);
			figure.missed += late ? now - due >= period : now - last >= 2 * period;
		}
		last = now;
		while (busy && beats->now() - now < busy)
			;
	}
	/* In RT mode there is nothing to undo, and to ask Linux for it would end that. */
	if (beats->now == now_ns)
		become_ordinary();
	beats->end();
	print_figure(late ? "late" : "gap");
}

/* Have a module measure. */
static void measure_by_file(const char *path, const char *line)
{
	FILE *file = fopen(path, "w");
	char part[4096];
	size_t got;

	if (!file)
		err(1, "%s", path);
	if (fputs(line, file) < 0 || fclose(file))
		err(1, "%s: %s", path, line);
	file = fopen(path, "r");
	if (!file)
		err(1, "%s", path);
	while ((got = fread(part, 1, sizeof(part), file)))
		fwrite(part, 1, got, stdout);
	if (ferror(file))
		err(1, "%s", path);
	fclose(file);
}

static void help(void)
{
	puts("usage: tactus-measure gaps  [--as=WHO] [--count=N] [LOAD]\n"
	     "       tactus-measure gap|late --by=MEANS [--as=WHO] [--period-ns=N] [--busy-ns=N]\n"
	     "                            [--warm-up=N] [--count=N] [LOAD]\n"
	     "       tactus-measure file PATH LINE [LOAD]\n"
	     "What a program sees of time, in ns of this machine's clock.\n\n"
	     "  gaps         between --count readings of the clock (default 1000000)\n"
	     "  gap          between beats of a period (default 1000000 ns), minus the period\n"
	     "  late         of each beat, on the grid that begins with the first\n"
	     "  file         have a module measure: write LINE to PATH, print what it gives\n"
	     "  --by=MEANS   setitimer, nanosleep, rtc, timerfd, clock_nanosleep or rt_wait (--as=rt)\n"
	     "  --as=WHO     user (default), nice (setpriority -20, mlockall), fifo (SCHED_FIFO 99,\n"
	     "               mlockall) or rt (RT mode of libtactus, which takes /dev/rt)\n"
	     "  --busy-ns    what each beat computes for (default 0)\n"
	     "  --warm-up    beats that do not count (default 10)\n"
	     "  LOAD         --load=NAME --dir=FOLDER: what runs beside, and where it writes:");
	load_list(stdout);
}

static s64 number(const char *text, s64 least, s64 most)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (end == text || *end || errno || value < least || value > most)
		errx(2, "%s is not a number from %lld to %lld", text, (long long)least, (long long)most);
	return value;
}

int main(int argc, char **argv)
{
	enum { BY, AS, PERIOD, BUSY, WARM_UP, COUNT, LOAD, DIR, HELP };
	static const struct option options[] = {
		{ "by", required_argument, NULL, BY }, { "as", required_argument, NULL, AS },
		{ "period-ns", required_argument, NULL, PERIOD },
		{ "busy-ns", required_argument, NULL, BUSY },
		{ "warm-up", required_argument, NULL, WARM_UP },
		{ "count", required_argument, NULL, COUNT },
		{ "load", required_argument, NULL, LOAD }, { "dir", required_argument, NULL, DIR },
		{ "help", no_argument, NULL, HELP }, { 0 },
	};
	const char *what, *as = "user", *load = "none", *dir = "/tmp";
	const struct beats *beats = NULL;
	s64 period = 1000000, busy = 0, warm_up = 10, count = 0;
	struct timespec lead = { .tv_nsec = LOAD_LEAD_NS };
	bool gaps, file;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case BY:
			beats = find_beats(optarg);
			break;
		case AS:
			as = optarg;
			if (strcmp(as, "user") && strcmp(as, "nice") && strcmp(as, "fifo") &&
			    strcmp(as, "rt"))
				errx(2, "--as must be user, nice, fifo or rt, not %s", as);
			break;
		case PERIOD:
			period = number(optarg, 10000, 10 * NS_PER_S);
			break;
		case BUSY:
			busy = number(optarg, 0, 10 * NS_PER_S);
			break;
		case WARM_UP:
			warm_up = number(optarg, 0, 1000000);
			break;
		case COUNT:
			count = number(optarg, 1, 1000000000);
			break;
		case LOAD:
			load = optarg;
			break;
		case DIR:
			dir = optarg;
			break;
		case 'h':
		case HELP:
			help();
			return 0;
		default:
			return 2;
		}
	}
	what = optind < argc ? argv[optind] : "";
	gaps = !strcmp(what, "gaps");
	file = !strcmp(what, "file");
	if (!gaps && !file && strcmp(what, "gap") && strcmp(what, "late"))
		errx(2, "what to measure is missing; see --help");
	if (argc - optind != (file ? 3 : 1) || (!gaps && !file && !beats) || busy >= period)
		errx(2, "wrong arguments; see --help");
	if (beats && !strcmp(as, "rt") != (beats->now != now_ns))
		errx(2, "--as=rt and --by=rt_wait go together");
	if (!strcmp(as, "rt") && busy > period / 3 * 2)
		errx(2, "in RT mode a beat computes for two thirds of its period at most");

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	load_begin(load, dir);
	if (strcmp(load, "none"))
		nanosleep(&lead, NULL);
	if (gaps && !strcmp(as, "rt"))
		measure_gaps_in_rt(count ?: 1000000);
	else if (gaps)
		measure_gaps(as, count ?: 1000000);
	else if (file)
		measure_by_file(argv[optind + 1], argv[optind + 2]);
	else
		measure_beats(beats, as, period, busy, warm_up, count ?: 1000, !strcmp(what, "late"));
	load_end(stdout);
	return fflush(stdout) ? 1 : 0;
}
