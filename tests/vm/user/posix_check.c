// SPDX-License-Identifier: GPL-2.0-only
/*
 * What libtactus-posix promises, in the guest: linked with it, or with it preloaded. Runs the
 * cases that it is given the names of, and prints "ok NAME" for each.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
#define MS 1000000LL
#define LATE_NS 2500	/* in RT mode; Linux needs more than that, idle as it may be */

#define CHECK(holds)								\
	do {									\
		if (!(holds)) {							\
			fprintf(stderr, "line %d: %s\n", __LINE__, #holds);	\
			exit(1);						\
		}								\
	} while (0)

static int64_t now_of(clockid_t clock)
{
	struct timespec now;

	CHECK(!clock_gettime(clock, &now));
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int64_t now(void)
{
	return now_of(CLOCK_MONOTONIC);
}

static int sleep_until(int64_t when)
{
	struct timespec t = { when / NS_PER_S, when % NS_PER_S };

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* How many demotions of this reason there were, of all programs. Not from RT mode. */
static int demotions(const char *reason)
{
	FILE *file = fopen("/sys/kernel/tactus/demotions", "r");
	char line[256], why[32];
	int count = 0;

	/* Without the module there are none. */
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%*s %*s %*s %31s", why) == 1 && !strcmp(why, reason))
			count++;
	fclose(file);
	return count;
}

/* The latest of so many wake-ups, a period apart. */
static int64_t worst(int64_t period, int cycles)
{
	int64_t next = now() + period, worst = 0;

	for (int i = 0; i < cycles; i++, next += period) {
		int64_t late;

		CHECK(!sleep_until(next));
		late = now() - next;
		CHECK(late >= 0);
		worst = late > worst ? late : worst;
	}
	return worst;
}

static void *run_result;

/* Runs @run in a thread of the policy FIFO from its start. */
static void in_thread(void *(*run)(void *arg))
{
	struct sched_param param = { .sched_priority = 80 };
	pthread_attr_t attr;
	pthread_t thread;

	CHECK(!pthread_attr_init(&attr));
	CHECK(!pthread_attr_setschedpolicy(&attr, SCHED_FIFO));
	CHECK(!pthread_attr_setschedparam(&attr, &param));
	CHECK(!pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED));
	CHECK(!pthread_attr_setstacksize(&attr, 64 * 1024));
	CHECK(!pthread_create(&thread, &attr, run, NULL));
	CHECK(!pthread_join(thread, &run_result));
}

/* ---- the cases ---- */

static void *loops(void *unused)
{
	int64_t all = worst(MS, 50);

	/* Off the grid of the first one. */
	all = all > worst(MS / 3, 50) ? all : worst(MS / 3, 50);
	return (void *)all;
}

static void thread(void)
{
	int syscalls = demotions("syscall"), traps = demotions("trap");

	in_thread(loops);
	CHECK((int64_t)run_result < LATE_NS);
	CHECK(demotions("syscall") == syscalls && demotions("trap") == traps);
}

/* A system call demotes, is counted, and the next sleep goes back. */
static void *strays(void *unused)
{
	int64_t next = now() + 2 * MS;

	CHECK(!sleep_until(next));
	CHECK(getppid() > 0);
	CHECK(!sleep_until(next + 2 * MS));
	CHECK(now() - next - 2 * MS < LATE_NS);
	return (void *)worst(MS, 5);
}

static void demoted(void)
{
	int before = demotions("syscall");

	in_thread(strays);
	CHECK((int64_t)run_result < LATE_NS);
	CHECK(demotions("syscall") == before + 1);
}

/* The main thread, by either call; and back to Linux, which is no demotion. */
static void policy(void)
{
	struct sched_param param = { .sched_priority = 50 }, none = { 0 };
	int before = demotions("syscall");

	CHECK(!sched_setscheduler(0, SCHED_RR, &param));
	CHECK(worst(MS, 10) < LATE_NS);
	CHECK(!sched_setscheduler(0, SCHED_OTHER, &none));
	CHECK(!pthread_setschedparam(pthread_self(), SCHED_FIFO, &param));
	CHECK(worst(MS, 10) < LATE_NS);
	CHECK(!pthread_setschedparam(pthread_self(), SCHED_OTHER, &none));
	CHECK(demotions("syscall") == before);
	param.sched_priority = 1000;
	CHECK(sched_setscheduler(0, SCHED_FIFO, &param) == -1 && errno == EINVAL);
}

static void *looks_at_clocks(void *unused)
{
	struct timespec wish = { 0, 3 * MS };
	int64_t before = now(), wall = now_of(CLOCK_REALTIME);
	struct timeval t;

	CHECK(!gettimeofday(&t, NULL));
	CHECK(llabs(t.tv_sec * NS_PER_S + t.tv_usec * 1000 - wall) < MS);
	CHECK(!nanosleep(&wish, NULL) && !usleep(1000));
	CHECK(now() - before >= 4 * MS && now() - before < 4 * MS + 10 * LATE_NS);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
			      &(struct timespec){ 0, NS_PER_S }, NULL) == EINVAL);
	return (void *)now();
}

/* RT mode's clock is Linux's. */
static void clocks(void)
{
	int64_t before = now();

	in_thread(looks_at_clocks);
	CHECK((int64_t)run_result > before + 4 * MS && (int64_t)run_result <= now() + 1000);
}

static volatile int signals;

static void on_signal(int number)
{
	(void)number;
	signals++;
}

static pthread_t sleeper;

static void *sleeps_long(void *unused)
{
	int64_t until;

	sleeper = pthread_self();
	until = now() + 10 * NS_PER_S;
	CHECK(sleep_until(until) == EINTR && signals == 1);
	return (void *)worst(MS, 5);
}

static void *sends_signal(void *unused)
{
	usleep(5000);
	pthread_kill(sleeper, SIGUSR1);
	return NULL;
}

static void interrupted(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t sender;

	CHECK(!sigaction(SIGUSR1, &action, NULL));
	CHECK(!pthread_create(&sender, NULL, sends_signal, NULL));
	in_thread(sleeps_long);
	CHECK((int64_t)run_result < LATE_NS);
	CHECK(!pthread_join(sender, NULL));
}

static sem_t orders, answers;
static int served;

static void *serves(void *unused)
{
	struct timespec soon = { 0 };
	int64_t end;

	for (int i = 0; i < 20; i++) {
		CHECK(!sem_wait(&orders));
		served++;
		/* The other one waits by then. */
		CHECK(!usleep(1000));
		CHECK(!sem_post(&answers));
	}
	end = now_of(CLOCK_REALTIME) + 2 * MS;
	soon.tv_sec = end / NS_PER_S;
	soon.tv_nsec = end % NS_PER_S;
	CHECK(sem_timedwait(&orders, &soon) == -1 && errno == ETIMEDOUT);
	CHECK(now_of(CLOCK_REALTIME) - end < LATE_NS);
	CHECK(sem_trywait(&orders) == -1 && errno == EAGAIN);
	return NULL;
}

static void *asks(void *unused)
{
	for (int i = 0; i < 20; i++) {
		CHECK(!sem_post(&orders));
		CHECK(!sem_wait(&answers));
		CHECK(served == i + 1);
	}
	return NULL;
}

/* Between a thread in RT mode and one of Linux's, which demotes nobody. */
static void semaphores(void)
{
	int before = demotions("syscall"), value;
	pthread_t other;

	CHECK(!sem_init(&orders, 0, 0) && !sem_init(&answers, 0, 0));
	CHECK(!pthread_create(&other, NULL, asks, NULL));
	in_thread(serves);
	CHECK(!pthread_join(other, NULL));
	CHECK(served == 20 && demotions("syscall") == before);
	CHECK(!sem_getvalue(&answers, &value) && !value);
	CHECK(!sem_destroy(&orders) && !sem_destroy(&answers));
	/* More than RT mode has: the others are the C library's. */
	for (int i = 0; i < 80; i++)
		CHECK(!sem_init(&orders, 0, 1) && !sem_wait(&orders));
}

/* What does not concern RT mode is the C library's. */
static void ordinary(void)
{
	struct timespec wish = { 0, MS }, never = { 0, -1 };
	int64_t before = now();
	sem_t shared;

	CHECK(!nanosleep(&wish, NULL) && now() - before >= MS);
	CHECK(nanosleep(&never, NULL) == -1 && errno == EINVAL);
	CHECK(!sem_init(&shared, 1, 1) && !sem_wait(&shared));
	CHECK(sem_trywait(&shared) == -1 && errno == EAGAIN && !sem_destroy(&shared));
	CHECK(now_of(CLOCK_PROCESS_CPUTIME_ID) > 0);
}

#define CASES(do)								\
	do(thread) do(demoted) do(policy) do(clocks) do(interrupted) do(semaphores) do(ordinary)

#define TABLE(name) { #name, name },
static const struct {
	const char *name;
	void (*run)(void);
} cases[] = { CASES(TABLE) };

int main(int argc, char **argv)
{
	CHECK(!mlockall(MCL_CURRENT | MCL_FUTURE));
	for (int i = 1; i < argc; i++)
		for (size_t n = 0; n < sizeof(cases) / sizeof(*cases); n++)
			if (!strcmp(argv[i], cases[n].name)) {
				cases[n].run();
				printf("ok %s\n", argv[i]);
				fflush(stdout);
			}
	return 0;
}
