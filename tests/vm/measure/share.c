// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of the CPU does a program get? Counts loops of the same length for so many ms of the
 * machine's clock, and prints their number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	unsigned long loops = 0;
	long long until;

	if (argc != 2)
		return 2;
	until = now_ms() + atoi(argv[1]);
	while (now_ms() < until) {
		__asm__ volatile(".rept 500; nop; .endr");
		loops++;
	}
	printf("%lu\n", loops);
	return 0;
}
