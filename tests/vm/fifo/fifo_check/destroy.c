// SPDX-License-Identifier: GPL-2.0-only
/* Destroy. */
#include "fifo_check.h"

static void read_eof(int fd)
{
	char c;

	CHECK_EQ(read(fd, &c, 1), 0);
	CHECK_EQ(read(fd, &c, 1), 0);
}

static void write_epipe(int fd)
{
	static char bytes[100];

	CHECK_ERR(write(fd, bytes, 40), EPIPE);
}

static void poll_hup(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	CHECK_EQ(poll(&p, 1, 5000), 1);
	CHECK(p.revents & POLLHUP);
}

static void test_destroy_wakes(void)
{
	int fd, poll_fd;
	pid_t reader, writer, poller;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDWR);
	poll_fd = dev(0, O_RDONLY);
	write_60(fd);
	CHECK_EQ(write(fd, "0123456789", 10), 10);
	reader = child(read_eof, fd);
	writer = child(write_epipe, fd);
	poller = child(poll_hup, poll_fd);
	nap(0.1);
	CHECK(still_there(reader) && still_there(writer) && still_there(poller));
	CHECK_EQ(rt("linux destroy 0"), 0);
	joined(reader);
	joined(writer);
	joined(poller);
	write_epipe(fd);
}

static void test_destroy_drains(void)
{
	int fd, fd2;
	char c;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDWR);
	CHECK_EQ(rt("task put 0 last words"), 10);
	CHECK_EQ(rt("linux destroy 0"), 0);
	CHECK_EQ(rt("task put 0 x"), -ENODEV);
	CHECK_EQ(rt("irq get 0 1"), -ENODEV);
	CHECK_ERR(open("/dev/rtf0", O_RDWR), ENODEV);

	/* The number is free, and the new FIFO is not the old one. */
	CHECK_EQ(rt("linux create 0 50"), 0);
	fd2 = dev(0, O_RDWR | O_NONBLOCK);
	CHECK_EQ(rt("task put 0 new"), 3);
	expect(fd, "last words");
	CHECK_EQ(read(fd, &c, 1), 0);
	CHECK_ERR(write(fd, &c, 1), EPIPE);
	expect(fd2, "new");
	CHECK_ERR(read(fd2, &c, 1), EAGAIN);
}

const struct test destroy_tests[] = {
	TEST(destroy_wakes), TEST(destroy_drains),
	{}
};
