// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of create, open, resize and the like fails once, and the call with it: ENOMEM, and
 * nothing else has changed. With the modules fifo_test and alloc_fail; prints "ok alloc N",
 * N being how many were made to fail.
 */
#include "fifo_check/fifo_check.h"

const char *test_name = "alloc";

static int alloc_fd, failures;

static void arm(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	CHECK_EQ(write(alloc_fd, text, len), len);
}

/* How many allocations there were. */
static int disarm(void)
{
	char text[16] = "";

	CHECK(read(alloc_fd, text, sizeof(text) - 1) > 0);
	return atoi(text);
}

/* One of the calls: 0 or -1 with errno. */
static int ctl, fd;

static int create(void)
{
	struct rtf_new new = { 7, 100, 0, "" };

	return ioctl(ctl, RTF_IOC_CREATE, &new);
}

static int create_named(void)
{
	struct rtf_new new = { 7, 100, 4, "name" };

	return ioctl(ctl, RTF_IOC_CREATE, &new);
}

static int destroy(void)
{
	uint32_t number = 7;

	return ioctl(ctl, RTF_IOC_DESTROY, &number);
}

static int open_it(void)
{
	int opened = open("/dev/rtf0", O_RDWR | O_NONBLOCK);

	if (opened < 0)
		return -1;
	close(opened);
	return 0;
}

static int resize(void)
{
	uint32_t size = stats_of(fd).size == 100 ? 5000 : 100;

	return ioctl(fd, RTF_IOC_RESIZE, &size);
}

static int map(void)
{
	struct rtf_layout l;
	void *at;

	CHECK_EQ(ioctl(fd, RTF_IOC_CLAIM, &l), 0);
	at = mmap(NULL, l.index_bytes + 2L * l.data_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED)
		CHECK_EQ(munmap(at, l.index_bytes + 2L * l.data_bytes), 0);
	CHECK_EQ(ioctl(fd, RTF_IOC_RELEASE), 0);
	return at == MAP_FAILED ? -1 : 0;
}

static char before[65536], after[65536];

static void state(char *text)
{
	int status = open("/sys/kernel/tactus/fifos", O_RDONLY | O_CLOEXEC);

	memset(text, 0, sizeof(before));
	CHECK(read(status, text, sizeof(before) - 1) > 0);
	close(status);
}

/* @least: so many allocations it makes by itself; Linux may make more, and live without some. */
static void each(const char *what, int (*call)(void), int (*undo)(void), int least)
{
	int n, count, failed = 0;

	arm(0);
	CHECK_EQ(call(), 0);
	count = disarm();
	if (undo)
		CHECK_EQ(undo(), 0);
	for (n = 1; n <= count; n++) {
		int ret, why;

		state(before);
		arm(n);
		ret = call();
		why = errno;
		disarm();
		if (ret) {
			if (why != ENOMEM)
				FAIL("%s, allocation %d: %s", what, n, strerror(why));
			state(after);
			if (strcmp(before, after))
				FAIL("%s, allocation %d: the state has changed", what, n);
			failed++;
		} else if (undo) {
			CHECK_EQ(undo(), 0);
		}
	}
	if (failed < least)
		FAIL("%s: %d of %d allocations made it fail, not %d", what, failed, count, least);
	failures += failed;
}

int main(void)
{
	struct stat st;

	alloc_fd = open("/proc/alloc_fail", O_RDWR);
	CHECK(alloc_fd >= 0);
	ctl = open("/dev/rtfctl", O_RDWR);
	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	CHECK_EQ(rt("irq put 0 hello"), 5);
	CHECK_EQ(write(fd, "world", 5), 5);

	each("create", create, destroy, 6);		/* two buffers of two, a page, the FIFO */
	each("create_named", create_named, destroy, 7);	/* and its node */
	CHECK_ERR(stat("/dev/rtf", &st), ENOENT);
	each("open", open_it, NULL, 1);
	each("resize", resize, NULL, 4);
	each("mmap", map, NULL, 0);

	expect(fd, "hello");
	rt_expect("irq", 0, "world");
	CHECK_EQ(rt("linux destroy 0"), 0);
	printf("ok alloc %d\n", failures);
	return 0;
}
