// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls with random arguments on FIFOs and /dev/rtfctl: ioctls above all, maps, seeks, reads
 * and writes with bad memory. No result is expected but that the kernel lives, says nothing,
 * and has FIFOs that work afterwards.
 *
 * usage: fifo_fuzz CALLS SEED; as many processes as there are CPUs share the calls
 */
#include "fifo_check/fifo_check.h"
#include <setjmp.h>

#define FDS 8
#define MAPS 8

const char *test_name = "fuzz";

static uint32_t state;
static int fds[FDS], ctl;
static struct {
	void *at;
	size_t bytes;
} maps[MAPS];
static char *memory;		/* four pages: rw, none, ro, rw */
static long calls, succeeded;

static uint32_t rnd(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % below;
}

static uint64_t number(void)
{
	static const uint64_t odd[] = {
		0, 1, 2, 3, 4, 7, 8, 63, 64, 100, 4095, 4096, 4097, 8192, 65536, 1 << 24, (1 << 24) + 1,
		0x7fffffff, 0x80000000, 0xfffff000, 0xffffffff, 0x7fffffffffffffff, -1ull, -4096ull,
	};

	return rnd(4) ? odd[rnd(sizeof(odd) / sizeof(*odd))] : rnd(1 << rnd(24));
}

static void *pointer(void)
{
	static const uint64_t bad[] = { 0, 1, 0x7ffffffff000, 0xffff888000000000, -1ull };

	switch (rnd(8)) {
	case 0:
		return (void *)bad[rnd(5)];
	case 1:
		return memory + 4096 * (1 + rnd(3)) - rnd(64);
	default:
		return memory + rnd(2000);
	}
}

/* Plausible content for whatever is pointed to. */
static void fill(void)
{
	uint32_t *words = (uint32_t *)memory, i;

	for (i = 0; i < 24; i++)
		words[i] = rnd(3) ? rnd(70) : number();
	if (!rnd(4))
		snprintf(memory + 12, 40, "%.*s", rnd(36), "abc.def-ghi_jkl0mno/p!qrstuvwxyz12345");
}

static void one_ioctl(void)
{
	static const unsigned int known[] = {
		RTF_IOC_STATS, RTF_IOC_RESIZE, RTF_IOC_FLUSH, RTF_IOC_LOWAT, RTF_IOC_RECORD,
		RTF_IOC_CLAIM, RTF_IOC_RELEASE, RTF_IOC_CONSUME, FIONREAD, FIOASYNC, FIONCLEX,
	};
	unsigned int cmd = known[rnd(sizeof(known) / sizeof(*known))];
	int fd = fds[rnd(FDS)];

	fill();
	if (!rnd(8))
		cmd ^= 1u << rnd(32);
	if (cmd == FIONBIO)		/* it must not block */
		return;
	if (!rnd(8)) {
		fd = ctl;
		cmd = rnd(3) ? RTF_IOC_CREATE : RTF_IOC_DESTROY;
	}
	succeeded += ioctl(fd, cmd, rnd(3) ? memory : pointer()) >= 0;
}

static sigjmp_buf back;
static volatile bool may_fault;

/* What is mapped may not be readable. */
static void on_fault(int signal)
{
	if (may_fault)
		siglongjmp(back, 1);
	_exit(signal);
}

static const char *doing;

static void on_alarm(int signal)
{
	(void)signal;
	printf("not ok fuzz: call %ld, of the kind %s, has taken 20 s\n", calls, doing);
	fflush(stdout);
	_exit(1);
}

static void one_map(void)
{
	int i = rnd(MAPS);
	size_t bytes = rnd(3) ? 4096 * (1 + 2 * rnd(3)) : number();
	struct rtf_layout l;
	int fd = fds[rnd(FDS)];
	volatile const char *at;
	void *moved;

	if (maps[i].at) {
		at = maps[i].at;
		switch (rnd(4)) {
		case 0:
			may_fault = true;
			if (!sigsetjmp(back, 1)) {
				(void)*at;
				(void)at[maps[i].bytes - 1];
			}
			may_fault = false;
			return;
		case 1:
			succeeded += mprotect(maps[i].at, 4096, rnd(8)) == 0 &&
				     mprotect(maps[i].at, 4096, PROT_READ) == 0;
			return;
		case 2:
			bytes = 4096 * (1 + rnd(4));
			moved = mremap(maps[i].at, maps[i].bytes, bytes, rnd(2));
			if (moved != MAP_FAILED) {
				munmap(moved, bytes);
				maps[i].at = NULL;
				succeeded++;
			}
			return;
		default:
			/* Sometimes in two parts. */
			if (rnd(2))
				munmap(maps[i].at, 4096);
			munmap(maps[i].at, maps[i].bytes);
			maps[i].at = NULL;
			return;
		}
	}
	if (rnd(2) && !ioctl(fd, RTF_IOC_CLAIM, &l))
		bytes = l.index_bytes + 2ul * l.data_bytes;
	maps[i].at = mmap(NULL, bytes, rnd(4) ? PROT_READ : rnd(8), rnd(4) ? MAP_SHARED : rnd(4), fd,
			  rnd(8) ? 0 : number());
	maps[i].bytes = bytes;
	if (maps[i].at == MAP_FAILED)
		maps[i].at = NULL;
	else
		succeeded++;
}

static void one_transfer(void)
{
	struct iovec v[4];
	int fd = fds[rnd(FDS)], i;

	for (i = 0; i < 4; i++)
		v[i] = (struct iovec){ pointer(), rnd(4) ? rnd(100) : number() };
	switch (rnd(6)) {
	case 0:
		succeeded += syscall(SYS_read, fd, pointer(), number()) >= 0;
		break;
	case 1:
		succeeded += syscall(SYS_write, fd, pointer(), number()) >= 0;
		break;
	case 2:
		succeeded += readv(fd, v, 1 + rnd(4)) >= 0;
		break;
	case 3:
		succeeded += writev(fd, v, 1 + rnd(4)) >= 0;
		break;
	case 4:
		succeeded += syscall(SYS_preadv2, fd, v, 2, -1l, 0, rnd(64)) >= 0;
		break;
	default:
		succeeded += syscall(SYS_pwritev2, fd, v, 2, -1l, 0, rnd(64)) >= 0;
	}
}

static void one_other(void)
{
	int i = rnd(FDS);
	char path[40];

	switch (rnd(6)) {
	case 0:
		succeeded += lseek(fds[i], number(), rnd(6)) >= 0;
		break;
	case 1:
		events(fds[i], rnd(65536));
		break;
	case 2:
		fcntl(fds[i], F_SETFL, O_NONBLOCK | (rnd(2) ? O_ASYNC : 0) | (rnd(2) ? O_APPEND : 0));
		break;
	case 3:
		fallocate(fds[i], rnd(8), number(), number());
		break;
	case 4:
		succeeded += syscall(SYS_pread64, fds[i], memory, rnd(100), number()) >= 0;
		break;
	default:
		close(fds[i]);
		snprintf(path, sizeof(path), "/dev/rtf%d", rnd(4));
		fds[i] = open(path, (rnd(3) ? O_RDWR : rnd(2) ? O_RDONLY : O_WRONLY) | O_NONBLOCK);
	}
}

static void fuzz(long n, uint32_t seed)
{
	int i;

	state = seed | 1;
	signal(SIGIO, SIG_IGN);
	signal(SIGSEGV, on_fault);
	signal(SIGALRM, on_alarm);
	signal(SIGBUS, on_fault);
	memory = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(memory + 4096, 4096, PROT_NONE);
	mprotect(memory + 8192, 4096, PROT_READ);
	ctl = open("/dev/rtfctl", O_RDWR);
	CHECK(ctl >= 0);
	for (i = 0; i < FDS; i++)
		fds[i] = open(i % 2 ? "/dev/rtf0" : "/dev/rtf1", O_RDWR | O_NONBLOCK);
	for (calls = 0; calls < n; calls++) {
		uint32_t which = rnd(100);

		alarm(20);	/* nothing may block */
		if (which < 50)
			doing = "ioctl", one_ioctl();
		else if (which < 65)
			doing = "map", one_map();
		else if (which < 85)
			doing = "transfer", one_transfer();
		else
			doing = "other", one_other();
	}
	/* Not that nearly all was refused. */
	CHECK(succeeded > n / 20);
	printf("calls %ld succeeded %ld\n", calls, succeeded);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[1]) : 0;
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), i, status, fd, ctl_fd;
	bool passed = true;
	uint32_t number;

	if (!n)
		return 2;
	CHECK_EQ(rt("linux create 0 3000"), 0);
	CHECK_EQ(rt("linux rthandler 0 11"), 0);
	for (i = 0; i < cpus; i++) {
		if (!fork()) {
			control_fd = -1;
			fuzz(n / cpus, atol(argv[2]) * 7919 + i);
			_exit(0);
		}
	}
	while (wait(&status) > 0) {
		if (status)
			printf("not ok fuzz: a process ended with status %#x\n", status);
		passed &= status == 0;
	}
	ctl_fd = open("/dev/rtfctl", O_RDWR);
	for (number = 0; number < NFIFOS; number++)
		ioctl(ctl_fd, RTF_IOC_DESTROY, &number);
	CHECK_EQ(rt("linux destroy 0"), 0);
	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDWR | O_NONBLOCK);
	CHECK_EQ(write(fd, "hello", 5), 5);
	rt_expect("task", 0, "hello");
	CHECK_EQ(rt("task put 0 hello"), 5);
	expect(fd, "hello");
	CHECK_EQ(rt("linux destroy 0"), 0);
	if (passed)
		puts("ok fuzz");
	return !passed;
}
