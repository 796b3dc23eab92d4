// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read and write I/O ports: ports WORD...; a word is PORT, whose byte is printed, or PORT=BYTE.
 *
 *	ports 0x2eb=0x80 0x2e8 0x2e9      of a UART: the divisor
 *
 * Exit status: 0; 1 no right to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/io.h>

int main(int argc, char **argv)
{
	if (iopl(3)) {
		perror("iopl");
		return 1;
	}
	for (int n = 1; n < argc; n++) {
		char *end;
		unsigned short port = strtoul(argv[n], &end, 0);

		if (*end == '=')
			outb(strtoul(end + 1, NULL, 0), port);
		else
			printf("%02x ", inb(port));
	}
	putchar('\n');
	return 0;
}
