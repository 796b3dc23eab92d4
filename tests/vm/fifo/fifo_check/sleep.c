// SPDX-License-Identifier: GPL-2.0-only
/* Sleeping and waking. */
#include "fifo_check.h"

static void read_hello(int fd)
{
	expect(fd, "hello");
}

static void test_blocking_read(void)
{
	static const char *const all[] = { "linux", "irq", "task" };
	int fd, i;
	pid_t pid;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDONLY);
	for (i = 0; i < 3; i++) {
		pid = child(read_hello, fd);
		nap(0.05);
		CHECK(still_there(pid));
		CHECK_EQ(rt("%s put 0 hello", all[i]), 5);
		joined(pid);
	}
}

static void test_blocking_write(void)
{
	static const char *const all[] = { "linux", "irq", "task" };
	int fd, i;
	pid_t pid;

	for (i = 0; i < 3; i++) {
		CHECK_EQ(rt("linux create 0 120"), 0);
		fd = dev(0, O_WRONLY);
		write_60(fd);
		CHECK_EQ(write(fd, "x", 1), 1);
		pid = child(write_60, fd);
		nap(0.05);
		CHECK(still_there(pid));
		CHECK_EQ(rt("%s get 0 1", all[i]), 1);
		joined(pid);
		CHECK_EQ(rt("%s get 0 120", all[i]), 120);
		close(fd);
		CHECK_EQ(rt("linux destroy 0"), 0);
	}
}

/* A waiter for little must not wait for as much as another one. */
static void test_two_writers(void)
{
	pid_t large, small;
	int fd;

	CHECK_EQ(rt("linux create 0 120"), 0);
	fd = dev(0, O_WRONLY);
	write_60(fd);
	write_60(fd);
	large = child(write_60, fd);
	nap(0.05);
	small = child(write_10, fd);
	nap(0.05);
	CHECK(still_there(large) && still_there(small));
	CHECK_EQ(rt("irq get 0 10"), 10);
	joined(small);
	CHECK(still_there(large));
	CHECK_EQ(rt("irq get 0 59"), 59);
	nap(0.05);
	CHECK(still_there(large));
	CHECK_EQ(rt("irq get 0 1"), 1);
	joined(large);
	CHECK_EQ(rt("irq get 0 120"), 120);
}

/* One long write through a short FIFO: in order, and all of it. */
static void write_stream(int fd)
{
	static uint8_t bytes[100000];
	uint32_t k;

	for (k = 0; k < sizeof(bytes); k++)
		bytes[k] = stream_byte(k);
	CHECK_EQ(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
}

static void test_long_write(void)
{
	uint32_t k = 0;
	int fd, i;
	pid_t pid;

	CHECK_EQ(rt("linux create 0 1000"), 0);
	fd = dev(0, O_WRONLY);
	pid = child(write_stream, fd);
	while (k < 100000) {
		if (rt("irq get 0 250") != 250)
			continue;
		for (i = 0; i < 250; i++)
			CHECK_EQ((uint8_t)reply_data[i], stream_byte(k + i));
		k += 250;
	}
	joined(pid);
	CHECK_EQ(rt("linux get 0 1"), -EAGAIN);
}

static void test_many_sleepers(void)
{
	pid_t pids[20];
	int fd, i;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDONLY);
	for (i = 0; i < 20; i++)
		pids[i] = child(read_hello, fd);
	nap(0.1);
	/* Each put is for one of them, whichever; none may sleep on. */
	for (i = 0; i < 20; i++)
		while (rt("irq put 0 hello") != 5)
			nap(0.001);
	for (i = 0; i < 20; i++)
		joined(pids[i]);
}

static void poll_in(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	CHECK_EQ(poll(&p, 1, 5000), 1);
	CHECK_EQ(p.revents, POLLIN);
}

static void poll_out(int fd)
{
	struct pollfd p = { fd, POLLOUT, 0 };

	CHECK_EQ(poll(&p, 1, 5000), 1);
	CHECK_EQ(p.revents, POLLOUT);
}

static void test_poll(void)
{
	int fd;
	pid_t pid;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	CHECK_EQ(events(fd, POLLIN | POLLOUT), POLLOUT);
	CHECK_EQ(rt("irq put 0 x"), 1);
	CHECK_EQ(events(fd, POLLIN | POLLOUT), POLLIN | POLLOUT);
	expect(fd, "x");
	CHECK_EQ(events(fd, POLLIN), 0);

	/* Half of it is what a write may rely on. */
	write_60(fd);
	CHECK_EQ(events(fd, POLLOUT), 0);
	CHECK_EQ(rt("irq get 0 9"), 9);
	CHECK_EQ(events(fd, POLLOUT), 0);
	pid = child(poll_out, fd);
	nap(0.05);
	CHECK(still_there(pid));
	CHECK_EQ(rt("irq get 0 1"), 1);
	joined(pid);

	pid = child(poll_in, fd);
	nap(0.05);
	CHECK(still_there(pid));
	CHECK_EQ(rt("irq put 0 x"), 1);
	joined(pid);

	CHECK_EQ(rt("linux destroy 0"), 0);
	CHECK_EQ(events(fd, POLLIN | POLLOUT), POLLIN | POLLOUT | POLLHUP | POLLERR);
}

static void test_epoll(void)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET }, got;
	int fd, ep = epoll_create1(0), i;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDONLY | O_NONBLOCK);
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev), 0);
	CHECK_EQ(epoll_wait(ep, &got, 1, 0), 0);
	for (i = 0; i < 5; i++) {	/* each put is an edge, read or not */
		CHECK_EQ(rt("irq put 0 x"), 1);
		CHECK_EQ(epoll_wait(ep, &got, 1, 5000), 1);
		CHECK_EQ(got.events, EPOLLIN);
		CHECK_EQ(epoll_wait(ep, &got, 1, 20), 0);
	}
	expect(fd, "xxxxx");
}

static volatile int signals;

static void on_signal(int sig)
{
	(void)sig;
	signals++;
}

static void test_signal(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	static char bytes[300];
	int fd;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDWR);
	sigaction(SIGALRM, &act, NULL);
	ualarm(50000, 50000);
	CHECK_ERR(read(fd, bytes, 1), EINTR);
	CHECK_EQ(write(fd, bytes, 300), 100);	/* what was handed over by then */
	CHECK_ERR(write(fd, bytes, 1), EINTR);
	ualarm(0, 0);
	CHECK_EQ(rt("linux get 0 100"), 100);
}

static void test_sigio(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	int fd, i, had;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	sigaction(SIGIO, &act, NULL);
	CHECK_EQ(fcntl(fd, F_SETOWN, getpid()), 0);
	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC), 0);
	for (i = 0; i < 5; i++) {
		had = signals;
		CHECK_EQ(rt("irq put 0 x"), 1);
		nap(0.05);
		CHECK(signals > had);
	}
	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	CHECK_EQ(rt("irq put 0 x"), 1);	/* this one may still be announced */
	nap(0.05);
	had = signals;
	CHECK_EQ(rt("irq put 0 x"), 1);
	nap(0.05);
	CHECK_EQ(signals, had);
}

const struct test sleep_tests[] = {
	TEST(blocking_read), TEST(blocking_write), TEST(long_write), TEST(many_sleepers),
	TEST(two_writers), TEST(poll), TEST(epoll), TEST(signal), TEST(sigio),
	{}
};
