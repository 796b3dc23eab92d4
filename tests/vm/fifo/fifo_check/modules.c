// SPDX-License-Identifier: GPL-2.0-only
/* Modules. */
#include "fifo_check.h"

static void test_pinned(void)
{
	int fd;

	CHECK_EQ(rt("linux create 0 10"), 0);
	CHECK_ERR(syscall(SYS_delete_module, "rtfifo", O_NONBLOCK), EWOULDBLOCK);
	CHECK_ERR(syscall(SYS_delete_module, "tactus", O_NONBLOCK), EWOULDBLOCK);
	fd = dev(0, O_RDONLY);
	CHECK_ERR(syscall(SYS_delete_module, "rtfifo", O_NONBLOCK), EWOULDBLOCK);
	close(fd);
}

static void test_status(void)
{
	char text[65536], want[200];
	int fd, n;

	CHECK_EQ(rt("linux create 7 100"), 0);
	CHECK_EQ(rt("linux create 63 4000"), 0);
	fd = dev(7, O_RDWR);
	CHECK_EQ(rt("irq put 7 abc"), 3);
	CHECK_EQ(write(fd, "de", 2), 2);
	CHECK_EQ(rt("irq fill 7 98"), -ENOSPC);
	CHECK_EQ(rt("irq fill 7 99"), -ENOSPC);
	fd = open("/sys/kernel/tactus/fifos", O_RDONLY);
	CHECK(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	CHECK(n > 0);
	text[n] = 0;
	snprintf(want, sizeof(want), "fifo\tsize\tused_in\tused_out\topeners\tdrops\trecord\tname\n"
		 "7\t100\t2\t3\t1\t2\t0\t-\n63\t4000\t0\t0\t0\t0\t0\t-\n");
	if (strcmp(text, want))
		FAIL("fifos reads:\n%s", text);
}

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* One put of 16 MB on the other CPU; returns when it has begun. */
static void begin_long_put(void)
{
	int fd = dev(0, O_RDONLY), tries;
	double until;

	/* It may be over before we look: then once more, with the ring empty. */
	for (tries = 0; tries < 20; tries++) {
		CHECK(ioctl(fd, RTF_IOC_FLUSH) >= 0);
		on_cpu(1);
		CHECK_EQ(rt("long 0 16000000"), 0);
		on_cpu(0);
		for (until = now() + 0.5; now() < until; )
			if (rt("inlong")) {
				close(fd);
				return;
			}
	}
	FAIL("no long put was seen");
}

/* When rtf_destroy() returns no RT operation is inside any more, on whatever CPU. */
static void test_destroy_waits(void)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return;
	CHECK_EQ(rt("linux create 0 %d", MAX_SIZE), 0);
	begin_long_put();
	rt("linux used 0");
	CHECK_EQ(rt("inlong"), 1);	/* any other call leaves it there: the check can fail */
	while (rt("inlong"))
		;
	CHECK_EQ(rt("linux flush 0"), 0);
	CHECK_EQ(ioctl(dev(0, O_RDONLY), RTF_IOC_FLUSH), 16000000);
	begin_long_put();
	CHECK_EQ(rt("linux destroy 0"), 0);
	CHECK_EQ(rt("inlong"), 0);
}

const struct test modules_tests[] = {
	TEST(pinned), TEST(status), TEST(destroy_waits),
	{}
};
