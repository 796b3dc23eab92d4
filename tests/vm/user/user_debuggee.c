// SPDX-License-Identifier: GPL-2.0-only
/*
 * What debuggers and tracers look at: user_debuggee HOW
 *
 *	loop	jobs of 1 ms, each of which calls job(), until stop is set, or 10,000
 *	short	likewise, 200 of them
 *	fault	writes to address 8 in RT mode, with known values in registers
 *	stray	calls Linux in RT mode
 *	spin	50 ms in RT mode in spin_rt(), then 50 ms as a thread of Linux's in spin_linux()
 *
 * Each prints its jobs, and how often it was promoted and demoted. The functions that a debugger is told
 * of are not inlined.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <tactus/rt.h>

#define MS 1000000LL
#define JOBS 10000
#define FEW_JOBS 200
#define APART __attribute__((noinline, noclone, used))

volatile unsigned long jobs_done;
volatile int stop;

APART void job(void)
{
	jobs_done++;
}

APART void fault(void)
{
	__asm__ volatile("movabsq $0x1111222233334444, %%rbx\n\t"
			 "movabsq $0x5555666677778888, %%r12\n\t"
			 "movabsq $0x99990000aaaabbbb, %%r15\n\t"
			 "movq %%r12, %%xmm7\n\t"
			 "movb $0, 8" : : : "rbx", "r12", "r15", "xmm7", "memory");
}

APART void stray(void)
{
	getppid();
	__asm__ volatile("" : : : "memory");
}

static void spin(int64_t ns)
{
	int64_t until = rt_now() + ns;

	while (rt_now() < until)
		;
}

/* In jobs of which each keeps to its budget. */
APART void spin_rt(void)
{
	for (int i = 0; i < 100; i++) {
		spin(MS / 2);
		rt_wait(NULL);
	}
}

APART void spin_linux(void)
{
	spin(50 * MS);
}

int main(int argc, char **argv)
{
	struct rt_attr attr = { .period_ns = MS, .budget_ns = MS * 9 / 10, .priority = 10, .cpu = -1 };
	const char *how = argc == 2 ? argv[1] : "";
	struct rt_stat stat;
	uint64_t demotions = 0;

	mlockall(MCL_CURRENT | MCL_FUTURE);
	if (rt_enter(&attr))
		errx(1, "%s", rt_why());
	if (!strcmp(how, "loop") || !strcmp(how, "short")) {
		for (int left = *how == 'l' ? JOBS : FEW_JOBS; left && !stop; left--) {
			job();
			rt_wait(NULL);
		}
	} else if (!strcmp(how, "fault")) {
		fault();
	} else if (!strcmp(how, "stray")) {
		stray();
	} else if (!strcmp(how, "spin")) {
		spin_rt();
	}
	rt_leave();
	if (!strcmp(how, "spin"))
		spin_linux();
	rt_stat(&stat);
	for (int i = RT_END_LEAVE + 1; i < RT_END_REASONS; i++)
		demotions += stat.demotions[i];
	printf("jobs %lu promotions %lu demotions %lu\n", jobs_done, (unsigned long)stat.promotions,
	       (unsigned long)demotions);
	return 0;
}
