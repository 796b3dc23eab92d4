// SPDX-License-Identifier: GPL-2.0
/*
 * Tests /dev/rtfN from user space, with the module fifo_test as the RT side.
 *
 * usage: fifo_check [TEST]...; without one, all. Each test is a process of its own and
 * ends with "ok TEST" or "not ok TEST: where: what" on stdout.
 */
#include "fifo_check.h"

const char *test_name;

/* ---- nodes, creation, numbers ---- */

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

/* ---- two rings, sizes, lengths ---- */

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

/* ---- sleeping and waking ---- */

static void read_hello(int fd)
{
	expect(fd, "hello");
}

static void test_blocking_read(void)
{
	static const char *const all[] = { "linux", "irq", "task" };
	int fd, i;
	pid_t pid;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDONLY);
	for (i = 0; i < 3; i++) {
		pid = child(read_hello, fd);
		nap(0.05);
		CHECK(still_there(pid));
		CHECK_EQ(rt("%s put 0 hello", all[i]), 5);
		joined(pid);
	}
}

static void write_60(int fd)
{
	char bytes[60];

	memset(bytes, 'w', sizeof(bytes));
	CHECK_EQ(write(fd, bytes, 60), 60);
}

static void test_blocking_write(void)
{
	static const char *const all[] = { "linux", "irq", "task" };
	int fd, i;
	pid_t pid;

	for (i = 0; i < 3; i++) {
		CHECK_EQ(rt("linux create 0 120"), 0);
		fd = dev(0, O_WRONLY);
		write_60(fd);
		CHECK_EQ(write(fd, "x", 1), 1);
		pid = child(write_60, fd);
		nap(0.05);
		CHECK(still_there(pid));
		CHECK_EQ(rt("%s get 0 1", all[i]), 1);
		joined(pid);
		CHECK_EQ(rt("%s get 0 120", all[i]), 120);
		close(fd);
		CHECK_EQ(rt("linux destroy 0"), 0);
	}
}

static void write_10(int fd)
{
	CHECK_EQ(write(fd, "0123456789", 10), 10);
}

/* Who waits for little must not wait for as much as another one. */
static void test_two_writers(void)
{
	pid_t large, small;
	int fd;

	CHECK_EQ(rt("linux create 0 120"), 0);
	fd = dev(0, O_WRONLY);
	write_60(fd);
	write_60(fd);
	large = child(write_60, fd);
	nap(0.05);
	small = child(write_10, fd);
	nap(0.05);
	CHECK(still_there(large) && still_there(small));
	CHECK_EQ(rt("irq get 0 10"), 10);
	joined(small);
	CHECK(still_there(large));
	CHECK_EQ(rt("irq get 0 59"), 59);
	nap(0.05);
	CHECK(still_there(large));
	CHECK_EQ(rt("irq get 0 1"), 1);
	joined(large);
	CHECK_EQ(rt("irq get 0 120"), 120);
}

/* One long write through a short FIFO: in order, and all of it. */
static void write_stream(int fd)
{
	static uint8_t bytes[100000];
	uint32_t k;

	for (k = 0; k < sizeof(bytes); k++)
		bytes[k] = stream_byte(k);
	CHECK_EQ(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
}

static void test_long_write(void)
{
	uint32_t k = 0;
	int fd, i;
	pid_t pid;

	CHECK_EQ(rt("linux create 0 1000"), 0);
	fd = dev(0, O_WRONLY);
	pid = child(write_stream, fd);
	while (k < 100000) {
		if (rt("irq get 0 250") != 250)
			continue;
		for (i = 0; i < 250; i++)
			CHECK_EQ((uint8_t)reply_data[i], stream_byte(k + i));
		k += 250;
	}
	joined(pid);
	CHECK_EQ(rt("linux get 0 1"), -EAGAIN);
}

static void test_many_sleepers(void)
{
	pid_t pids[20];
	int fd, i;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDONLY);
	for (i = 0; i < 20; i++)
		pids[i] = child(read_hello, fd);
	nap(0.1);
	/* Each put is for one of them, whichever; none may sleep on. */
	for (i = 0; i < 20; i++)
		while (rt("irq put 0 hello") != 5)
			nap(0.001);
	for (i = 0; i < 20; i++)
		joined(pids[i]);
}

static void poll_in(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	CHECK_EQ(poll(&p, 1, 5000), 1);
	CHECK_EQ(p.revents, POLLIN);
}

static void poll_out(int fd)
{
	struct pollfd p = { fd, POLLOUT, 0 };

	CHECK_EQ(poll(&p, 1, 5000), 1);
	CHECK_EQ(p.revents, POLLOUT);
}

static void test_poll(void)
{
	int fd;
	pid_t pid;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	CHECK_EQ(events(fd, POLLIN | POLLOUT), POLLOUT);
	CHECK_EQ(rt("irq put 0 x"), 1);
	CHECK_EQ(events(fd, POLLIN | POLLOUT), POLLIN | POLLOUT);
	expect(fd, "x");
	CHECK_EQ(events(fd, POLLIN), 0);

	/* Half of it is what a write may rely on. */
	write_60(fd);
	CHECK_EQ(events(fd, POLLOUT), 0);
	CHECK_EQ(rt("irq get 0 9"), 9);
	CHECK_EQ(events(fd, POLLOUT), 0);
	pid = child(poll_out, fd);
	nap(0.05);
	CHECK(still_there(pid));
	CHECK_EQ(rt("irq get 0 1"), 1);
	joined(pid);

	pid = child(poll_in, fd);
	nap(0.05);
	CHECK(still_there(pid));
	CHECK_EQ(rt("irq put 0 x"), 1);
	joined(pid);

	CHECK_EQ(rt("linux destroy 0"), 0);
	CHECK_EQ(events(fd, POLLIN | POLLOUT), POLLIN | POLLOUT | POLLHUP | POLLERR);
}

static void test_epoll(void)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET }, got;
	int fd, ep = epoll_create1(0), i;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDONLY | O_NONBLOCK);
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev), 0);
	CHECK_EQ(epoll_wait(ep, &got, 1, 0), 0);
	for (i = 0; i < 5; i++) {	/* each put is an edge, read or not */
		CHECK_EQ(rt("irq put 0 x"), 1);
		CHECK_EQ(epoll_wait(ep, &got, 1, 5000), 1);
		CHECK_EQ(got.events, EPOLLIN);
		CHECK_EQ(epoll_wait(ep, &got, 1, 20), 0);
	}
	expect(fd, "xxxxx");
}

static volatile int signals;

static void on_signal(int sig)
{
	(void)sig;
	signals++;
}

static void test_signal(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	static char bytes[300];
	int fd;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDWR);
	sigaction(SIGALRM, &act, NULL);
	ualarm(50000, 50000);
	CHECK_ERR(read(fd, bytes, 1), EINTR);
	CHECK_EQ(write(fd, bytes, 300), 100);	/* what was handed over by then */
	CHECK_ERR(write(fd, bytes, 1), EINTR);
	ualarm(0, 0);
	CHECK_EQ(rt("linux get 0 100"), 100);
}

static void test_sigio(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	int fd, i, had;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	sigaction(SIGIO, &act, NULL);
	CHECK_EQ(fcntl(fd, F_SETOWN, getpid()), 0);
	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC), 0);
	for (i = 0; i < 5; i++) {
		had = signals;
		CHECK_EQ(rt("irq put 0 x"), 1);
		nap(0.05);
		CHECK(signals > had);
	}
	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	CHECK_EQ(rt("irq put 0 x"), 1);	/* this one may still be announced */
	nap(0.05);
	had = signals;
	CHECK_EQ(rt("irq put 0 x"), 1);
	nap(0.05);
	CHECK_EQ(signals, had);
}

/* ---- destroy ---- */

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

/* ---- handlers ---- */

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

/* ---- resize ---- */

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

/* ---- ioctls, fsync ---- */

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

/* Who sleeps for more than the FIFO can hold from now on is content with a full one. */
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

/* ---- vectors, splices, bad memory ---- */

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

/* ---- streams: nothing lost, nothing doubled, whatever Linux does ---- */

static int cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

/* The stream's RT timer goes to the last CPU, everything else to the first. */
static void stream(const char *command)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpus() - 1, &set);
	CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
	CHECK_EQ(rt("%s", command), 0);
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

static uint32_t rnd(uint32_t below)
{
	static uint32_t seed = 1997;

	seed = seed * 1664525 + 1013904223;
	return (uint64_t)(seed >> 8) * below >> 24;
}

#define STREAM 300000

static void test_stream_out(void)
{
	uint8_t bytes[3000];
	uint32_t k = 0;
	int fd, n, i;

	CHECK_EQ(rt("linux create 0 4000"), 0);
	fd = dev(0, O_RDONLY);
	stream("out 0 700 400 300000");
	while (k < STREAM) {
		n = read(fd, bytes, 1 + rnd(3000));
		CHECK(n > 0);
		for (i = 0; i < n; i++)
			CHECK_EQ(bytes[i], stream_byte(k + i));
		k += n;
		if (rnd(4) == 0) {
			int ret = rt("linux resize 0 %d", 800 + rnd(10000));

			CHECK(ret == 0 || ret == -ENOSPC);
		}
	}
	CHECK_EQ(rt("streamed"), STREAM);
	CHECK_EQ(ioctl(fd, FIONREAD, &n), 0);
	CHECK_EQ(n, 0);
}

static void test_stream_in(void)
{
	uint8_t bytes[3000];
	uint32_t k = 0;
	double until;
	int fd, n, i;

	CHECK_EQ(rt("linux create 0 4000"), 0);
	fd = dev(0, O_WRONLY);
	stream("in 0 700 400 300000");
	while (k < STREAM) {
		n = 1 + rnd(3000);
		if (n > (int)(STREAM - k))
			n = STREAM - k;
		for (i = 0; i < n; i++)
			bytes[i] = stream_byte(k + i);
		CHECK_EQ(write(fd, bytes, n), n);
		k += n;
		if (rnd(4) == 0) {
			int ret = rt("linux resize 0 %d", 800 + rnd(10000));

			CHECK(ret == 0 || ret == -ENOSPC);
		}
	}
	until = now() + 10;
	while ((n = rt("streamed")) != STREAM) {
		CHECK(n >= 0);		/* -1: a byte was wrong */
		CHECK(now() < until);
		nap(0.01);
	}
}

/* Readers that are killed at any moment lose only what they had already taken. */
static void read_on(int fd)
{
	uint8_t bytes[500];

	while (read(fd, bytes, 1 + rnd(500)) > 0)
		;
}

static void test_killed_readers(void)
{
	static uint8_t bytes[STREAM];
	uint32_t k = 0, from;
	int fd, n, round;
	bool over;

	CHECK_EQ(rt("linux create 0 4000"), 0);
	fd = dev(0, O_RDONLY);
	stream("out 0 100 300 300000");
	for (round = 0; round < 20; round++) {
		pid_t pid = child(read_on, fd);

		nap(0.002 * rnd(5));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	CHECK(rt("streamed") < STREAM - 1000);
	/* The first is where the killed ones left off; from there on, all of it. */
	do {
		n = read(fd, bytes + k, STREAM - k);
		CHECK(n > 0);
		k += n;
		over = rt("streamed") == STREAM;
		CHECK_EQ(ioctl(fd, FIONREAD, &n), 0);
	} while (n || !over);
	for (from = STREAM - k; k; k--)
		CHECK_EQ(bytes[k - 1], stream_byte(from + k - 1));
}

/* A slow reader of a FIFO that is overwritten: each byte was read, or counted as lost. */
static void test_stream_overwrite(void)
{
	static uint8_t bytes[4000];
	uint32_t k = 0;
	int fd, n;
	bool all;

	CHECK_EQ(rt("linux create 0 4000"), 0);
	fd = dev(0, O_RDONLY);
	stream("overstream 0 1000 100 3000000");
	do {
		n = read(fd, bytes, 1 + rnd(4000));
		CHECK(n > 0);
		k += n;
		if (rnd(10) == 0) {
			int ret = rt("linux resize 0 %d", 3500 + rnd(1000));

			CHECK(ret == 0 || ret == -ENOSPC);
		}
		/* In this order: the last piece may come between the two. */
		all = rt("streamed") == 3000000;
		CHECK_EQ(ioctl(fd, FIONREAD, &n), 0);
	} while (n || !all);
	CHECK(stats_of(fd).lost_bytes > 0);
	CHECK_EQ(k + stats_of(fd).lost_bytes, 3000000);
	/* The last thing read is the end of the stream. */
	CHECK_EQ(rt("overstream 0 3000 50 3000"), 0);
	while (rt("streamed") < 3000)
		nap(0.001);
	CHECK_EQ(read(fd, bytes, 4000), 3000);
	for (n = 0; n < 3000; n++)
		CHECK_EQ(bytes[n], stream_byte(n));
}

/* Created, used from RT code and destroyed again and again while both sides go on. */
static void churn(int fd)
{
	char bytes[100];
	double until = now() + 1;

	(void)fd;
	while (now() < until) {
		int f = open("/dev/rtf0", O_RDWR | O_NONBLOCK | O_CLOEXEC);

		if (f < 0) {
			CHECK_EQ(errno, ENODEV);
			continue;
		}
		while (read(f, bytes, sizeof(bytes)) > 0 || errno == EAGAIN)
			if (write(f, bytes, sizeof(bytes)) < 0 && errno == EPIPE)
				break;
		close(f);
	}
}

static void test_churn(void)
{
	pid_t pid = child(churn, -1);
	int rounds;

	stream("out 0 64 300 1000000000");
	for (rounds = 0; rounds < 100; rounds++) {
		CHECK_EQ(rt("linux create 0 %d", 1 + rnd(5000)), 0);
		CHECK_EQ(rt("linux handler 0 get"), 0);
		nap(0.001);
		rt("linux resize 0 %d", 1 + rnd(5000));
		CHECK_EQ(rt("linux destroy 0"), 0);
	}
	CHECK_EQ(rt("stop"), 0);
	joined(pid);
	CHECK(rt("streamed") > 1000);	/* the RT side did get through meanwhile */
}

/* ---- modules ---- */

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

/* In the other files. */
void test_records(void);
void test_records_whole(void);
void test_records_overwritten(void);
void test_filter(void);
void test_watch(void);
void test_rt_handler(void);
void test_names(void);
void test_control(void);
void test_claim(void);
void test_mapped(void);
void test_mapped_overwritten(void);

static const struct {
	const char *name;
	void (*fn)(void);
} tests[] = {
#define TEST(name) { #name, test_##name }
	TEST(nodes), TEST(create), TEST(contexts), TEST(rt_errors),
	TEST(rt_looks), TEST(overwrite),
	TEST(two_rings), TEST(sizes), TEST(nonblocking_write), TEST(access_modes),
	TEST(blocking_read), TEST(blocking_write), TEST(long_write), TEST(many_sleepers),
	TEST(two_writers),
	TEST(poll), TEST(epoll), TEST(signal), TEST(sigio),
	TEST(destroy_wakes), TEST(destroy_drains),
	TEST(handler), TEST(handler_inside), TEST(handler_destroy),
	TEST(resize), TEST(resize_wakes_writer), TEST(resize_wakes_reader),
	TEST(stats), TEST(resize_ioctl), TEST(lowat), TEST(fsync),
	TEST(vectors), TEST(splice), TEST(bad_memory), TEST(fresh_memory),
	TEST(stream_out), TEST(stream_in), TEST(killed_readers),
	TEST(stream_overwrite), TEST(churn),
	TEST(pinned), TEST(status),
	TEST(records), TEST(records_whole), TEST(records_overwritten), TEST(filter), TEST(watch),
	TEST(rt_handler),
	TEST(destroy_waits), TEST(names), TEST(control), TEST(claim), TEST(mapped), TEST(mapped_overwritten),
};

#define N_TESTS (sizeof(tests) / sizeof(tests[0]))

/* In a process of its own, with an end to its time and nothing left behind. */
static bool run(unsigned int i)
{
	int status, fifo;
	pid_t pid;

	test_name = tests[i].name;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(60);
		rt("calls");
		tests[i].fn();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	rt("stop");
	for (fifo = 0; fifo < NFIFOS; fifo++)
		rt("linux destroy %d", fifo);
	if (WIFSIGNALED(status))
		printf("not ok %s: killed by signal %d\n", test_name, WTERMSIG(status));
	else if (!WEXITSTATUS(status))
		printf("ok %s\n", test_name);
	return !status;
}

int main(int argc, char **argv)
{
	bool passed = true;
	unsigned int i;
	int k;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < N_TESTS; i++) {
		bool wanted = argc == 1;

		for (k = 1; k < argc; k++)
			if (!strcmp(argv[k], "--list"))
				puts(tests[i].name);
			else
				wanted |= !strcmp(argv[k], tests[i].name);
		if (wanted)
			passed &= run(i);
	}
	return !passed;
}
