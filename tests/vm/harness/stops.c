// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stops the machine N times, by QEMU's pvpanic device: the bench has it go on.
 *
 *	stops N
 */
#include <stdlib.h>
#include <sys/io.h>

#define PANIC_PORT	0x505	/* as in init/init.c */
#define PANICKED	1

int main(int argc, char **argv)
{
	int left = argc == 2 ? atoi(argv[1]) : 0;

	if (left <= 0 || ioperm(PANIC_PORT, 1, 1))
		return 1;
	while (left--) {
		outb(PANICKED, PANIC_PORT);
		for (volatile int i = 0; i < 30000; i++)
			;
	}
	return 0;
}
