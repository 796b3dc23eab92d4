// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words go through a FIFO to an RT task on another CPU (fifo_echo) and back, all of them, in order,
 * with pieces of any length; who waits for room or for words is woken up.
 *
 *	fifo_duel ROUNDS
 *
 * A round is 64 words, and has a schedule of its own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../harness/mark.h"

#define ROUND_WORDS	64
#define MOST_WORDS	40
#define PATIENCE_S	5

static unsigned int round_now;

static void stuck(int signal)
{
	char text[80];
	int n = snprintf(text, sizeof(text), "round %u: nobody was woken up\n", round_now);

	(void)signal;
	if (write(2, text, n) == n)
		_exit(1);
	_exit(1);
}

static void send_words(int fd, unsigned int words)
{
	uint32_t piece[MOST_WORDS];
	unsigned int next = 0, n;

	srand(1);
	while (next < words) {
		n = 1 + rand() % MOST_WORDS;
		for (unsigned int i = 0; i < n; i++)
			piece[i] = next + i;
		if (n > words - next)
			n = words - next;
		if (write(fd, piece, n * sizeof(*piece)) != (ssize_t)(n * sizeof(*piece)))
			_exit(2);
		next += n;
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned int words = argc > 1 ? strtoul(argv[1], NULL, 0) * ROUND_WORDS : 0;
	uint32_t piece[MOST_WORDS];
	int fd = open("/dev/rtf0", O_RDWR), status;
	cpu_set_t cpus;
	ssize_t n;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (!words || fd < 0 || sched_setaffinity(0, sizeof(cpus), &cpus))
		return 2;
	if (!fork())
		send_words(fd, words);
	signal(SIGALRM, stuck);
	srand(2);
	for (unsigned int next = 0; next < words;) {
		alarm(PATIENCE_S);
		n = read(fd, piece, (1 + rand() % MOST_WORDS) * sizeof(*piece));
		for (int i = 0; i < n / (ssize_t)sizeof(*piece); i++, next++) {
			if (piece[i] != next) {
				fprintf(stderr, "round %u: word %u, not %u\n", round_now, piece[i],
					next);
				return 1;
			}
			if (next % ROUND_WORDS == 0) {
				round_now++;
				next_schedule();
			}
		}
		if (n <= 0 || n % sizeof(*piece)) {
			fprintf(stderr, "round %u: a read of %zd bytes\n", round_now, n);
			return 1;
		}
	}
	wait(&status);
	return status ? 3 : 0;
}
