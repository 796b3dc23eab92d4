// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many instructions does a job take? Runs a command that many times, one after the other, and
 * prints
 *
 *	took: ns=N idle_ns=N
 *
 * ns	    from the first start to the last end, by the TSC: under --icount that is instructions,
 *	    all of them, the kernel's and its interrupts' too, as long as the CPU does not halt
 * idle_ns  how much of it the CPU had nothing to run, by the scheduler's own account
 *
 * Exit status: 0; 1 the command failed, or something could not be read; 2 usage.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

/* ns for which CPU 0 ran anything but its idle task: the seventh figure of its line. */
static uint64_t running_ns(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	static char text[4096];
	int fd = open("/proc/schedstat", O_RDONLY);
	unsigned long long ns;
	const char *line;
	ssize_t got;

	/* The account is brought up to date when a task is switched to or from. */
	nanosleep(&moment, NULL);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (got <= 0) {
		perror("took: /proc/schedstat");
		exit(1);
	}
	text[got] = '\0';
	close(fd);
	line = strstr(text, "cpu0 ");
	if (!line || sscanf(line, "cpu0 %*u %*u %*u %*u %*u %*u %llu", &ns) != 1) {
		fprintf(stderr, "took: /proc/schedstat has no figure for CPU 0\n");
		exit(1);
	}
	return ns;
}

static void run(char **command)
{
	pid_t pid = fork();
	int status, null;

	if (!pid) {
		null = open("/dev/null", O_RDWR);
		if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
			_exit(126);
		execvp(command[0], command);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status)) {
		fprintf(stderr, "took: %s failed\n", command[0]);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	long times = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
	uint64_t before_ns, after_ns, begin, end;

	if (times < 1) {
		fprintf(stderr, "usage: took TIMES COMMAND [ARGUMENT]...\n");
		return 2;
	}
	before_ns = running_ns();
	begin = __rdtsc();
	for (long i = 0; i < times; i++)
		run(argv + 2);
	end = __rdtsc();
	after_ns = running_ns();
	printf("took: ns=%llu idle_ns=%lld\n", (unsigned long long)(end - begin),
	       (long long)(end - begin) - (long long)(after_ns - before_ns));
	return 0;
}
