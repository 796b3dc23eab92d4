/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of fifo_check share: checks, the RT side's commands, processes. */
#ifndef FIFO_CHECK_H
#define FIFO_CHECK_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../../../kernel/include/uapi/tactus/fifo.h"

#define MAX_SIZE (16 << 20)
#define NFIFOS 64

extern const char *test_name;

/* A case. Each file has a table of its own, SUBJECT_tests, that ends with an empty one. */
struct test {
	const char *name;
	void (*fn)(void);
};

#define TEST(name) { #name, test_##name }

extern const struct test create_tests[], bytes_tests[], sleep_tests[], destroy_tests[], handler_tests[], resize_tests[],
	ioctl_tests[], memory_tests[], stream_tests[], modules_tests[], records_tests[], claim_tests[];

#define FAIL(...)							\
	do {								\
		printf("not ok %s: line %d: ", test_name, __LINE__);	\
		printf(__VA_ARGS__);					\
		printf("\n");						\
		fflush(stdout);						\
		_exit(1);						\
	} while (0)

#define CHECK(cond)							\
	do {								\
		if (!(cond))						\
			FAIL("%s", #cond);				\
	} while (0)

#define CHECK_EQ(got, want)						\
	do {								\
		long long got_ = (got), want_ = (want);			\
									\
		if (got_ != want_)					\
			FAIL("%s is %lld, not %s", #got, got_, #want);	\
	} while (0)

/* A system call that must fail, and why. */
#define CHECK_ERR(call, err)						\
	do {								\
		long long ret_ = (call);				\
		int errno_ = errno;					\
									\
		if (ret_ != -1)						\
			FAIL("%s is %lld, not -1", #call, ret_);	\
		if (errno_ != (err))					\
			FAIL("%s: %s, not %s", #call, strerror(errno_), #err); \
	} while (0)

/* The RT side. */

/* Each file of the program has its own connection. */
static int control_fd = -1;
static char reply[80000];
static int reply_bytes;		/* how many of reply_data are there */
static char *reply_data;

static inline int rt(const char *format, ...)
{
	static char line[70000];
	va_list args;
	int len, ret;

	if (control_fd < 0)
		control_fd = open("/proc/fifo_test", O_RDWR | O_CLOEXEC);
	if (control_fd < 0)
		FAIL("/proc/fifo_test: %s", strerror(errno));
	va_start(args, format);
	len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (write(control_fd, line, len) != len)
		FAIL("'%.40s': %s", line, strerror(errno));
	len = read(control_fd, reply, sizeof(reply) - 1);
	if (len <= 0)
		FAIL("'%.40s': no reply", line);
	reply[len] = 0;
	ret = strtol(reply, &reply_data, 10);
	reply_data++;
	reply_bytes = reply + len - reply_data;
	return ret;
}

/* The changes to a FIFO that are refused from inside of its own functions, as "inside" tells them. */
#define REFUSED_INSIDE_HANDLER 0xf	/* and watch: handler, watch, RT handler, destroy */
#define REFUSED_INSIDE_FILTER 0x7f	/* filter, resize, record, too */

/* Get @n bytes in some context and compare them. */
static inline void rt_expect(const char *context, int fifo, const char *text)
{
	int n = strlen(text);

	CHECK_EQ(rt("%s get %d %d", context, fifo, n), n);
	CHECK_EQ(reply_bytes, n);
	if (memcmp(reply_data, text, n))
		FAIL("the RT side got '%.*s', not '%s'", n, reply_data, text);
}

/* The Linux side. */

static inline int dev(int fifo, int flags)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/rtf%d", fifo);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		FAIL("%s: %s", path, strerror(errno));
	return fd;
}

static inline void expect(int fd, const char *text)
{
	char bytes[1000];
	int n = strlen(text);

	CHECK_EQ(read(fd, bytes, n), n);
	if (memcmp(bytes, text, n))
		FAIL("read '%.*s', not '%s'", n, bytes, text);
}

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static inline void nap(double seconds)
{
	struct timespec t = { (int)seconds, (seconds - (int)seconds) * 1e9 };

	nanosleep(&t, NULL);
}

/* A process that does something which must take until the parent acts. */
static inline pid_t child(void (*fn)(int fd), int fd)
{
	pid_t pid = fork();

	if (!pid) {
		control_fd = -1;
		fn(fd);
		_exit(0);
	}
	return pid;
}

static inline bool still_there(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == 0;
}

static inline void joined(pid_t pid)
{
	int status;
	double until = now() + 10;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (now() > until) {
			kill(pid, SIGKILL);
			FAIL("a process was not woken up");
		}
		nap(0.005);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		_exit(1);	/* it has said why, or crashed */
}

/* For child(): writes that wait for room. */
static inline void write_60(int fd)
{
	char bytes[60];

	memset(bytes, 'w', sizeof(bytes));
	CHECK_EQ(write(fd, bytes, 60), 60);
}

static inline void write_10(int fd)
{
	CHECK_EQ(write(fd, "0123456789", 10), 10);
}

static inline uint8_t stream_byte(uint32_t k)
{
	return k ^ k >> 8 ^ k >> 16;
}

static inline short events(int fd, short asked)
{
	struct pollfd p = { fd, asked, 0 };

	CHECK(poll(&p, 1, 0) >= 0);
	return p.revents;
}

static inline struct rtf_stats stats_of(int fd)
{
	struct rtf_stats stats;

	memset(&stats, 0xee, sizeof(stats));
	CHECK_EQ(ioctl(fd, RTF_IOC_STATS, &stats), 0);
	return stats;
}

#endif
