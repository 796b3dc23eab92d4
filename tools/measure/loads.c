// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loads under which the classic measurements were made, by ordinary commands. Each worker does
 * its rounds for ever and tells each one, so that a load that did nothing cannot pass for one.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"

#define WORKERS 3
#define TELL 9		/* the descriptor to which a worker writes a byte for each round */

#define ARITHMETIC "i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); done"

/* A round of each worker; the working folder is one in which they may write. */
static const struct load {
	const char *name, *is;
	const char *workers[WORKERS];
} loads[] = {
	{ "none", "nothing", { 0 } },
	{ "arithmetic", "three programs of continuous arithmetic (Finney)",
	  { ARITHMETIC, ARITHMETIC, ARITHMETIC } },
	{ "jobs", "ping, md5sum of random bytes, a file written (Varoquaux)",
	  { "ping -c 2 -i 0.01 127.0.0.1",
	    "dd if=/dev/urandom bs=16k count=1 | md5sum",
	    "dd if=/dev/zero of=foo bs=64k count=4; sync foo; rm foo" } },
	{ "screen", "text to a console, where latencytest moved windows",
	  { "dd if=/proc/kallsyms bs=1k count=4 > /dev/tty0" } },
	{ "proc", "reading /proc (latencytest)",
	  { "cat /proc/stat /proc/meminfo /proc/interrupts /proc/[0-9]*/stat /proc/[0-9]*/maps || true" } },
	{ "diskwrite", "writing a file (latencytest)",
	  { "dd if=/dev/zero of=written bs=64k count=16; sync written" } },
	{ "diskcopy", "copying a file (latencytest)",
	  { "[ -e from ] || dd if=/dev/zero of=from bs=64k count=16; cp from to; sync to" } },
	{ "diskread", "reading a file that is not cached (latencytest)",
	  { "[ -e read ] || { dd if=/dev/zero of=read bs=64k count=16; sync read; };"
	    " echo 1 > /proc/sys/vm/drop_caches; cat read" } },
	{ 0 },
};

static const struct load *running;
static pid_t group;
static int told[WORKERS];

void load_list(FILE *out)
{
	for (const struct load *load = loads; load->name; load++)
		fprintf(out, "  %-12s %s\n", load->name, load->is);
}

static pid_t worker(const char *round, int tell, const char *dir)
{
	pid_t parent = getpid(), pid = fork();
	int null;
	char *script;

	if (pid < 0)
		err(1, "fork");
	if (pid)
		return pid;
	setpgid(0, group);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	null = open("/dev/null", O_RDWR);
	if (getppid() != parent || chdir(dir) || null < 0 || dup2(null, 0) < 0 ||
	    dup2(null, 1) < 0 || dup2(null, 2) < 0 || dup2(tell, TELL) < 0 ||
	    asprintf(&script, "while :; do { %s; } && echo >&%d; done", round, TELL) < 0)
		_exit(1);
	execl("/bin/sh", "sh", "-c", script, (char *)NULL);
	_exit(1);
}

/* Also when the program ends early: it may have failed, or was told to. */
static void stop(void)
{
	if (!group)
		return;
	kill(-group, SIGKILL);
	while (waitpid(-group, NULL, 0) > 0)
		;
	group = 0;
}

static void stop_by_signal(int number)
{
	if (group)
		kill(-group, SIGKILL);
	_exit(128 + number);
}

void load_begin(const char *name, const char *dir)
{
	for (running = loads; running->name; running++)
		if (!strcmp(running->name, name))
			break;
	if (!running->name)
		errx(2, "no such load: %s; --help has all", name);
	atexit(stop);
	signal(SIGINT, stop_by_signal);
	signal(SIGTERM, stop_by_signal);
	for (int i = 0; i < WORKERS && running->workers[i]; i++) {
		int ends[2];
		pid_t pid;

		if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
			err(1, "pipe");
		pid = worker(running->workers[i], ends[1], dir);
		if (!group)
			group = pid;
		setpgid(pid, group);
		close(ends[1]);
		told[i] = ends[0];
	}
}

void load_end(FILE *out)
{
	bool idle = false;

	stop();
	fprintf(out, "LOAD %s", running->name);
	for (int i = 0; i < WORKERS && running->workers[i]; i++) {
		int rounds = 0;

		ioctl(told[i], FIONREAD, &rounds);
		fprintf(out, " %d", rounds);
		idle |= !rounds;
	}
	fputc('\n', out);
	if (idle)
		errx(1, "load %s: a worker did not finish a single round", running->name);
}
