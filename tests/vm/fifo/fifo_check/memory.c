// SPDX-License-Identifier: GPL-2.0-only
/* Vectors, splices, bad memory. */
#include "fifo_check.h"

static void test_vectors(void)
{
	struct iovec out[3] = { { "ab", 2 }, { "", 0 }, { "cde", 3 } };
	char a[2], b[10];
	struct iovec in[2] = { { a, 2 }, { b, 10 } };
	int fd;

	CHECK_EQ(rt("linux create 0 10"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	CHECK_EQ(writev(fd, out, 3), 5);
	rt_expect("task", 0, "abcde");
	CHECK_EQ(rt("task put 0 12345"), 5);
	CHECK_EQ(readv(fd, in, 2), 5);
	CHECK(!memcmp(a, "12", 2) && !memcmp(b, "345", 3));
}

static void test_splice(void)
{
	static char bytes[5000], back[5000];
	int fd, p[2], n, got = 0;

	CHECK_EQ(rt("linux create 0 6000"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	CHECK_EQ(pipe(p), 0);
	CHECK_EQ(rt("task fill 0 5000"), 5000);
	while (got < 5000) {
		n = splice(fd, NULL, p[1], NULL, 5000 - got, 0);
		if (n <= 0)
			FAIL("splice from it: %d, %s", n, strerror(errno));
		CHECK_EQ(read(p[0], bytes + got, n), n);
		got += n;
	}
	for (n = 0; n < 5000; n++)
		CHECK_EQ(bytes[n], 'x');
	CHECK_ERR(splice(fd, NULL, p[1], NULL, 100, 0), EAGAIN);

	for (n = 0; n < 5000; n++)
		back[n] = stream_byte(n);
	CHECK_EQ(write(p[1], back, 5000), 5000);
	for (got = 0; got < 5000; got += n) {
		n = splice(p[0], NULL, fd, NULL, 5000 - got, 0);
		if (n <= 0)
			FAIL("splice to it: %d, %s", n, strerror(errno));
	}
	CHECK_EQ(rt("task get 0 5000"), 5000);
	CHECK(!memcmp(reply_data, back, 5000));
}

/* Two pages, the second of which is not there. */
static char *half_mapped(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	CHECK_EQ(munmap(p + 4096, 4096), 0);
	return p;
}

static char *volatile nowhere;	/* a null pointer that the compiler takes */

static void test_bad_memory(void)
{
	char *p = half_mapped(), bytes[20];
	struct iovec v[2] = { { bytes, 4 }, { NULL, 8 } };
	int fd;

	CHECK_EQ(rt("linux create 0 20000"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);

	/* A read that cannot be delivered takes nothing; half of one, that half. */
	CHECK_EQ(rt("task put 0 0123456789"), 10);
	CHECK_ERR(read(fd, nowhere, 10), EFAULT);
	CHECK_ERR(read(fd, p + 4096, 10), EFAULT);
	CHECK_EQ(read(fd, p + 4093, 10), 3);
	CHECK(!memcmp(p + 4093, "012", 3));
	CHECK_EQ(readv(fd, v, 2), 4);
	CHECK(!memcmp(bytes, "3456", 4));
	expect(fd, "789");
	CHECK_ERR(read(fd, nowhere, 10), EAGAIN);

	/* A small write is whole or not at all. */
	memcpy(p + 4093, "abc", 3);
	CHECK_ERR(write(fd, nowhere, 10), EFAULT);
	CHECK_ERR(write(fd, p + 4096, 10), EFAULT);
	CHECK_ERR(write(fd, p + 4093, 10), EFAULT);
	CHECK_ERR(writev(fd, v, 2), EFAULT);
	CHECK_EQ(rt("task get 0 1"), -EAGAIN);
	/* A large one stops at the gap. */
	CHECK_EQ(write(fd, p, 10000), 4096);
	CHECK_EQ(rt("task get 0 4096"), 4096);
	CHECK(!memcmp(reply_data + 4093, "abc", 3));
	CHECK_EQ(rt("task get 0 1"), -EAGAIN);
}

/* Memory that is not there yet, but can be: nothing is lost or doubled. */
static void test_fresh_memory(void)
{
	uint8_t *p;
	int fd, i, round;

	CHECK_EQ(rt("linux create 0 60000"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	for (round = 0; round < 20; round++) {
		p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(p != MAP_FAILED);
		CHECK_EQ(rt("out 0 1000 200 50000"), 0);
		while (rt("streamed") < 50000)
			nap(0.001);
		CHECK_EQ(read(fd, p + round * 100, 60000), 50000);
		for (i = 0; i < 50000; i++)
			CHECK_EQ(p[round * 100 + i], stream_byte(i));
		munmap(p, 65536);
	}
}

const struct test memory_tests[] = {
	TEST(vectors), TEST(splice), TEST(bad_memory), TEST(fresh_memory),
	{}
};
