// SPDX-License-Identifier: GPL-2.0-only
/* Two rings, sizes, lengths. */
#include "fifo_check.h"

static void test_two_rings(void)
{
	int fd, fd2;
	char c;

	CHECK_EQ(rt("linux create 3 100"), 0);
	fd = dev(3, O_RDWR | O_NONBLOCK);
	fd2 = dev(3, O_RDWR | O_NONBLOCK);
	CHECK_EQ(write(fd, "command", 7), 7);
	CHECK_ERR(read(fd, &c, 1), EAGAIN);	/* nobody reads back what Linux wrote */
	CHECK_ERR(read(fd2, &c, 1), EAGAIN);
	CHECK_EQ(rt("linux put 3 answer"), 6);
	rt_expect("linux", 3, "command");
	CHECK_EQ(rt("linux get 3 1"), -EAGAIN);
	expect(fd2, "ans");			/* any number of openers share an end */
	expect(fd, "wer");
	CHECK_ERR(read(fd, &c, 1), EAGAIN);
}

static void test_sizes(void)
{
	static const int sizes[] = { 1, 2, 3, 7, 64, 100, 4000, 4095, 4096, 4097, 60000 };
	static char bytes[65536];
	unsigned int i;
	int fd, n, k;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		CHECK_EQ(rt("linux create 0 %d", sizes[i]), 0);
		fd = dev(0, O_RDWR | O_NONBLOCK);
		for (k = 0; k < 3; k++) {	/* through the wrap */
			CHECK_EQ(rt("task fill 0 %d", sizes[i] + 1), -ENOSPC);
			CHECK_EQ(rt("task fill 0 %d", sizes[i]), sizes[i]);
			CHECK_EQ(rt("task fill 0 1"), -ENOSPC);
			CHECK_EQ(ioctl(fd, FIONREAD, &n), 0);
			CHECK_EQ(n, sizes[i]);
			CHECK_EQ(read(fd, bytes, sizeof(bytes)), sizes[i]);
			for (n = 0; n < sizes[i]; n++)
				CHECK_EQ(bytes[n], 'x');

			for (n = 0; n < sizes[i]; )
				n += write(fd, bytes, 1);
			CHECK_ERR(write(fd, bytes, 1), EAGAIN);
			CHECK_EQ(rt("task get 0 %d", sizes[i] + 1), -EAGAIN);
			CHECK_EQ(rt("task get 0 %d", sizes[i]), sizes[i]);
		}
		close(fd);
		CHECK_EQ(rt("linux destroy 0"), 0);
	}
}

static void test_nonblocking_write(void)
{
	static char bytes[20000];
	int fd;

	CHECK_EQ(rt("linux create 0 10000"), 0);
	fd = dev(0, O_WRONLY | O_NONBLOCK);
	CHECK_EQ(write(fd, bytes, 0), 0);
	CHECK_EQ(write(fd, bytes, 9000), 9000);
	CHECK_ERR(write(fd, bytes, 1001), EAGAIN);	/* small ones are not split */
	CHECK_EQ(write(fd, bytes, 20000), 1000);	/* large ones are */
	CHECK_ERR(write(fd, bytes, 20000), EAGAIN);
	CHECK_EQ(rt("linux get 0 10000"), 10000);
	CHECK_EQ(write(fd, bytes, 4096), 4096);
}

static void test_access_modes(void)
{
	int fd;
	char c = 0;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDONLY);
	CHECK_ERR(write(fd, &c, 1), EBADF);
	CHECK_ERR(lseek(fd, 0, SEEK_SET), ESPIPE);
	CHECK_ERR(pread(fd, &c, 1, 0), ESPIPE);
	CHECK_ERR(ioctl(fd, 0x1234, 0), ENOTTY);
	CHECK_ERR(ioctl(fd, FIONREAD, NULL), EFAULT);
	CHECK_EQ(read(fd, &c, 0), 0);
	fd = dev(0, O_WRONLY);
	CHECK_ERR(read(fd, &c, 1), EBADF);
}

const struct test bytes_tests[] = {
	TEST(two_rings), TEST(sizes), TEST(nonblocking_write), TEST(access_modes),
	{}
};
