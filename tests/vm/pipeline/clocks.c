// SPDX-License-Identifier: GPL-2.0-only
/*
 * Do Linux's clocks and timers keep their promises? Runs for that many seconds and prints
 *
 *	clocks: reads=N sleeps=N back=N rate_ppm=X drift_us=X tick_gap_us=X sleep_late_us=X
 *
 * reads		of all clocks
 * sleeps		of 1 ms each, made by a second process
 * back			times a clock was behind its own last value
 * rate_ppm		how far CLOCK_MONOTONIC is from the TSC's rate over the run, against the
 *			rate over the first tenth of it
 * drift_us		CLOCK_REALTIME against CLOCK_MONOTONIC over the run
 * tick_gap_us		the most that the coarse clock, which only the tick moves, lagged
 * sleep_late_us	the most that a sleep of 1 ms was late
 * early		sleeps that ended early
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static const clockid_t clocks[] = {
	CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME,
};
enum { REAL, MONOTONIC, RAW, COARSE, BOOT, CLOCKS };

struct sleeps {
	uint64_t count;
	uint64_t early;
	int64_t late_ns;
};

static int64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts)) {
		perror("clocks: clock_gettime");
		exit(1);
	}
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void sleep_for_ever(struct sleeps *sleeps)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	for (;;) {
		int64_t begin = now_ns(CLOCK_MONOTONIC);
		int64_t late;

		clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL);
		late = now_ns(CLOCK_MONOTONIC) - begin - 1000000;
		if (late < 0)
			sleeps->early++;
		if (late > sleeps->late_ns)
			sleeps->late_ns = late;
		sleeps->count++;
	}
}

/* The TSC and two clocks at one moment. */
struct moment {
	uint64_t tsc;
	int64_t real_ns, monotonic_ns;
};

/* Read together, that is, again if something came in between: a moment is not a time slice. */
static struct moment this_moment(void)
{
	struct moment m, best = { 0 };
	int64_t shortest_ns = INT64_MAX;

	for (int i = 0; i < 1000 && shortest_ns > 20000; i++) {
		int64_t length_ns;

		m.monotonic_ns = now_ns(CLOCK_MONOTONIC);
		m.tsc = __rdtsc();
		m.real_ns = now_ns(CLOCK_REALTIME);
		length_ns = now_ns(CLOCK_MONOTONIC) - m.monotonic_ns;
		if (length_ns < shortest_ns) {
			shortest_ns = length_ns;
			best = m;
		}
	}
	return best;
}

/* TSC ticks per ns between two moments. */
static double rate(struct moment from, struct moment to)
{
	return (double)(to.tsc - from.tsc) / (to.monotonic_ns - from.monotonic_ns);
}

int main(int argc, char **argv)
{
	double seconds = argc == 2 ? atof(argv[1]) : 0;
	struct sleeps *sleeps = mmap(NULL, sizeof(*sleeps), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int64_t first[CLOCKS], last[CLOCKS], length_ns = seconds * 1e9;
	int64_t back = 0, gap_ns = 0;
	struct moment begin, end;
	double first_rate = 0;
	uint64_t reads = 0;
	pid_t sleeper;

	if (seconds < 0.1 || sleeps == MAP_FAILED) {
		fprintf(stderr, "usage: clocks SECONDS\n");
		return 2;
	}
	sleeper = fork();
	if (!sleeper)
		sleep_for_ever(sleeps);
	for (int i = 0; i < CLOCKS; i++)
		first[i] = last[i] = now_ns(clocks[i]);
	begin = this_moment();
	while (last[MONOTONIC] - first[MONOTONIC] < length_ns) {
		for (int i = 0; i < CLOCKS; i++) {
			int64_t now = now_ns(clocks[i]);

			back += now < last[i];
			last[i] = now;
		}
		/* The coarse clock was read after the fine one: what it lags is no artefact. */
		if (last[MONOTONIC] - last[COARSE] > gap_ns)
			gap_ns = last[MONOTONIC] - last[COARSE];
		if (!first_rate && last[MONOTONIC] - first[MONOTONIC] > length_ns / 10)
			first_rate = rate(begin, this_moment());
		reads++;
	}
	end = this_moment();
	kill(sleeper, SIGKILL);
	waitpid(sleeper, NULL, 0);
	printf("clocks: reads=%llu sleeps=%llu back=%lld rate_ppm=%.1f drift_us=%.1f "
	       "tick_gap_us=%lld sleep_late_us=%lld early=%llu\n",
	       (unsigned long long)reads, (unsigned long long)sleeps->count, (long long)back,
	       (rate(begin, end) / first_rate - 1) * 1e6,
	       ((end.real_ns - begin.real_ns) - (end.monotonic_ns - begin.monotonic_ns)) / 1e3,
	       (long long)(gap_ns / 1000), (long long)(sleeps->late_ns / 1000),
	       (unsigned long long)sleeps->early);
	return 0;
}
