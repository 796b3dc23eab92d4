// SPDX-License-Identifier: GPL-2.0-only
/*
 * Do nothing for that many seconds, without halting: awake SECONDS.
 *
 * For measurements of an idle guest. QEMU does not wake a halted CPU at the right instruction
 * every time when virtual time jumps over idle time (some 600 ns late now and then,
 * depending on the host), so the CPU must have something to execute. SCHED_IDLE and
 * straight-line nops, of which the emulator runs a virtual second in a fraction of a real one.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double seconds = argc == 2 ? atof(argv[1]) : 0;
	struct sched_param param = { 0 };
	double end_s = now_s() + seconds;

	if (seconds <= 0) {
		fprintf(stderr, "usage: awake SECONDS\n");
		return 2;
	}
	if (sched_setscheduler(0, SCHED_IDLE, &param)) {
		perror("awake");
		return 1;
	}
	while (now_s() < end_s)
		for (int i = 0; i < 200; i++)
			__asm__ volatile(".rept 500; nop; .endr");
	return 0;
}
