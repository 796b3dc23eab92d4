// SPDX-License-Identifier: GPL-2.0-only
/* Streams: nothing lost, nothing doubled, whatever Linux does. */
#include "fifo_check.h"

static int cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

/* The stream's RT timer goes to the last CPU, everything else to the first. */
static void stream(const char *command)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpus() - 1, &set);
	CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
	CHECK_EQ(rt("%s", command), 0);
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

static uint32_t rnd(uint32_t below)
{
	static uint32_t seed = 1997;

	seed = seed * 1664525 + 1013904223;
	return (uint64_t)(seed >> 8) * below >> 24;
}

#define STREAM 300000

static void test_stream_out(void)
{
	uint8_t bytes[3000];
	uint32_t k = 0;
	int fd, n, i;

	CHECK_EQ(rt("linux create 0 4000"), 0);
	fd = dev(0, O_RDONLY);
	stream("out 0 700 400 300000");
	while (k < STREAM) {
		n = read(fd, bytes, 1 + rnd(3000));
		CHECK(n > 0);
		for (i = 0; i < n; i++)
			CHECK_EQ(bytes[i], stream_byte(k + i));
		k += n;
		if (rnd(4) == 0) {
			int ret = rt("linux resize 0 %d", 800 + rnd(10000));

			CHECK(ret == 0 || ret == -ENOSPC);
		}
	}
	CHECK_EQ(rt("streamed"), STREAM);
	CHECK_EQ(ioctl(fd, FIONREAD, &n), 0);
	CHECK_EQ(n, 0);
}

static void test_stream_in(void)
{
	uint8_t bytes[3000];
	uint32_t k = 0;
	double until;
	int fd, n, i;

	CHECK_EQ(rt("linux create 0 4000"), 0);
	fd = dev(0, O_WRONLY);
	stream("in 0 700 400 300000");
	while (k < STREAM) {
		n = 1 + rnd(3000);
		if (n > (int)(STREAM - k))
			n = STREAM - k;
		for (i = 0; i < n; i++)
			bytes[i] = stream_byte(k + i);
		CHECK_EQ(write(fd, bytes, n), n);
		k += n;
		if (rnd(4) == 0) {
			int ret = rt("linux resize 0 %d", 800 + rnd(10000));

			CHECK(ret == 0 || ret == -ENOSPC);
		}
	}
	until = now() + 10;
	while ((n = rt("streamed")) != STREAM) {
		CHECK(n >= 0);		/* -1: a byte was wrong */
		CHECK(now() < until);
		nap(0.01);
	}
}

/* Readers that are killed at any moment lose only what they had already taken. */
static void read_on(int fd)
{
	uint8_t bytes[500];

	while (read(fd, bytes, 1 + rnd(500)) > 0)
		;
}

static void test_killed_readers(void)
{
	static uint8_t bytes[STREAM];
	uint32_t k = 0, from;
	int fd, n, round;
	bool over;

	CHECK_EQ(rt("linux create 0 4000"), 0);
	fd = dev(0, O_RDONLY);
	stream("out 0 100 300 300000");
	for (round = 0; round < 20; round++) {
		pid_t pid = child(read_on, fd);

		nap(0.002 * rnd(5));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	CHECK(rt("streamed") < STREAM - 1000);
	/* The first is where the killed ones left off; from there on, all of it. */
	do {
		n = read(fd, bytes + k, STREAM - k);
		CHECK(n > 0);
		k += n;
		over = rt("streamed") == STREAM;
		CHECK_EQ(ioctl(fd, FIONREAD, &n), 0);
	} while (n || !over);
	for (from = STREAM - k; k; k--)
		CHECK_EQ(bytes[k - 1], stream_byte(from + k - 1));
}

/* A slow reader of a FIFO that is overwritten: each byte was read, or counted as lost. */
static void test_stream_overwrite(void)
{
	static uint8_t bytes[4000];
	uint32_t k = 0;
	int fd, n;
	bool all;

	CHECK_EQ(rt("linux create 0 4000"), 0);
	fd = dev(0, O_RDONLY);
	stream("overstream 0 1000 100 3000000");
	do {
		n = read(fd, bytes, 1 + rnd(4000));
		CHECK(n > 0);
		k += n;
		if (rnd(10) == 0) {
			int ret = rt("linux resize 0 %d", 3500 + rnd(1000));

			CHECK(ret == 0 || ret == -ENOSPC);
			/* Five buffers' worth: some is lost, however fast the machine. */
			nap(0.002);
		}
		/* In this order: the last piece may come between the two. */
		all = rt("streamed") == 3000000;
		CHECK_EQ(ioctl(fd, FIONREAD, &n), 0);
	} while (n || !all);
	CHECK(stats_of(fd).lost_bytes > 0);
	CHECK_EQ(k + stats_of(fd).lost_bytes, 3000000);
	/* The last thing read is the end of the stream. */
	CHECK_EQ(rt("overstream 0 3000 50 3000"), 0);
	while (rt("streamed") < 3000)
		nap(0.001);
	CHECK_EQ(read(fd, bytes, 4000), 3000);
	for (n = 0; n < 3000; n++)
		CHECK_EQ(bytes[n], stream_byte(n));
}

/* Created, used from RT code and destroyed again and again while both sides go on. */
static void churn(int fd)
{
	char bytes[100];
	double until = now() + 1;

	(void)fd;
	while (now() < until) {
		int f = open("/dev/rtf0", O_RDWR | O_NONBLOCK | O_CLOEXEC);

		if (f < 0) {
			CHECK_EQ(errno, ENODEV);
			continue;
		}
		while (read(f, bytes, sizeof(bytes)) > 0 || errno == EAGAIN)
			if (write(f, bytes, sizeof(bytes)) < 0 && errno == EPIPE)
				break;
		close(f);
	}
}

static void test_churn(void)
{
	pid_t pid = child(churn, -1);
	int rounds;

	stream("out 0 64 300 1000000000");
	for (rounds = 0; rounds < 100; rounds++) {
		CHECK_EQ(rt("linux create 0 %d", 1 + rnd(5000)), 0);
		CHECK_EQ(rt("linux handler 0 get"), 0);
		nap(0.001);
		rt("linux resize 0 %d", 1 + rnd(5000));
		CHECK_EQ(rt("linux destroy 0"), 0);
	}
	CHECK_EQ(rt("stop"), 0);
	joined(pid);
	CHECK(rt("streamed") > 1000);	/* the RT side did get through meanwhile */
}

const struct test stream_tests[] = {
	TEST(stream_out), TEST(stream_in), TEST(killed_readers), TEST(stream_overwrite),
	TEST(churn),
	{}
};
