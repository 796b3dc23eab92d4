// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copy standard input to RT-FIFO 0 (or the node named) and fsync: it has sounded then. Pieces of
 * argv[2] bytes, the first and each further one after a pause of argv[3] ms; without them, of 4096
 * and without a pause.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *node = argc > 1 ? argv[1] : "/dev/rtf0";
	size_t piece = argc > 2 ? strtoul(argv[2], NULL, 0) : 4096;
	useconds_t pause_us = argc > 3 ? strtoul(argv[3], NULL, 0) * 1000 : 0;
	char *bytes = malloc(piece);
	int fd = open(node, O_WRONLY);
	ssize_t n;

	if (fd < 0 || !bytes) {
		perror(node);
		return 1;
	}
	while ((n = fread(bytes, 1, piece, stdin)) > 0) {
		if (write(fd, bytes, n) != n) {
			perror("write");
			return 1;
		}
		usleep(pause_us);
	}
	if (fsync(fd)) {
		perror("fsync");
		return 1;
	}
	return close(fd) ? 1 : 0;
}
