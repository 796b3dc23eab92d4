// SPDX-License-Identifier: GPL-2.0-only
/*
 * The computation of modules/fp_test as a program.
 *
 *	fp_user KIND MODE ROUNDS                 prints the result
 *	fp_user KIND MODE ROUNDS RESULT MS       repeats it so long, prints how often, and how often
 *	                                         the result was another
 *
 * Only the computation itself is in floating point.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "modules/fp_test/fp_work.h"

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	unsigned long long expected, jobs = 0, wrong = 0;
	int kind, mode, rounds;
	long long until;

	if (argc != 4 && argc != 6)
		return 2;
	kind = atoi(argv[1]);
	mode = atoi(argv[2]);
	rounds = atoi(argv[3]);
	if (argc == 4) {
		work_mode(kind, mode);
		expected = work(kind, rounds);
		work_mode(kind, TO_NEAREST);
		printf("%llu\n", expected);
		return 0;
	}
	expected = strtoull(argv[4], NULL, 0);
	until = now_ms() + atoi(argv[5]);
	work_mode(kind, mode);
	while (now_ms() < until) {
		wrong += work(kind, rounds) != expected;
		jobs++;
	}
	printf("%llu %llu\n", jobs, wrong);
	return 0;
}
