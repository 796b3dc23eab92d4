// SPDX-License-Identifier: GPL-2.0-only
/* Records, filters, watches and RT handlers. */
#include "fifo_check.h"

static void set_record(int fd, uint32_t bytes)
{
	CHECK_EQ(ioctl(fd, RTF_IOC_RECORD, &bytes), 0);
}

static void nobody(int fd)
{
	uint32_t record = 4;

	CHECK_EQ(setgroups(0, NULL), 0);
	CHECK_EQ(setuid(65534), 0);
	CHECK_ERR(ioctl(fd, RTF_IOC_RECORD, &record), EPERM);
}

static void test_records(void)
{
	static const char *const all[] = { "linux", "irq", "task" };
	uint32_t record;
	char bytes[40];
	int fd, i;

	CHECK_EQ(rt("linux record 0 4"), -ENODEV);
	CHECK_EQ(rt("linux record %d 4", NFIFOS), -ENODEV);
	CHECK_EQ(rt("linux create 0 30"), 0);
	CHECK_EQ(rt("irq record 0 4"), -EPERM);
	CHECK_EQ(rt("task record 0 4"), -EPERM);
	CHECK_EQ(rt("linux record 0 -1"), -EINVAL);
	CHECK_EQ(rt("linux record 0 31"), -EINVAL);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	CHECK_EQ(rt("irq put 0 12345"), 5);
	CHECK_EQ(rt("linux record 0 4"), -EBUSY);	/* five bytes are no records of four */
	expect(fd, "12345");
	CHECK_EQ(write(fd, "xyz", 3), 3);
	CHECK_EQ(rt("linux record 0 4"), -EBUSY);
	CHECK_EQ(rt("irq fill 0 3"), 3);		/* and all is as it was */
	CHECK_EQ(read(fd, bytes, 2), 2);
	rt_expect("irq", 0, "xyz");
	CHECK_EQ(read(fd, bytes, 2), 1);

	CHECK_EQ(rt("linux record 0 4"), 0);
	CHECK_EQ(stats_of(fd).record, 4);
	for (i = 0; i < 3; i++) {
		const char *c = all[i];

		CHECK_EQ(rt("%s fill 0 5", c), -EINVAL);
		CHECK_EQ(rt("%s over 0 12345", c), -EINVAL);
		CHECK_EQ(rt("%s fill 0 32", c), -ENOSPC);
		CHECK_EQ(rt("%s fill 0 28", c), 28);
		CHECK_EQ(rt("%s fill 0 4", c), -ENOSPC);
		CHECK_EQ(rt("%s fill 0 0", c), 0);
		CHECK_ERR(read(fd, bytes, 3), EINVAL);
		CHECK_EQ(read(fd, bytes, 7), 4);
		CHECK_EQ(read(fd, bytes, 40), 24);
		CHECK_ERR(read(fd, bytes, 4), EAGAIN);
		CHECK_ERR(write(fd, bytes, 3), EINVAL);
		CHECK_ERR(write(fd, bytes, 5), EINVAL);
		CHECK_EQ(write(fd, "abcdefgh", 8), 8);
		CHECK_EQ(rt("%s get 0 3", c), -EINVAL);
		CHECK_EQ(rt("%s peek 0 3", c), 3);	/* a record's head may be looked at */
		rt_expect(c, 0, "abcd");
		CHECK_EQ(rt("%s get 0 8", c), -EAGAIN);
		CHECK_EQ(rt("%s flush 0", c), 4);
	}
	/* A large write is handed over in whole records, here of 3 bytes each in parts of 15. */
	set_record(fd, 3);
	CHECK_EQ(write(fd, "0123456789abcdefghijklmnopqrstuvwxyz", 36), 30);
	CHECK_ERR(write(fd, "abc", 3), EAGAIN);
	rt_expect("irq", 0, "012345678");
	CHECK_EQ(rt("linux resize 0 20"), -ENOSPC);
	CHECK_EQ(rt("linux resize 0 23"), 0);
	CHECK_ERR(write(fd, "abc", 3), EAGAIN);		/* 2 of 23 bytes stay empty */
	rt_expect("irq", 0, "9ab");
	CHECK_EQ(write(fd, "ABC", 3), 3);
	rt_expect("irq", 0, "cdefghijklmnopqrst");
	rt_expect("irq", 0, "ABC");
	CHECK_EQ(rt("linux resize 0 2"), -EINVAL);
	record = 0;
	joined(child(nobody, fd));
	CHECK_ERR(ioctl(fd, RTF_IOC_RECORD, NULL), EFAULT);
	CHECK_EQ(ioctl(fd, RTF_IOC_RECORD, &record), 0);
	CHECK_EQ(rt("irq put 0 1234567"), 7);
	expect(fd, "1234567");
	CHECK_EQ(write(fd, "1234567", 7), 7);
	rt_expect("irq", 0, "1234567");
	record = 24;
	CHECK_ERR(ioctl(fd, RTF_IOC_RECORD, &record), EINVAL);
}

/* Faults in the middle of records, both ways: no part of one is lost or handed over. */
static void test_records_whole(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *mem = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *edge = mem + page, bytes[64];
	struct iovec two[2];
	int fd;

	CHECK(mem != MAP_FAILED);
	CHECK_EQ(mprotect(edge, page, PROT_NONE), 0);
	CHECK_EQ(rt("linux create 0 64"), 0);
	CHECK_EQ(rt("linux record 0 8"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);

	CHECK_EQ(rt("irq put 0 aaaaaaaabbbbbbbbcccccccc"), 24);
	CHECK_EQ(read(fd, edge - 12, 24), 8);		/* one, and a half */
	CHECK_EQ(memcmp(edge - 12, "aaaaaaaa", 8), 0);
	CHECK_ERR(read(fd, edge - 4, 24), EFAULT);
	CHECK_EQ(stats_of(fd).used_out, 16);
	two[0] = (struct iovec){ bytes, 11 };
	two[1] = (struct iovec){ edge - 2, 13 };
	CHECK_EQ(readv(fd, two, 2), 8);			/* the second ends in bad memory */
	CHECK_EQ(memcmp(bytes, "bbbbbbbb", 8), 0);
	expect(fd, "cccccccc");

	memset(mem, 'w', page);
	CHECK_ERR(write(fd, edge - 12, 16), EFAULT);	/* small: all or nothing */
	CHECK_ERR(write(fd, edge - 4, 8), EFAULT);
	CHECK_ERR(write(fd, edge - 4, 64), EFAULT);	/* large: not even one */
	CHECK_EQ(write(fd, edge - 20, 64), 16);		/* two, and a half */
	two[0] = (struct iovec){ bytes, 3 };
	two[1] = (struct iovec){ bytes + 20, 5 };
	CHECK_EQ(writev(fd, two, 2), 8);
	CHECK_EQ(rt("irq get 0 24"), 24);
	CHECK_EQ(rt("irq used 0"), 0);
}

/* Half of a record is never overwritten, nor what is left of one read. */
static void test_records_overwritten(void)
{
	char bytes[64], *at;
	int fd, i, last = -1, lost;

	CHECK_EQ(rt("linux create 0 50"), 0);
	CHECK_EQ(rt("linux record 0 8"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	for (i = 0; i < 7; i++)
		CHECK_EQ(rt("irq over 0 %08d", i), 8);
	CHECK_EQ(stats_of(fd).lost_bytes, 8);		/* six fit */
	CHECK_EQ(rt("irq over 0 %08d%08d", 7, 8), 16);
	CHECK_EQ(stats_of(fd).lost_bytes, 24);
	CHECK_EQ(read(fd, bytes, 64), 48);
	CHECK_EQ(memcmp(bytes, "00000003", 8), 0);

	/* The same while it happens: each read finds whole ones, in order. */
	CHECK_EQ(rt("overstream 0 8 20 80000"), 0);
	for (i = 0; i < 3000 && rt("streamed") < 80000; i++) {
		int n = read(fd, bytes, 64);

		CHECK(n < 0 || (n && n % 8 == 0));
		for (at = bytes; at < bytes + n; at += 8) {
			/* Byte k is k ^ k >> 8 ^ k >> 16: the first of a record's is 8 times something. */
			int k;

			for (k = 1; k < 8; k++)
				CHECK_EQ((uint8_t)at[k], (uint8_t)at[0] ^ k);
			last = at[0];
		}
	}
	CHECK(last != -1);
	lost = stats_of(fd).lost_bytes;
	CHECK_EQ(lost % 8, 0);
	CHECK_EQ(stats_of(fd).used_out % 8, 0);
}

static void test_filter(void)
{
	char big[300], *volatile nowhere = NULL;
	int fd;

	CHECK_EQ(rt("linux filter 0 1"), -ENODEV);
	CHECK_EQ(rt("linux filter %d 1", NFIFOS), -ENODEV);
	CHECK_EQ(rt("linux create 0 100"), 0);
	CHECK_EQ(rt("irq filter 0 1"), -EPERM);
	CHECK_EQ(rt("task filter 0 1"), -EPERM);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	rt("filtered");
	CHECK_EQ(write(fd, "before", 6), 6);
	CHECK_EQ(rt("filtered"), 0);
	CHECK_EQ(rt("linux filter 0 2"), 0);
	CHECK_EQ(write(fd, "good", 4), 4);
	CHECK_ERR(write(fd, "xbad", 4), EBADMSG);
	CHECK_EQ(stats_of(fd).used_in, 10);		/* none of it has entered */
	CHECK_EQ(write(fd, "too", 3), 3);
	CHECK_EQ(rt("filtered"), 7);
	rt_expect("irq", 0, "beforegoodtoo");
	/* Around the ring's end, too: nothing is missing from the count. */
	memset(big, 'y', sizeof(big));
	CHECK_EQ(rt("linux filter 0 1"), 0);
	CHECK_EQ(write(fd, big, 300), 100);
	CHECK_EQ(rt("filtered"), 100);
	CHECK_EQ(rt("irq get 0 60"), 60);
	/* Refused later in the same call, it ends short. */
	CHECK_EQ(rt("linux filter 0 3"), 0);
	CHECK_EQ(write(fd, big, 300), 60);
	CHECK_EQ(rt("filtered"), 60);
	CHECK_ERR(write(fd, nowhere, 10), EAGAIN);		/* full: it is not even looked at */
	CHECK_EQ(rt("irq flush 0"), 100);
	CHECK_ERR(write(fd, nowhere, 10), EFAULT);
	CHECK_EQ(rt("filtered"), 0);
	CHECK_EQ(rt("linux filter 0 0"), 0);
	CHECK_EQ(write(fd, "xbad", 4), 4);
	CHECK_EQ(rt("filtered"), 0);
}

static void pause_for_ever(int fd)
{
	CHECK_EQ(write(fd, "w", 1), 1);
	for (;;)
		pause();
}

/* An opening for writing is reported once, however many use it; and can be refused. */
static void test_watch(void)
{
	int before, fd, copy;
	pid_t pid;

	CHECK_EQ(rt("linux watch 0 1"), -ENODEV);
	CHECK_EQ(rt("linux watch %d 1", NFIFOS), -ENODEV);
	CHECK_EQ(rt("linux create 0 100"), 0);
	CHECK_EQ(rt("irq watch 0 1"), -EPERM);
	CHECK_EQ(rt("task watch 0 1"), -EPERM);
	rt("watched");
	before = dev(0, O_WRONLY);
	CHECK_EQ(rt("linux watch 0 1"), 0);
	close(dev(0, O_RDONLY));
	close(before);			/* opened before there was a watch */
	CHECK_EQ(rt("watched"), 0);
	fd = dev(0, O_RDWR);
	CHECK_EQ(rt("watched"), 100);
	copy = dup(fd);
	close(fd);
	CHECK_EQ(rt("watched"), 0);
	CHECK_EQ(write(copy, "abc", 3), 3);
	close(copy);
	CHECK_EQ(rt("watched"), 1);
	/* Killed in the middle. */
	fd = dev(0, O_WRONLY);
	pid = child(pause_for_ever, fd);
	close(fd);
	while (rt("linux used 0") != 4)
		usleep(1000);
	CHECK_EQ(rt("watched"), 100);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	CHECK_EQ(rt("watched"), 1);
	/* Refused: nothing is open, and nothing closes. */
	CHECK_EQ(rt("linux watch 0 2"), 0);
	CHECK_ERR(open("/dev/rtf0", O_WRONLY), EBADMSG);
	close(dev(0, O_RDONLY));
	CHECK_EQ(rt("watched"), 0);
	/* It can neither end the FIFO that waits for it, nor change what that calls. */
	CHECK_EQ(rt("linux watch 0 3"), 0);
	close(dev(0, O_WRONLY));
	CHECK_EQ(rt("inside"), REFUSED_INSIDE_HANDLER);
	CHECK_EQ(rt("watched"), 101);
	/* Taken away between an opening and its closing. */
	fd = dev(0, O_WRONLY);
	CHECK_EQ(rt("linux watch 0 0"), 0);
	close(fd);
	CHECK_EQ(rt("watched"), 100);
	CHECK_EQ(rt("linux watch 0 1"), 0);
	fd = dev(0, O_WRONLY);
	CHECK_EQ(rt("linux destroy 0"), 0);
	close(fd);
	CHECK_EQ(rt("watched"), 100);
}

static void write_500(int fd)
{
	char bytes[500];

	memset(bytes, 'b', sizeof(bytes));
	CHECK_EQ(write(fd, bytes, 500), 500);
}

/* The RT side answers each write before it returns, from the handler alone. */
static void test_rt_handler(void)
{
	int fd, i;

	CHECK_EQ(rt("linux rthandler 0 1"), -ENODEV);
	CHECK_EQ(rt("linux rthandler %d 1", NFIFOS), -ENODEV);
	CHECK_EQ(rt("linux create 0 100"), 0);
	CHECK_EQ(rt("irq rthandler 0 1"), -EPERM);
	CHECK_EQ(rt("task rthandler 0 1"), -EPERM);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	rt("rtdata");
	rt("rtspace");
	rt("rtwrong");
	CHECK_EQ(rt("linux rthandler 0 1"), 0);
	CHECK_EQ(write(fd, "abc", 3), 3);
	CHECK_ERR(read(fd, (char[1]){}, 1), EAGAIN);	/* nothing moved: no call */
	CHECK_EQ(rt("rtdata"), 1);
	CHECK_EQ(rt("rtspace"), 0);
	CHECK_EQ(rt("irq put 0 de"), 2);
	expect(fd, "d");
	CHECK_EQ(rt("rtspace"), 1);
	CHECK_EQ(ioctl(fd, RTF_IOC_FLUSH), 1);
	CHECK_EQ(rt("rtspace"), 1);
	CHECK_EQ(rt("rtdata"), 0);
	rt_expect("irq", 0, "abc");

	CHECK_EQ(rt("linux rthandler 0 2"), 0);
	for (i = 0; i < 1000; i++) {
		char text[16];

		snprintf(text, sizeof(text), "echo %d", i);
		CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
		expect(fd, text);
	}
	CHECK_EQ(rt("rtdata"), 1000);
	/* A write that needs more room than there is: the handler makes it, part by part. */
	joined(child(write_500, dev(0, O_WRONLY)));
	CHECK(rt("rtdata") >= 5);
	CHECK_EQ(ioctl(fd, RTF_IOC_FLUSH), 100);
	CHECK_EQ(rt("rtwrong"), 0);
	CHECK_EQ(rt("linux rthandler 0 0"), 0);
	CHECK_EQ(write(fd, "abc", 3), 3);
	CHECK_ERR(read(fd, (char[1]){}, 1), EAGAIN);
	CHECK_EQ(rt("rtdata"), 0);
}

const struct test records_tests[] = {
	TEST(records), TEST(records_whole), TEST(records_overwritten), TEST(filter),
	TEST(watch), TEST(rt_handler),
	{}
};
