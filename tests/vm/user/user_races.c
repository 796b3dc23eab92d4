// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that trip over each other: user_races SEED SECONDS keeps some alive whose threads go to RT
 * mode and leave it at random, fault, call Linux, run over their budgets. Meanwhile other threads
 * change the memory below them, send signals, fork, execute, move them to other CPUs, end them.
 * The machine has to go on. Prints how often each was done; those that were killed count as well.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <tactus/rt.h>

#define PROCESSES 3
#define MOST_THREADS 3
#define PAGES 16
#define PAGE 4096
#define STACK_BYTES 65536
#define AREA ((volatile char *)0x100000000)
/* What RT code writes here, when asked to, the process has to see: whatever the page was before. */
#define ECHO ((volatile unsigned int *)0x180000000)
#define ECHO_BYTES (200 * PAGE)		/* so that it takes a while to pin them */
#define ELSEWHERE ((char *)0x200000000)

#define ACTS(do)							\
	do(echo) do(stale) do(enter) do(refused) do(leave) do(touch) do(call) do(fault) do(divide) do(breakpoint)	\
	do(overrun) do(rest) do(unmap) do(map_over) do(dontneed) do(protect) do(move) do(signal)	\
	do(fork) do(affinity) do(other_device) do(status) do(exec) do(leader_exit) do(exit)	\
	do(kill) do(killed)

enum {
#define ENUM(name) DID_ ## name,
	ACTS(ENUM)
	NUM_ACTS
};

static unsigned int *count;	/* shared by all */
#define did(name) __atomic_add_fetch(&count[DID_ ## name], 1, __ATOMIC_RELAXED)

static __thread unsigned int seed;
static __thread sigjmp_buf again;
static pid_t thread_id[MOST_THREADS];
static unsigned int process_seed;
static volatile unsigned int asked, answered;
static int threads;

static unsigned int below(unsigned int limit)
{
	return rand_r(&seed) % limit;
}

static void on_fault(int number)
{
	siglongjmp(again, number);
}

static void on_signal(int number)
{
	(void)number;
}

/* One thread alone answers. Context: RT mode, and Linux. */
static void answer(void)
{
	unsigned int number = asked;

	if (number == answered)
		return;
	*ECHO = number;
	__atomic_store_n(&answered, number, __ATOMIC_SEQ_CST);
}

/* Context: RT mode, and Linux after what demotes. */
static void act(int64_t period)
{
	int64_t until = rt_now() + period;

	switch (below(16)) {
	case 0:
		did(call);
		getppid();
		break;
	case 1:
		did(fault);
		asm volatile("movb $0, 8" : : : "memory");
		break;
	case 2:
		did(divide);
		asm volatile("xorl %%ecx, %%ecx; divl %%ecx" : : "a" (1), "d" (0) : "ecx");
		break;
	case 3:
		did(breakpoint);
		asm volatile("int3");
		break;
	case 4:
		did(overrun);
		while (rt_now() < until)
			;
		break;
	case 5:
		did(rest);
		rt_sleep_until(rt_now() + below(period));
		break;
	default:
		did(touch);
		AREA[below(PAGES) * PAGE] = 1;
	}
}

static void *be_rt(void *which)
{
	/* Kept over siglongjmp(). */
	volatile long number = (long)which;
	struct rt_attr attr = { .priority = 20 + number };

	seed = process_seed + number;
	thread_id[number] = gettid();
	sigsetjmp(again, 1);
	for (;;) {
		attr.period_ns = 1000000 * (1 + below(4));
		attr.budget_ns = attr.period_ns / 16;
		attr.cpu = (int)below(get_nprocs() + 1) - 1;
		if (rt_enter(&attr)) {
			did(refused);
			usleep(below(3000));
			continue;
		}
		did(enter);
		for (int jobs = below(20); jobs; jobs--) {
			if (!number)
				answer();
			act(attr.period_ns);
			rt_wait(NULL);
		}
		if (below(2)) {
			did(leave);
			rt_leave();
		}
	}
	return NULL;
}

static void map_area(void)
{
	mmap((void *)AREA, PAGES * PAGE, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* The pages are thrown away; what is written later must not be lost with them. */
static void ask(void)
{
	unsigned int number = asked + 1;

	madvise((void *)ECHO, ECHO_BYTES, MADV_DONTNEED);
	__atomic_store_n(&asked, number, __ATOMIC_SEQ_CST);
	for (int tries = 0; tries < 40 && answered != number; tries++)
		usleep(100);
	if (answered != number)
		return;
	did(echo);
	if (*ECHO != number)
		did(stale);
}

/* Context: Linux, beside threads in RT mode. */
static void trouble(void)
{
	char *part = (char *)AREA + below(PAGES / 2) * PAGE;
	size_t size = (1 + below(PAGES / 2)) * PAGE;
	struct rt_stat stat;
	cpu_set_t cpus;
	pid_t pid;
	int fd;

	switch (below(14)) {
	default:
		ask();
		break;
	case 0:
		did(unmap);
		munmap(part, size);
		break;
	case 1:
	case 2:
		did(map_over);
		map_area();
		break;
	case 3:
		did(dontneed);
		madvise(part, size, MADV_DONTNEED);
		break;
	case 4:
		did(protect);
		mprotect(part, size, below(2) ? PROT_READ : PROT_READ | PROT_WRITE);
		break;
	case 5:
		did(move);
		mremap(part, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, ELSEWHERE);
		break;
	case 6:
		did(signal);
		syscall(SYS_tgkill, getpid(), thread_id[below(threads)], SIGUSR1);
		break;
	case 7:
		did(fork);
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		break;
	case 8:
		did(affinity);
		CPU_ZERO(&cpus);
		CPU_SET(below(get_nprocs()), &cpus);
		sched_setaffinity(thread_id[below(threads)], sizeof(cpus), &cpus);
		break;
	case 9:
		did(other_device);
		fd = open("/dev/rt", O_RDWR);
		usleep(below(500));
		close(fd);
		break;
	case 10:
		did(status);
		rt_stat(&stat);
		break;
	}
}

static void be_process(char *self)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGTRAP, SIGILL, SIGXCPU };
	pthread_attr_t small;
	pthread_t thread;

	/* All memory is entered into RT mode's tables whenever it has changed. */
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_BYTES);
	for (unsigned int i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		signal(faults[i], on_fault);
	signal(SIGUSR1, on_signal);
	map_area();
	mmap((void *)ECHO, ECHO_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
	     -1, 0);
	process_seed = below(RAND_MAX);
	threads = 1 + below(MOST_THREADS);
	for (long k = 0; k < threads; k++)
		if (pthread_create(&thread, &small, be_rt, (void *)k))
			_exit(2);
	for (int acts = below(60); acts; acts--) {
		usleep(below(4000));
		trouble();
	}
	switch (below(5)) {
	case 0:
		did(exit);
		exit(0);
	case 1:
		did(exec);
		execl(self, self, NULL);
		_exit(3);
	case 2:
		did(leader_exit);
		pthread_exit(NULL);
	case 3:
		did(kill);
		kill(getpid(), SIGKILL);
	}
	for (;;)
		pause();
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
#define NAME(name) #name,
	static const char *const name[] = { ACTS(NAME) };
	pid_t pid[PROCESSES] = {};
	int64_t until[PROCESSES], end;
	bool more = true;

	if (argc == 1)
		return 0;	/* executed */
	if (argc != 3)
		return 2;
	seed = atoi(argv[1]);
	end = now_ms() + atoi(argv[2]) * 1000;
	count = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	while (more) {
		usleep(2000);
		more = now_ms() < end;
		for (int i = 0; i < PROCESSES; i++) {
			if (pid[i] && (!more || now_ms() > until[i])) {
				did(killed);
				kill(pid[i], SIGKILL);
				waitpid(pid[i], NULL, 0);
				pid[i] = 0;
			}
			if (pid[i] && waitpid(pid[i], NULL, WNOHANG) == pid[i])
				pid[i] = 0;
			if (pid[i] || !more)
				continue;
			until[i] = now_ms() + 50 + below(400);
			rand_r(&seed);
			pid[i] = fork();
			if (!pid[i])
				be_process(argv[0]);
			if (pid[i] < 0)
				pid[i] = 0;
		}
	}
	for (int i = 0; i < NUM_ACTS; i++)
		printf("%s %u\n", name[i], count[i]);
	return 0;
}
