// SPDX-License-Identifier: GPL-2.0-only
/*
 * What RT mode costs a program, and what a system call costs: user_costs WHAT ... prints a line
 * "WHAT NS" for each. With --icount a ns is an instruction.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uapi/tactus/fifo.h>
#include <tactus/rt.h>
#include "modules/path_mark.h"

#define TURNS 1000
#define PERIOD_NS 1000000

static const struct rt_attr usual = {
	.period_ns = PERIOD_NS, .priority = 10, .cpu = -1,
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

static void enter(const struct rt_attr *attr)
{
	if (rt_enter(attr))
		errx(1, "%s", rt_why());
}

/* ---- of Linux's ---- */

static double cost_syscall(void)
{
	double least = 1e9;

	/* The least: an interrupt of Linux's only adds. */
	for (int turn = 0; turn < 20; turn++) {
		double before = now(), took;

		for (int i = 0; i < TURNS / 10; i++)
			syscall(SYS_getppid);
		took = (now() - before) / (TURNS / 10);
		least = took < least ? took : least;
	}
	return least;
}

/* A few of them, with marks for the emulator's plug-in. */
static double cost_marked(void)
{
	PATH_START();
	for (int i = 0; i < 8; i++) {
		syscall(SYS_getppid);
		PATH_HERE();
		syscall(SYS_getppid);
	}
	return 0;
}

/* ---- to RT mode and back ---- */

/* From the call to the moment from which on the first release is counted. */
static double promotion(void)
{
	int64_t before = rt_now(), entered;
	struct rt_job job;

	enter(&usual);
	rt_wait(&job);
	entered = job.release_ns - (job.number + 1) * PERIOD_NS;
	rt_leave();
	return entered - before;
}

/* With so many pages of data as $DATA_PAGES says, beside the program's own. */
static void begin_with_data(void)
{
	const char *wish = getenv("DATA_PAGES");

	if (wish) {
		size_t bytes = strtoul(wish, NULL, 10) * 4096;
		void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

		if (data == MAP_FAILED)
			err(1, "DATA_PAGES=%s", wish);
		memset(data, 1, bytes);
	}
	if (rt_init())
		errx(1, "no /dev/rt");
}

static double cost_promotion(void)
{
	begin_with_data();
	return promotion();
}

/* Back from RT mode: how many pages were pinned. */
static double leave_and_count(void)
{
	struct rt_stat stat;

	if (rt_leave() || rt_stat(&stat))
		errx(1, "it was demoted");
	return stat.pages;
}

static double pages_pinned(void)
{
	begin_with_data();
	enter(&usual);
	return leave_and_count();
}

static double cost_promotion_again(void)
{
	promotion();
	return promotion();
}

/* With a mark for the emulator's plug-in at its end. Returns how many pages there are. */
static double marked_promotion(void)
{
	begin_with_data();
	PATH_START();
	enter(&usual);
	PATH_HERE();
	return leave_and_count();
}

/* A system call in RT mode, less the same in Linux. */
static double cost_demotion(void)
{
	double plain = cost_syscall();
	int64_t before, after;

	enter(&usual);
	before = rt_now();
	syscall(SYS_getppid);
	after = rt_now();
	return after - before - plain;
}

/* ---- in RT mode ---- */

#define BOOT_CODES 0x80	/* a port that only shows them */

static int fifo, sem, mtx;
static char bytes[8];

static void do_now(void) { rt_now(); }
static void do_sleep(void) { rt_sleep_until(0); }
static void do_put(void) { rt_fifo_put(fifo, bytes, sizeof(bytes)); }
static void do_sem(void) { rt_sem_post(sem); rt_sem_wait_until(sem, 0); }
static void do_wait(void) { rt_wait(NULL); }
static void do_port(void) { outb(0, BOOT_CODES); }
static void do_mtx(void) { rt_mtx_lock_until(mtx, 0); rt_mtx_unlock(mtx); }

static double in_rt(void (*call)(void))
{
	int64_t before, after;

	enter(&usual);
	call();
	before = rt_now();
	for (int i = 0; i < TURNS; i++)
		call();
	after = rt_now();
	if (rt_leave())
		errx(1, "it was demoted");
	return (double)(after - before) / TURNS;
}

/* A few of them, with marks for the emulator's plug-in. */
static double marked_in_rt(void (*call)(void))
{
	enter(&usual);
	call();
	PATH_START();
	for (int i = 0; i < 8; i++) {
		call();
		PATH_HERE();
		call();
	}
	if (rt_leave())
		errx(1, "it was demoted");
	return 0;
}

static double cost_now(void)
{
	rt_init();
	return in_rt(do_now);
}

static double cost_sleep(void)
{
	return in_rt(do_sleep);
}

#define SHORTEST_NS 5000

/* Its next release is past each time: it is a thousand releases behind. */
static double cost_wait(void)
{
	struct rt_attr attr = usual;
	int64_t before, after;
	int late = 0;

	attr.period_ns = SHORTEST_NS;
	enter(&attr);
	before = rt_now();
	while (rt_now() < before + (TURNS + 1) * SHORTEST_NS)
		;
	before = rt_now();
	for (int i = 0; i < TURNS; i++)
		late += rt_wait(NULL) == -ETIMEDOUT;
	after = rt_now();
	if (rt_leave() || late != TURNS)
		errx(1, "%d of %d releases were past", late, TURNS);
	return (double)(after - before) / TURNS;
}

static void open_fifo(void)
{
	struct rtf_new new = { .fifo = 0, .size = 1 << 16 };
	int control = open("/dev/rtfctl", O_RDWR);

	if (control < 0 || ioctl(control, RTF_IOC_CREATE, &new))
		err(1, "FIFO");
	fifo = rt_fifo(open("/dev/rtf0", O_RDWR));
}

static double cost_put(void)
{
	open_fifo();
	return in_rt(do_put);
}

static double marked_put(void)
{
	open_fifo();
	return marked_in_rt(do_put);
}

static double marked_wait(void)
{
	return marked_in_rt(do_wait);
}

static double cost_sem(void)
{
	sem = rt_sem_open(NULL, 0);
	return in_rt(do_sem);
}

static double cost_port(void)
{
	if (ioperm(BOOT_CODES, 1, 1))
		err(1, "ioperm");
	return in_rt(do_port);
}

static double cost_mtx(void)
{
	mtx = rt_mtx_open(NULL);
	return in_rt(do_mtx);
}

/*
 * A job: what a loop of Linux's is held up by each: the one-shot event, the release, the switch to
 * ring 3, the wait, the switch back.
 */
#define JOBS 2000
#define FAST_NS 100000

static double cost_round(void)
{
	struct rt_attr attr = usual;
	double alone = 0, beside;
	int status = 0;
	pid_t pid;

	attr.period_ns = FAST_NS;
	for (int turn = 0; turn < 2; turn++) {
		double before;

		pid = turn ? fork() : 0;
		if (turn && !pid) {
			enter(&attr);
			for (int k = 0; k < 2 * JOBS; k++)
				rt_wait(NULL);
			_exit(rt_leave() != 0);
		}
		if (turn)
			usleep(100000);
		before = now();
		for (volatile long i = 0; i < JOBS / 2 * FAST_NS / 6; i++)
			;
		beside = now() - before;
		if (!turn)
			alone = beside;
	}
	if (waitpid(pid, &status, 0) != pid || status)
		errx(1, "the task was demoted");
	return (beside - alone) / (beside / FAST_NS);
}

static const struct {
	const char *name;
	double (*measure)(void);
} costs[] = {
	{ "syscall", cost_syscall }, { "promotion", cost_promotion },
	{ "pages", pages_pinned }, { "marked-promotion", marked_promotion },
	{ "promotion-again", cost_promotion_again }, { "demotion", cost_demotion },
	{ "round", cost_round }, { "now", cost_now }, { "sleep-past", cost_sleep }, { "wait", cost_wait },
	{ "put", cost_put }, { "sem", cost_sem }, { "mtx", cost_mtx },
	{ "port", cost_port }, { "marked", cost_marked }, { "marked-put", marked_put },
	{ "marked-wait", marked_wait },
};

int main(int argc, char **argv)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		err(1, "mlockall");
	for (int a = 1; a < argc; a++) {
		bool known = false;

		for (unsigned int i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
			if (strcmp(argv[a], costs[i].name))
				continue;
			printf("%s %.1f\n", argv[a], costs[i].measure());
			fflush(stdout);
			known = true;
		}
		if (!known)
			errx(2, "no such cost: %s", argv[a]);
	}
	return 0;
}
