// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests /dev/rtfN from user space, with the module fifo_test as the RT side.
 *
 * usage: fifo_check [TEST]...; without one, all. Each test is a process of its own and
 * ends with "ok TEST" or "not ok TEST: where: what" on stdout.
 */
#include "fifo_check.h"

const char *test_name;

static const struct test *const suites[] = {
	create_tests,
	bytes_tests,
	sleep_tests,
	destroy_tests,
	handler_tests,
	resize_tests,
	ioctl_tests,
	memory_tests,
	stream_tests,
	modules_tests,
	records_tests,
	claim_tests,
};

/* In a process of its own, with an end to its time and nothing left behind. */
static bool run(const struct test *test)
{
	int status, fifo;
	pid_t pid;

	test_name = test->name;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(60);
		rt("calls");
		test->fn();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	rt("stop");
	for (fifo = 0; fifo < NFIFOS; fifo++)
		rt("linux destroy %d", fifo);
	if (WIFSIGNALED(status))
		printf("not ok %s: killed by signal %d\n", test_name, WTERMSIG(status));
	else if (!WEXITSTATUS(status))
		printf("ok %s\n", test_name);
	return !status;
}

int main(int argc, char **argv)
{
	bool passed = true;
	unsigned int i;
	int k;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
		for (const struct test *test = suites[i]; test->name; test++) {
			bool wanted = argc == 1;

			for (k = 1; k < argc; k++)
				if (!strcmp(argv[k], "--list"))
					puts(test->name);
				else
					wanted |= !strcmp(argv[k], test->name);
			if (wanted)
				passed &= run(test);
		}
	return !passed;
}
