// SPDX-License-Identifier: GPL-2.0-only
/* Handlers. */
#include "fifo_check.h"

static void test_handler(void)
{
	char bytes[10];
	int fd;

	CHECK_EQ(rt("linux handler 0 count"), -ENODEV);
	CHECK_EQ(rt("linux handler %d count", NFIFOS), -ENODEV);
	CHECK_EQ(rt("linux create 0 10"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	CHECK_EQ(rt("calls"), 0);
	CHECK_EQ(rt("linux handler 0 count"), 0);
	CHECK_EQ(write(fd, "abc", 3), 3);
	CHECK_EQ(rt("calls"), 1);
	CHECK_EQ(rt("irq put 0 defg"), 4);
	CHECK_EQ(rt("calls"), 0);	/* the RT side's own business */
	expect(fd, "de");
	expect(fd, "fg");
	CHECK_EQ(rt("calls"), 2);
	CHECK_ERR(read(fd, bytes, 1), EAGAIN);	/* nothing moved */
	CHECK_EQ(write(fd, bytes, 0), 0);
	CHECK_EQ(rt("calls"), 0);
	CHECK_EQ(rt("linux handler 0 none"), 0);
	CHECK_EQ(write(fd, "abc", 3), 3);
	CHECK_EQ(rt("calls"), 0);

	CHECK_EQ(rt("linux handler 0 fail"), 0);
	CHECK_ERR(write(fd, "d", 1), ENOTUNIQ);	/* and yet it was written */
	CHECK_EQ(rt("linux put 0 x"), 1);
	CHECK_ERR(read(fd, bytes, 1), ENOTUNIQ);
	rt_expect("linux", 0, "abcabcd");
	CHECK_EQ(rt("calls"), 2);

	/* A command FIFO: the handler is the one that gets. */
	CHECK_EQ(rt("linux handler 0 get"), 0);
	CHECK_EQ(write(fd, "abc", 3), 3);
	CHECK_EQ(rt("inside"), 3);
	CHECK_EQ(rt("linux get 0 1"), -EAGAIN);
}

static void test_handler_inside(void)
{
	int fd;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	CHECK_EQ(rt("linux rthandler 0 1"), 0);
	CHECK_EQ(rt("linux watch 0 1"), 0);
	CHECK_EQ(rt("linux filter 0 1"), 0);
	CHECK_EQ(rt("linux handler 0 change"), 0);
	CHECK_EQ(write(fd, "abc", 3), 3);
	CHECK_EQ(rt("inside"), REFUSED_INSIDE_HANDLER);
	rt_expect("linux", 0, "abc");

	/* Each of them is still there. */
	rt("rtdata");
	rt("watched");
	rt("filtered");
	CHECK_EQ(rt("calls"), 1);
	CHECK_EQ(write(dev(0, O_WRONLY), "defg", 4), 4);
	CHECK_EQ(rt("rtdata"), 1);
	CHECK_EQ(rt("watched"), 100);
	CHECK_EQ(rt("filtered"), 4);
	CHECK_EQ(rt("calls"), 1);

	CHECK_EQ(rt("linux handler 0 count"), 0);
	CHECK_EQ(rt("linux filter 0 4"), 0);
	CHECK_EQ(write(fd, "hij", 3), 3);
	CHECK_EQ(rt("inside"), REFUSED_INSIDE_FILTER);
	CHECK_EQ(rt("rtdata"), 1);
	CHECK_EQ(rt("filtered"), 3);
	CHECK_EQ(rt("calls"), 1);
	rt_expect("linux", 0, "defghij");
}

static void write_one(int fd)
{
	CHECK_EQ(write(fd, "x", 1), 1);
}

static void test_handler_destroy(void)
{
	int fd;
	pid_t pid;

	CHECK_EQ(rt("linux create 0 10"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	CHECK_EQ(rt("linux put 0 left"), 4);
	CHECK_EQ(rt("linux handler 0 slow"), 0);
	pid = child(write_one, fd);
	while (rt("calls") == 0)
		nap(0.002);
	/* It sleeps for 300 ms in there; destroy has to wait for that. */
	CHECK_EQ(rt("linux destroy 0"), 0);
	CHECK_EQ(rt("inside"), 1);
	joined(pid);
	expect(fd, "left");
	CHECK_EQ(rt("calls"), 0);
}

const struct test handler_tests[] = {
	TEST(handler), TEST(handler_inside), TEST(handler_destroy),
	{}
};
