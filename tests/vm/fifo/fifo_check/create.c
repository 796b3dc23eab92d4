// SPDX-License-Identifier: GPL-2.0-only
/* Nodes, creation, numbers. */
#include "fifo_check.h"

static void test_nodes(void)
{
	char path[32];
	struct stat st;
	int i;

	for (i = 0; i < NFIFOS; i++) {
		snprintf(path, sizeof(path), "/dev/rtf%d", i);
		CHECK_EQ(stat(path, &st), 0);
		CHECK(S_ISCHR(st.st_mode));
		CHECK_EQ(st.st_mode & 07777, 0660);
		CHECK_ERR(open(path, O_RDWR), ENODEV);
	}
	snprintf(path, sizeof(path), "/dev/rtf%d", NFIFOS);
	CHECK_ERR(stat(path, &st), ENOENT);
}

static void test_create(void)
{
	CHECK_EQ(rt("linux create 0 0"), -EINVAL);
	CHECK_EQ(rt("linux create 0 -1"), -EINVAL);
	CHECK_EQ(rt("linux create 0 %d", INT32_MIN), -EINVAL);
	CHECK_EQ(rt("linux create 0 %d", INT32_MAX), -EINVAL);
	CHECK_EQ(rt("linux create 0 %d", MAX_SIZE + 1), -EINVAL);
	CHECK_EQ(rt("linux create %d 100", NFIFOS), -ENODEV);
	CHECK_EQ(rt("linux create 4294967295 100"), -ENODEV);
	CHECK_ERR(open("/dev/rtf0", O_RDWR), ENODEV);

	CHECK_EQ(rt("linux create 0 %d", MAX_SIZE), 0);
	CHECK_EQ(rt("linux destroy 0"), 0);
	CHECK_EQ(rt("linux create %d 1", NFIFOS - 1), 0);
	CHECK_EQ(rt("linux destroy %d", NFIFOS - 1), 0);

	CHECK_EQ(rt("linux create 0 100"), 0);
	CHECK_EQ(rt("linux put 0 hello"), 5);
	CHECK_EQ(rt("linux create 0 200"), -EBUSY);
	CHECK_EQ(rt("linux fill 0 96"), -ENOSPC);	/* still 100 bytes, 5 of them used */
	CHECK_EQ(rt("linux fill 0 95"), 95);
	expect(dev(0, O_RDONLY), "hello");
	CHECK_EQ(rt("linux destroy 0"), 0);
	CHECK_EQ(rt("linux destroy 0"), -ENODEV);
	CHECK_EQ(rt("linux destroy %d", NFIFOS), -ENODEV);
	CHECK_EQ(rt("linux destroy 4294967295"), -ENODEV);
}

/* RT code must not manage FIFOs, and may always use them. */
static void test_contexts(void)
{
	static const char *const rt_contexts[] = { "irq", "task" };
	static const char *const all[] = { "linux", "irq", "task" };
	int i, fd;

	CHECK_EQ(rt("linux create 0 100"), 0);
	for (i = 0; i < 2; i++) {
		CHECK_EQ(rt("%s create 1 100", rt_contexts[i]), -EPERM);
		CHECK_EQ(rt("%s create 0 100", rt_contexts[i]), -EPERM);
		CHECK_EQ(rt("%s resize 0 200", rt_contexts[i]), -EPERM);
		CHECK_EQ(rt("%s handler 0 count", rt_contexts[i]), -EPERM);
		CHECK_EQ(rt("%s destroy 0", rt_contexts[i]), -EPERM);
		CHECK_EQ(rt("%s destroy 1", rt_contexts[i]), -EPERM);
	}
	CHECK_ERR(open("/dev/rtf1", O_RDWR), ENODEV);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	for (i = 0; i < 3; i++) {
		CHECK_EQ(rt("%s put 0 to linux", all[i]), 8);
		expect(fd, "to linux");
		CHECK_EQ(write(fd, "to rt", 5), 5);
		rt_expect(all[i], 0, "to rt");
		CHECK_EQ(rt("%s fill 0 101", all[i]), -ENOSPC);
		CHECK_EQ(rt("%s get 0 1", all[i]), -EAGAIN);
	}
	CHECK_EQ(rt("calls"), 0);	/* the handlers were refused */
}

static void test_rt_errors(void)
{
	static const char *const all[] = { "linux", "irq", "task" };
	int i;

	CHECK_EQ(rt("linux create 0 10"), 0);
	for (i = 0; i < 3; i++) {
		const char *c = all[i];

		CHECK_EQ(rt("%s fill 1 1", c), -ENODEV);
		CHECK_EQ(rt("%s get 1 1", c), -ENODEV);
		CHECK_EQ(rt("%s fill %d 1", c, NFIFOS), -ENODEV);
		CHECK_EQ(rt("%s get %d 1", c, NFIFOS), -ENODEV);
		CHECK_EQ(rt("%s get 4294967295 1", c), -ENODEV);
		CHECK_EQ(rt("%s null 0", c), -EINVAL);
		CHECK_EQ(rt("%s fill 0 -1", c), -EINVAL);
		CHECK_EQ(rt("%s get 0 -1", c), -EINVAL);
		CHECK_EQ(rt("%s get 0 %d", c, INT32_MIN), -EINVAL);
		CHECK_EQ(rt("%s get 0 %d", c, INT32_MAX), -EAGAIN);
		CHECK_EQ(rt("%s over 1 x", c), -ENODEV);
		CHECK_EQ(rt("%s over 0 eleven byte", c), -ENOSPC);
		CHECK_EQ(rt("%s peek 1 1", c), -ENODEV);
		CHECK_EQ(rt("%s peek 0 -1", c), -EINVAL);
		CHECK_EQ(rt("%s peek 0 1", c), -EAGAIN);
		CHECK_EQ(rt("%s flush 1", c), -ENODEV);
		CHECK_EQ(rt("%s flush 0", c), 0);
		CHECK_EQ(rt("%s used %d", c, NFIFOS), -ENODEV);
		CHECK_EQ(rt("%s free 1", c), -ENODEV);
		CHECK_EQ(rt("%s isempty 1", c), -ENODEV);
		CHECK_EQ(rt("%s fill 0 11", c), -ENOSPC);
		CHECK_EQ(rt("%s fill 0 0", c), 0);
		CHECK_EQ(rt("%s get 0 0", c), 0);
		/* The thesis's names know one failure only. */
		CHECK_EQ(rt("%s rtput 1 x", c), -1);
		CHECK_EQ(rt("%s rtget 1 1", c), -1);
		CHECK_EQ(rt("%s rtput 0 more than ten", c), -1);
		CHECK_EQ(rt("%s rtget 0 1", c), -1);
		CHECK_EQ(rt("%s rtget 0 -5", c), -1);
		CHECK_EQ(rt("%s rtput 0 ten bytes.", c), 10);
		CHECK_EQ(rt("%s rtput 0 x", c), -1);
		expect(dev(0, O_RDONLY), "ten bytes.");
	}
}

static void test_rt_looks(void)
{
	static const char *const all[] = { "linux", "irq", "task" };
	int i, fd;

	CHECK_EQ(rt("linux create 0 10"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	for (i = 0; i < 3; i++) {
		const char *c = all[i];

		CHECK_EQ(rt("%s free 0", c), 10);
		CHECK_EQ(rt("%s put 0 abc", c), 3);
		CHECK_EQ(rt("%s free 0", c), 7);
		expect(fd, "abc");
		CHECK_EQ(rt("%s isempty 0", c), 1);
		CHECK_EQ(write(fd, "12345", 5), 5);
		CHECK_EQ(rt("%s isempty 0", c), 0);
		CHECK_EQ(rt("%s used 0", c), 5);
		CHECK_EQ(rt("%s peek 0 3", c), 3);
		CHECK(reply_bytes == 3 && !memcmp(reply_data, "123", 3));
		CHECK_EQ(rt("%s peek 0 6", c), -EAGAIN);
		rt_expect(c, 0, "12");
		CHECK_EQ(rt("%s flush 0", c), 3);
		CHECK_EQ(rt("%s used 0", c), 0);
	}
}

static void test_overwrite(void)
{
	static const char *const all[] = { "linux", "irq", "task" };
	struct rtf_stats stats;
	int i, fd;

	for (i = 0; i < 3; i++) {
		const char *c = all[i];

		CHECK_EQ(rt("linux create 0 10"), 0);
		fd = dev(0, O_RDONLY | O_NONBLOCK);
		CHECK_EQ(rt("%s over 0 0123", c), 4);
		CHECK_EQ(rt("%s over 0 456789", c), 6);
		CHECK_EQ(rt("%s over 0 ab", c), 2);
		CHECK_EQ(rt("%s put 0 x", c), -ENOSPC);
		CHECK_EQ(rt("%s over 0 eleven byte", c), -ENOSPC);
		expect(fd, "234");
		CHECK_EQ(rt("%s over 0 cdefgh", c), 6);
		expect(fd, "89abcdefgh");
		CHECK_EQ(rt("%s over 0 ijklmnopq", c), 9);
		expect(fd, "ijklmnopq");
		CHECK_EQ(ioctl(fd, RTF_IOC_STATS, &stats), 0);
		CHECK_EQ(stats.lost_bytes, 2 + 3);
		CHECK_EQ(stats.drops, 2);
		close(fd);
		CHECK_EQ(rt("linux destroy 0"), 0);
	}
}

const struct test create_tests[] = {
	TEST(nodes), TEST(create), TEST(contexts), TEST(rt_errors), TEST(rt_looks),
	TEST(overwrite),
	{}
};
