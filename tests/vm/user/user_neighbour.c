// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread in RT mode interrupts a process that has of its CPU what is nobody else's business:
 * user_neighbour HOW
 *
 *	tsc		rdtsc is forbidden to it
 *	breakpoint	a debugger watches one of its addresses, to which RT code writes
 *	port		it may use a port, and RT code may not
 *	rtc		it gets 8192 interrupts a second from the clock, and RT code takes 90 % of the CPU
 *
 * Says how often RT code was turned back by what, and whether the neighbour has kept all that is its
 * own: ymm registers, FS and GS, and what it has above.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/rtc.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tactus/rt.h>

#define PERIOD_NS 1000000
#define JOBS 200
#define PORT 0x82		/* a byte that the DMA controller keeps for whoever wants it */
#define RTC_HZ 8192
/* Of the register DR7: the first one is on, for a write of four bytes. */
#define WATCH_FIRST 0xd0001UL

/* Of both processes, at the same address; and what they share. */
static volatile int watched;
static struct shared {
	volatile bool ready, stop;
	volatile unsigned long turns, wrong, ticks;
	volatile bool kept;
} *shared;

static sigjmp_buf after;

static void on_fault(int number)
{
	siglongjmp(after, number);
}

/* ---- the neighbour ---- */

static unsigned long turn(unsigned long number)
{
	const uint64_t put[4] = { number, ~number, number * 3, number << 32 };
	uint64_t got[4], gs;

	__asm__ volatile("wrgsbase %3\n\t"
			 "vmovups %2, %%ymm15\n\t"
			 "movl $2000, %%ecx\n\t"
			 "1: decl %%ecx\n\t"
			 "jnz 1b\n\t"
			 "vmovups %%ymm15, %0\n\t"
			 "rdgsbase %1"
			 : "=m" (got), "=r" (gs) : "m" (put), "r" (number) : "ecx", "xmm15");
	return gs != number || memcmp(put, got, sizeof(put));
}

static void be_neighbour(const char *how)
{
	static __thread unsigned long own;
	unsigned long value, number = 0;
	int clock = -1;

	signal(SIGSEGV, on_fault);
	if (!strcmp(how, "tsc"))
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	if (!strcmp(how, "port") && ioperm(PORT, 1, 1))
		err(1, "ioperm");
	if (!strcmp(how, "rtc")) {
		clock = open("/dev/rtc0", O_RDONLY);
		if (ioctl(clock, RTC_IRQP_SET, RTC_HZ) || ioctl(clock, RTC_PIE_ON))
			err(1, "/dev/rtc0");
	}
	shared->ready = true;
	while (!shared->stop) {
		own = ++number;
		shared->wrong += turn(number) || own != number;
		shared->turns = number;
		if (clock >= 0 && read(clock, &value, sizeof(value)) == sizeof(value))
			shared->ticks += value >> 8;
	}
	if (!strcmp(how, "tsc")) {
		shared->kept = sigsetjmp(after, 1);
		if (!shared->kept)
			__asm__ volatile("rdtsc" : : : "eax", "edx");
	} else if (!strcmp(how, "port")) {
		shared->kept = !sigsetjmp(after, 1);
		if (shared->kept)
			outb(0x5a, PORT);
	} else if (!strcmp(how, "breakpoint")) {
		watched = 1;		/* its parent sees that */
	} else {
		shared->kept = true;
	}
	_exit(0);
}

static void watch(pid_t pid)
{
	int status;

	if (ptrace(PTRACE_SEIZE, pid, 0, 0) || ptrace(PTRACE_INTERRUPT, pid, 0, 0) ||
	    waitpid(pid, &status, 0) != pid ||
	    ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[0]), &watched) ||
	    ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[7]), WATCH_FIRST) ||
	    ptrace(PTRACE_CONT, pid, 0, 0))
		err(1, "ptrace");
}

/* ---- RT mode ---- */

static void jobs(const char *how)
{
	struct rt_attr attr = {
		.period_ns = PERIOD_NS, .budget_ns = PERIOD_NS / 100 * 98, .priority = 10, .cpu = 0,
	};
	const bool tsc = !strcmp(how, "tsc"), point = !strcmp(how, "breakpoint");
	const int64_t work = strcmp(how, "rtc") ? 0 : PERIOD_NS / 10 * 9;
	volatile double sum = 0;

	if (rt_enter(&attr))
		errx(1, "%s", rt_why());
	for (int k = 0; k < JOBS; k++) {
		int64_t until;

		rt_wait(NULL);
		sum += k * 0.5;
		if (tsc)
			__asm__ volatile("rdtsc" : : : "eax", "edx");
		if (point)
			watched = k;
		until = work ? rt_now() + work : 0;
		while (work && rt_now() < until)
			;
	}
	/* To keep the signals' mask would be a system call. */
	if (!strcmp(how, "port") && !sigsetjmp(after, 0))
		outb(0x77, PORT);
	rt_leave();
	if (sum != JOBS * (JOBS - 1) / 4.)
		errx(1, "wrong sum");
}

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";
	struct rt_stat stat;
	cpu_set_t first;
	int status;
	pid_t pid;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (!pid)
		be_neighbour(how);
	while (!shared->ready)
		usleep(1000);
	signal(SIGSEGV, on_fault);
	if (!strcmp(how, "breakpoint"))
		watch(pid);
	jobs(how);
	if (rt_stat(&stat))
		errx(1, "no figures");
	shared->stop = true;
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		shared->kept |= WSTOPSIG(status) == SIGTRAP;
		ptrace(PTRACE_CONT, pid, 0, 0);
	}
	printf("jobs %d traps %llu others %llu vector %u; neighbour %s, %s; ticks %lu\n", JOBS,
	       (unsigned long long)stat.demotions[RT_END_TRAP],
	       (unsigned long long)(stat.demotions[RT_END_SIGNAL] + stat.demotions[RT_END_STOPPED] +
				    stat.demotions[RT_END_MEMORY] + stat.demotions[RT_END_SYSCALL]),
	       stat.demotions[RT_END_TRAP] ? stat.vector : 0,
	       shared->turns > 20 && !shared->wrong && !status ? "right" : "wrong",
	       shared->kept ? "kept" : "lost", shared->ticks);
	return 0;
}
