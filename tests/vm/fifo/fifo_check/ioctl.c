// SPDX-License-Identifier: GPL-2.0-only
/* Ioctls, fsync. */
#include "fifo_check.h"

static void test_stats(void)
{
	struct rtf_stats s;
	int fd, fd2;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	fd2 = dev(0, O_WRONLY);
	CHECK_EQ(write(fd, "in", 2), 2);
	CHECK_EQ(rt("task fill 0 70"), 70);
	CHECK_EQ(rt("task fill 0 31"), -ENOSPC);
	expect(fd, "xxx");
	s = stats_of(fd);
	CHECK_EQ(s.size, 100);
	CHECK_EQ(s.used_in, 2);
	CHECK_EQ(s.high_in, 2);
	CHECK_EQ(s.used_out, 67);
	CHECK_EQ(s.high_out, 70);
	CHECK_EQ(s.openers, 2);
	CHECK_EQ(s.drops, 1);
	CHECK_EQ(s.lost_bytes, 0);
	CHECK_ERR(ioctl(fd, RTF_IOC_STATS, NULL), EFAULT);
	CHECK_EQ(ioctl(fd, RTF_IOC_FLUSH), 67);
	CHECK_EQ(ioctl(fd, RTF_IOC_FLUSH), 0);
	CHECK_EQ(stats_of(fd2).used_out, 0);
	CHECK_EQ(stats_of(fd2).used_in, 2);
	CHECK_ERR(ioctl(fd2, RTF_IOC_FLUSH), EBADF);
}

static void unprivileged(int fd)
{
	uint32_t size = 300;

	CHECK_EQ(setgroups(0, NULL), 0);
	CHECK_EQ(setgid(65534), 0);
	CHECK_EQ(setuid(65534), 0);
	CHECK_ERR(ioctl(fd, RTF_IOC_RESIZE, &size), EPERM);
	CHECK_ERR(open("/dev/rtf0", O_RDONLY), EACCES);
}

static void test_resize_ioctl(void)
{
	uint32_t size = 200;
	int fd;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	CHECK_EQ(rt("task put 0 abc"), 3);
	CHECK_EQ(ioctl(fd, RTF_IOC_RESIZE, &size), 0);
	CHECK_EQ(stats_of(fd).size, 200);
	size = 2;
	CHECK_ERR(ioctl(fd, RTF_IOC_RESIZE, &size), ENOSPC);
	size = 0;
	CHECK_ERR(ioctl(fd, RTF_IOC_RESIZE, &size), EINVAL);
	size = MAX_SIZE + 1;
	CHECK_ERR(ioctl(fd, RTF_IOC_RESIZE, &size), EINVAL);
	size = UINT32_MAX;
	CHECK_ERR(ioctl(fd, RTF_IOC_RESIZE, &size), EINVAL);
	CHECK_ERR(ioctl(fd, RTF_IOC_RESIZE, NULL), EFAULT);
	joined(child(unprivileged, fd));
	CHECK_EQ(stats_of(fd).size, 200);
	expect(fd, "abc");
	CHECK_EQ(rt("linux destroy 0"), 0);
	size = 100;
	CHECK_ERR(ioctl(fd, RTF_IOC_RESIZE, &size), ENODEV);
}

static void read_20(int fd)
{
	char bytes[50];

	CHECK_EQ(read(fd, bytes, 50), 20);
}

static void test_lowat(void)
{
	uint32_t lowat = 20;
	int fd, other;
	pid_t pid;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDONLY);
	other = dev(0, O_RDONLY | O_NONBLOCK);
	CHECK_EQ(ioctl(fd, RTF_IOC_LOWAT, &lowat), 0);
	pid = child(read_20, fd);
	CHECK_EQ(rt("irq fill 0 19"), 19);
	nap(0.05);
	CHECK(still_there(pid));
	CHECK_EQ(events(fd, POLLIN), 0);
	CHECK_EQ(events(other, POLLIN), POLLIN);	/* it is this file's mark alone */
	CHECK_EQ(rt("irq fill 0 1"), 1);
	joined(pid);
	CHECK_EQ(rt("irq put 0 abc"), 3);
	expect(fd, "ab");				/* no more was asked for */
	CHECK_EQ(events(fd, POLLIN), 0);
	lowat = 1;
	CHECK_EQ(ioctl(fd, RTF_IOC_LOWAT, &lowat), 0);
	CHECK_EQ(events(fd, POLLIN), POLLIN);
	lowat = 0;
	CHECK_ERR(ioctl(fd, RTF_IOC_LOWAT, &lowat), EINVAL);
	lowat = 101;
	CHECK_ERR(ioctl(fd, RTF_IOC_LOWAT, &lowat), EINVAL);
	CHECK_ERR(ioctl(fd, RTF_IOC_LOWAT, NULL), EFAULT);

	/* A mark above the size that the FIFO has become is the size. */
	lowat = 100;
	CHECK_EQ(ioctl(fd, RTF_IOC_LOWAT, &lowat), 0);
	CHECK_EQ(rt("linux resize 0 10"), 0);
	CHECK_EQ(rt("irq fill 0 9"), 9);
	CHECK_EQ(events(fd, POLLIN), POLLIN);
}

static void read_50(int fd)
{
	char bytes[100];

	CHECK_EQ(read(fd, bytes, 100), 50);
}

static void poll_50(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	CHECK_EQ(poll(&poll_fd, 1, 5000), 1);
}

/* A sleeper that wants more than the FIFO can hold from now on is content with a full one. */
static void shrink_while(void (*sleep)(int fd))
{
	uint32_t lowat = 80, size = 50;
	pid_t sleeper;
	int fd;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDONLY);
	CHECK_EQ(ioctl(fd, RTF_IOC_LOWAT, &lowat), 0);
	sleeper = child(sleep, fd);
	nap(0.05);
	CHECK_EQ(ioctl(fd, RTF_IOC_RESIZE, &size), 0);
	nap(0.05);
	CHECK(still_there(sleeper));
	CHECK_EQ(rt("irq fill 0 50"), 50);
	joined(sleeper);
	close(fd);
	CHECK_EQ(rt("linux destroy 0"), 0);
}

static void test_resize_wakes_reader(void)
{
	shrink_while(read_50);
	shrink_while(poll_50);
}

static int started[2];		/* a pipe: the child is about to do it */

static void sync_it(int fd)
{
	CHECK_EQ(write(started[1], "", 1), 1);
	CHECK_EQ(fsync(fd), 0);
}

static void sync_epipe(int fd)
{
	CHECK_ERR(fsync(fd), EPIPE);
}

static void test_fsync(void)
{
	pid_t pid, pid2;
	int fd, i;
	char c;

	CHECK_EQ(rt("linux create 0 120"), 0);
	fd = dev(0, O_WRONLY);
	CHECK_EQ(pipe(started), 0);
	CHECK_EQ(fsync(fd), 0);
	for (i = 0; i < 5; i++) {
		write_10(fd);
		pid = child(sync_it, fd);
		CHECK_EQ(read(started[0], &c, 1), 1);
		nap(0.1);
		write_10(fd);		/* not its business */
		CHECK_EQ(rt("irq get 0 9"), 9);
		nap(0.01);
		CHECK(still_there(pid));
		pid2 = child(sync_it, fd);
		CHECK_EQ(read(started[0], &c, 1), 1);
		nap(0.1);
		CHECK_EQ(rt("irq get 0 1"), 1);
		joined(pid);
		CHECK(still_there(pid2));
		CHECK_EQ(rt("irq flush 0"), 10);
		joined(pid2);
	}
	write_10(fd);
	pid = child(sync_epipe, fd);
	nap(0.05);
	CHECK(still_there(pid));
	CHECK_EQ(rt("linux destroy 0"), 0);
	joined(pid);
}

const struct test ioctl_tests[] = {
	TEST(resize_wakes_reader), TEST(stats), TEST(resize_ioctl), TEST(lowat), TEST(fsync),
	{}
};
