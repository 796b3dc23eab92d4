// SPDX-License-Identifier: GPL-2.0-only
/* Resize. */
#include "fifo_check.h"

static void test_resize(void)
{
	static char bytes[MAX_SIZE];
	int fd, i;

	CHECK_EQ(rt("linux resize 0 100"), -ENODEV);
	CHECK_EQ(rt("linux resize %d 100", NFIFOS), -ENODEV);
	CHECK_EQ(rt("linux create 0 10"), 0);
	CHECK_EQ(rt("linux resize 0 0"), -EINVAL);
	CHECK_EQ(rt("linux resize 0 -1"), -EINVAL);
	CHECK_EQ(rt("linux resize 0 %d", MAX_SIZE + 1), -EINVAL);
	fd = dev(0, O_RDWR | O_NONBLOCK);

	/* Through all sizes with data in both directions. */
	CHECK_EQ(rt("task put 0 out"), 3);
	CHECK_EQ(write(fd, "in", 2), 2);
	CHECK_EQ(rt("linux resize 0 2"), -ENOSPC);
	CHECK_EQ(rt("task put 0 1234567"), 7);	/* nothing has changed */
	CHECK_EQ(rt("task put 0 8"), -ENOSPC);
	expect(fd, "out1234");
	CHECK_EQ(rt("linux resize 0 3"), 0);
	CHECK_EQ(rt("task fill 0 1"), -ENOSPC);
	CHECK_EQ(rt("linux resize 0 %d", MAX_SIZE), 0);
	for (i = 0; i < 40; i++)
		CHECK_EQ(rt("task fill 0 60000"), 60000);
	expect(fd, "567");
	CHECK_EQ(read(fd, bytes, sizeof(bytes)), 40 * 60000);
	for (i = 0; i < 40 * 60000; i++)
		CHECK_EQ(bytes[i], 'x');
	CHECK_EQ(rt("linux resize 0 2"), 0);
	CHECK_EQ(rt("linux resize 0 1"), -ENOSPC);
	rt_expect("task", 0, "in");
	CHECK_EQ(rt("linux resize 0 1"), 0);
	CHECK_EQ(rt("task put 0 x"), 1);
	CHECK_EQ(rt("task put 0 y"), -ENOSPC);
	expect(fd, "x");
}

static void test_resize_wakes_writer(void)
{
	int fd;
	pid_t pid;

	CHECK_EQ(rt("linux create 0 120"), 0);
	fd = dev(0, O_WRONLY);
	write_60(fd);
	CHECK_EQ(write(fd, "x", 1), 1);
	pid = child(write_60, fd);
	nap(0.05);
	CHECK(still_there(pid));
	CHECK_EQ(rt("linux resize 0 121"), 0);
	joined(pid);
	CHECK_EQ(rt("irq get 0 121"), 121);
}

const struct test resize_tests[] = {
	TEST(resize), TEST(resize_wakes_writer),
	{}
};
