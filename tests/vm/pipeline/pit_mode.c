// SPDX-License-Identifier: GPL-2.0-only
/*
 * How channel 0 of the 8254 is set up, as its control word would say it, in hex:
 * pit_mode [NEW]; with an argument, that control word is written first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/io.h>

#define CHANNEL0 0x40
#define CONTROL 0x43
#define READ_STATUS 0xe2
#define STATUS_MODE 0x3f

int main(int argc, char **argv)
{
	if (ioperm(CHANNEL0, 4, 1)) {
		perror("pit_mode");
		return 1;
	}
	if (argc > 1)
		outb(strtoul(argv[1], NULL, 16), CONTROL);
	outb(READ_STATUS, CONTROL);
	printf("%x\n", inb(CHANNEL0) & STATUS_MODE);
	return 0;
}
