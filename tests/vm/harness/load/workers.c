// SPDX-License-Identifier: GPL-2.0-only
/* The workers: each is a process that does one kind of work for ever. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

#define BLOCK 65536
/* What the disk worker writes before it starts over: below the smallest RAM disk. */
#define DISK_BLOCKS 32

void load_fail(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(1);
}

void load_write(int fd, const void *data, size_t size, const char *what)
{
	const char *from = data;

	while (size) {
		ssize_t written = write(fd, from, size);

		if (written < 0)
			load_fail(what);
		from += written;
		size -= written;
	}
}

static pid_t fork_or_fail(void)
{
	pid_t pid = fork();

	if (pid < 0)
		load_fail("fork");
	return pid;
}

static void wait_for(pid_t pid, const char *what)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		load_fail(what);
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "load: %s: status %#x\n", what, status);
		exit(1);
	}
}

/* fork, execute this program once more (it ends at once), wait. */
void load_fork(const struct load_options *options, struct load_done *done)
{
	for (;;) {
		pid_t pid = fork_or_fail();

		if (!pid) {
			execl(options->self, "load", "--nothing", (char *)NULL);
			load_fail(options->self);
		}
		wait_for(pid, "forked child");
		done->forks++;
	}
}

/* Two processes hand a block to and fro; both directions count. */
void load_pipe(const struct load_options *options, struct load_done *done)
{
	int there[2], back[2];
	char block[4096] = { 0 };

	(void)options;
	if (pipe(there) || pipe(back))
		load_fail("pipe");
	if (!fork_or_fail()) {
		for (;;) {
			ssize_t got = read(there[0], block, sizeof(block));

			if (got <= 0)
				load_fail("pipe");
			load_write(back[1], block, got, "pipe");
		}
	}
	for (;;) {
		size_t got = 0;

		load_write(there[1], block, sizeof(block), "pipe");
		while (got < sizeof(block)) {
			ssize_t more = read(back[0], block + got, sizeof(block) - got);

			if (more <= 0)
				load_fail("pipe");
			got += more;
		}
		done->pipe_bytes += 2 * sizeof(block);
	}
}

/* Compress this program's file, over and over; what gzip took off the pipe counts. */
void load_gzip(const struct load_options *options, struct load_done *done)
{
	static char block[4096];

	for (;;) {
		int in = open(options->self, O_RDONLY | O_CLOEXEC);
		int feed[2];
		ssize_t got;
		pid_t pid;

		if (in < 0 || pipe2(feed, O_CLOEXEC))
			load_fail(options->self);
		pid = fork_or_fail();
		if (!pid) {
			int null = open("/dev/null", O_WRONLY);

			if (null < 0 || dup2(feed[0], 0) < 0 || dup2(null, 1) < 0)
				load_fail("gzip's pipes");
			execlp("gzip", "gzip", "-c", (char *)NULL);
			execlp("busybox", "gzip", "-c", (char *)NULL);
			load_fail("gzip");
		}
		close(feed[0]);
		while ((got = read(in, block, sizeof(block))) > 0) {
			load_write(feed[1], block, got, "gzip");
			done->gzip_bytes += got;
		}
		close(in);
		close(feed[1]);
		wait_for(pid, "gzip");
	}
}

/* Write through to the disk, read back and compare; what was written counts. */
void load_disk(const struct load_options *options, struct load_done *done)
{
	static char out[BLOCK], in[BLOCK];
	struct stat st;
	char path[4096];
	int fd;

	if (stat(options->disk, &st))
		load_fail(options->disk);
	if (S_ISBLK(st.st_mode))
		snprintf(path, sizeof(path), "%s", options->disk);
	else
		snprintf(path, sizeof(path), "%s/load.%d", options->disk, getpid());
	for (unsigned int round = 0;; round++) {
		fd = open(path, O_RDWR | O_CREAT | O_SYNC, 0600);
		if (fd < 0)
			load_fail(path);
		for (int i = 0; i < DISK_BLOCKS; i++) {
			memset(out, round + i, sizeof(out));
			load_write(fd, out, sizeof(out), path);
			if (pread(fd, in, sizeof(in), (off_t)i * BLOCK) != BLOCK ||
			    memcmp(in, out, BLOCK)) {
				fprintf(stderr, "load: %s: read back something else\n", path);
				exit(1);
			}
			done->disk_bytes += sizeof(out);
		}
		if (fsync(fd))
			load_fail(path);
		close(fd);
		if (!S_ISBLK(st.st_mode) && unlink(path))
			load_fail(path);
	}
}

/*
 * Write to a UART; its transmit interrupts are the point, one for each 16 bytes at most. An
 * emulated UART sends at once, whatever the speed: without pauses it would leave the CPU
 * little time for the other workers.
 */
void load_serial(const struct load_options *options, struct load_done *done)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	static char line[128];
	struct termios mode;
	int fd = open(options->serial, O_RDWR | O_NOCTTY);

	if (fd < 0 || tcgetattr(fd, &mode))
		load_fail(options->serial);
	cfmakeraw(&mode);
	cfsetspeed(&mode, B115200);
	if (tcsetattr(fd, TCSANOW, &mode))
		load_fail(options->serial);
	memset(line, 'U', sizeof(line));
	for (;;) {
		load_write(fd, line, sizeof(line), options->serial);
		if (tcdrain(fd))
			load_fail(options->serial);
		done->serial_bytes += sizeof(line);
		nanosleep(&pause, NULL);
	}
}

/* One interrupts-off section after the other, in each of the contexts in turn. */
void load_irqoff(const struct load_options *options, struct load_done *done)
{
	struct timespec gap = { options->gap_ms / 1000, options->gap_ms % 1000 * 1000000L };
	int fd = open("/proc/hog", O_WRONLY);

	(void)done;
	if (fd < 0)
		load_fail("/proc/hog (is hog.ko loaded?)");
	for (;;) {
		for (const char *name = options->irqoff; name;) {
			const char *comma = strchr(name, ',');
			size_t length = comma ? (size_t)(comma - name) : strlen(name);

			load_write(fd, name, length, "/proc/hog");
			nanosleep(&gap, NULL);
			name = comma ? comma + 1 : NULL;
		}
	}
}
