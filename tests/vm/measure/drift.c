// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does Linux's clock go as the machine's does? For that many seconds it looks in bursts, five a
 * second, at Linux's clocks and at the ACPI timer, which the emulator drives and Linux does not
 * use, and prints
 *
 *	drift: bursts=N reads=N back=N rate_ppb=N wander_ns=N
 *
 * back		times one of the clocks was behind its own last value
 * rate_ppb	how much faster CLOCK_MONOTONIC went than the ACPI timer, in 10^-9
 * wander_ns	the most that it was off the straight line between its first and last moment
 *
 * Between the bursts it sleeps: the emulator skips idle time.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <time.h>

#define TIMER_HZ	3579545.0
#define TIMER_MASK	0xffffffu	/* 24 bits: around every 4.7 s, so look more often */
#define PAUSE_NS	200000000L
#define BURST_NS	4000000
#define MOST_BURSTS	10000

static const clockid_t clocks[] = {
	CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME,
};
#define CLOCKS (sizeof(clocks) / sizeof(clocks[0]))

struct moment {
	int64_t linux_ns;
	uint64_t ticks;
};

static struct moment moments[MOST_BURSTS];

static int64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts)) {
		perror("drift: clock_gettime");
		exit(1);
	}
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static unsigned int timer_port(void)
{
	FILE *file = fopen("/proc/ioports", "r");
	unsigned int port = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "ACPI PM_TMR"))
			sscanf(line, " %x", &port);
	if (!port || iopl(3)) {
		fprintf(stderr, "drift: no way to the ACPI timer\n");
		exit(1);
	}
	return port;
}

/* Both clocks read together, that is, again if something came in between. */
static struct moment this_moment(unsigned int port, uint64_t last_ticks)
{
	int64_t shortest_ns = INT64_MAX;
	struct moment best = { 0 };

	for (int i = 0; i < 200 && shortest_ns > 1500; i++) {
		int64_t before_ns = now_ns(CLOCK_MONOTONIC);
		uint32_t ticks = inl(port) & TIMER_MASK;
		int64_t length_ns = now_ns(CLOCK_MONOTONIC) - before_ns;

		if (length_ns >= shortest_ns)
			continue;
		shortest_ns = length_ns;
		best.linux_ns = before_ns + length_ns / 2;
		best.ticks = last_ticks + ((ticks - last_ticks) & TIMER_MASK);
	}
	return best;
}

int main(int argc, char **argv)
{
	double seconds = argc == 2 ? atof(argv[1]) : 0, rate, wander_ns = 0;
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t reads = 0, back = 0;
	int64_t last[CLOCKS];
	unsigned int port;
	int count = 0;

	if (seconds < 1 || seconds * 5 > MOST_BURSTS) {
		fprintf(stderr, "usage: drift SECONDS\n");
		return 2;
	}
	port = timer_port();
	for (size_t i = 0; i < CLOCKS; i++)
		last[i] = now_ns(clocks[i]);
	do {
		int64_t begin_ns = now_ns(CLOCK_MONOTONIC);

		moments[count] = this_moment(port, count ? moments[count - 1].ticks : 0);
		count++;
		while (now_ns(CLOCK_MONOTONIC) - begin_ns < BURST_NS) {
			for (size_t i = 0; i < CLOCKS; i++) {
				int64_t now = now_ns(clocks[i]);

				back += now < last[i];
				last[i] = now;
				reads++;
			}
		}
		nanosleep(&pause, NULL);
	} while (moments[count - 1].linux_ns - moments[0].linux_ns < seconds * 1e9 &&
		 count < MOST_BURSTS);

	rate = (moments[count - 1].linux_ns - moments[0].linux_ns) /
	       ((moments[count - 1].ticks - moments[0].ticks) * 1e9 / TIMER_HZ);
	for (int i = 0; i < count; i++) {
		double line_ns = (moments[i].ticks - moments[0].ticks) * 1e9 / TIMER_HZ * rate;
		double off_ns = moments[i].linux_ns - moments[0].linux_ns - line_ns;

		if (off_ns < 0)
			off_ns = -off_ns;
		if (off_ns > wander_ns)
			wander_ns = off_ns;
	}
	printf("drift: bursts=%d reads=%llu back=%llu rate_ppb=%.0f wander_ns=%.0f\n", count,
	       (unsigned long long)reads, (unsigned long long)back, (rate - 1) * 1e9, wander_ns);
	return 0;
}
