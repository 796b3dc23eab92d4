// SPDX-License-Identifier: LGPL-2.1-or-later WITH Linux-syscall-note
/*
 * libtactus-posix: the calls of POSIX that a real-time loop makes, in RT mode. See
 * libtactus-posix(7).
 *
 * A thread with SCHED_FIFO or SCHED_RR goes to RT mode where it gets that policy, where it starts
 * with it, or where it next sleeps. It is a periodic task there, of which sleeping until a moment
 * is not the end of a job: releases only bring new budgets. What this library does not have is the
 * C library's, and demotes if it is a system call.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "posix.h"

#define NS_PER_US 1000LL
#define HOUR_NS (3600 * NS_PER_S)
#define PERIOD_US 1000		/* of who must have a budget */

static struct linux_calls linux_;

/*
 * This thread's.
 * @wanted: it is to be in RT mode, and was
 * @priority: of Linux's policy, 1 to 99
 * @period: of the task, ns
 * @next: the release after the last one that is known
 * @monotonic, @realtime: those clocks, minus rt_now()
 */
static __thread struct {
	bool wanted;
	int priority;
	int64_t period, next, monotonic, realtime;
} self;

/* From the environment; 0: not said. */
static int64_t period_ns, budget_ns;

/* ---- before main ---- */

static int64_t us_of(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long us;

	if (!text)
		return 0;
	us = strtol(text, &end, 10);
	if (us > 0 && us <= 1000000 && !*end)
		return us * NS_PER_US;
	fprintf(stderr, "libtactus-posix: %s=%s: want microseconds, up to 1000000\n", name, text);
	exit(2);
}

static void after_fork(void)
{
	self.wanted = false;
	channels_renew();
}

#define FIND(name) (*(void **)&linux_.name = dlsym(RTLD_NEXT, #name))

const struct linux_calls *linux_calls(void)
{
	if (linux_.clock_gettime)
		return &linux_;
	FIND(gettimeofday);
	FIND(clock_nanosleep);
	FIND(sched_setscheduler);
	FIND(pthread_setschedparam);
	FIND(pthread_create);
	FIND(pthread_exit);
	FIND(sem_init);
	FIND(sem_destroy);
	FIND(sem_post);
	FIND(sem_wait);
	FIND(sem_trywait);
	FIND(sem_timedwait);
	FIND(sem_clockwait);
	FIND(sem_getvalue);
	FIND(sem_open);
	FIND(sem_close);
	FIND(sem_unlink);
	FIND(mq_open);
	FIND(mq_close);
	FIND(mq_unlink);
	FIND(mq_getattr);
	FIND(mq_setattr);
	FIND(mq_notify);
	FIND(mq_timedsend);
	FIND(mq_timedreceive);
	FIND(clock_gettime);
	return &linux_;
}

/* After libtactus's: so a child of fork() has its /dev/rt when after_fork() is called. */
__attribute__((constructor)) static void prepare(void)
{
	linux_calls();
	period_ns = us_of("TACTUS_PERIOD_US");
	budget_ns = us_of("TACTUS_BUDGET_US");
	pthread_atfork(NULL, NULL, after_fork);
}

/* ---- clocks ---- */

static int64_t ns_of(const struct timespec *t)
{
	return t->tv_sec * NS_PER_S + t->tv_nsec;
}

int fail(int err)
{
	errno = err;
	return -1;
}

struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
}

bool is_time(const struct timespec *t)
{
	return t->tv_nsec >= 0 && t->tv_nsec < NS_PER_S;
}

/* A clock minus rt_now(): of a few readings the one with the least between them. */
static int64_t offset_of(clockid_t clock)
{
	int64_t least = INT64_MAX, offset = 0;

	for (int i = 0; i < 4; i++) {
		struct timespec there;
		int64_t before = rt_now(), took;

		LINUX(clock_gettime)(clock, &there);
		took = rt_now() - before;
		if (took >= least)
			continue;
		least = took;
		offset = ns_of(&there) - (before + took / 2);
	}
	return offset;
}

/* What of rt_now()'s is the clock of this thread; NULL: not one that RT mode has. */
static const int64_t *clock_in_rt(clockid_t clock)
{
	if (!self.wanted)
		return NULL;
	if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE)
		return &self.monotonic;
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? &self.realtime : NULL;
}

int64_t moment_of(clockid_t clock, const struct timespec *at)
{
	const int64_t *offset = clock_in_rt(clock);

	return ns_of(at) - (offset ? *offset : offset_of(clock));
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *now)
{
	const int64_t *offset = clock_in_rt(clock);

	if (!offset)
		return LINUX(clock_gettime)(clock, now);
	*now = timespec_of(rt_now() + *offset);
	return 0;
}

EXPORT int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	int64_t us;

	if (!self.wanted || zone)
		return LINUX(gettimeofday)(now, zone);
	us = (rt_now() + self.realtime) / NS_PER_US;
	*now = (struct timeval){ us / 1000000, us % 1000000 };
	return 0;
}

/* ---- RT mode ---- */

int enter(int64_t start)
{
	struct rt_attr attr = {
		.period_ns = period_ns ?: budget_ns ? PERIOD_US * NS_PER_US : HOUR_NS,
		.start_ns = start, .budget_ns = budget_ns,
		.priority = 100 - self.priority, .cpu = -1, .flags = RT_START_NOW,
	};
	int err = rt_init();

	if (!err) {
		attr.start_ns = attr.start_ns > 0 ? attr.start_ns : 1;
		self.monotonic = offset_of(CLOCK_MONOTONIC);
		self.realtime = offset_of(CLOCK_REALTIME);
		err = rt_enter(&attr);
	}
	/* Without that right there must be a budget: half of the CPU. */
	if (err == -EPERM && !budget_ns) {
		attr.period_ns = period_ns ?: PERIOD_US * NS_PER_US;
		attr.budget_ns = attr.period_ns / 2;
		err = rt_enter(&attr);
	}
	self.wanted = !err;
	if (err && err != -EINTR)
		fprintf(stderr, "libtactus-posix: not in RT mode: %s\n",
			*rt_why() ? rt_why() : "/dev/rt cannot be opened: is tactus_user loaded?");
	/* The kernel chose it, but if it were later a release would be over at once, no more. */
	if (!err) {
		self.period = attr.period_ns;
		self.next = (start > rt_now() ? start : rt_now()) + attr.period_ns;
	}
	return err;
}

static bool is_rt(int policy)
{
	policy &= ~SCHED_RESET_ON_FORK;
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

/* The calling thread has this policy of Linux's: so it is in RT mode now, or not. 0 or -errno. */
static int adopt(int policy, int priority)
{
	int err;

	if (!is_rt(policy))
		return 0;
	self.priority = priority;
	err = enter(rt_init() ? 0 : rt_now());
	/* A signal came first: it goes there when it sleeps next. */
	return err == -EINTR ? 0 : err;
}

bool is_wanted(void)
{
	return self.wanted;
}

bool adopt_late(void)
{
	struct sched_param param;

	if (self.wanted)
		return true;
	if (!is_rt(syscall(SYS_sched_getscheduler, 0)) || syscall(SYS_sched_getparam, 0, &param))
		return false;
	self.priority = param.sched_priority;
	return true;
}

/* Before what only Linux can do: that is no demotion. */
static void leave(void)
{
	if (self.wanted)
		rt_leave();
	self.wanted = false;
}

/* Until @when of rt_now(), in RT mode; the thread is wanted there. 0 or -errno. */
static int sleep_in_rt(int64_t when)
{
	struct rt_job job;
	int ret = self.wanted ? 0 : -ENOSYS;

	/* Each release that passes is a job, with a budget of its own. */
	while (!ret && self.next <= when) {
		ret = rt_wait(&job);
		if (ret && ret != -ETIMEDOUT)
			break;
		self.next = job.release_ns + self.period;
		ret = 0;
	}
	if (!ret)
		ret = rt_sleep_until(when);
	/* It is in Linux: back, to go on at that moment. */
	return ret == -ENOSYS ? enter(when) : ret;
}

/* ---- sleeping ---- */

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wish,
			   struct timespec *left)
{
	int64_t when;
	int ret;

	if ((clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME) || flags & ~TIMER_ABSTIME ||
	    !wish || !is_time(wish) || wish->tv_sec < 0 || wish->tv_sec > INT32_MAX ||
	    !adopt_late())
		return LINUX(clock_nanosleep)(clock, flags, wish, left);
	pthread_testcancel();
	when = flags ? moment_of(clock, wish) : rt_now() + ns_of(wish);
	ret = sleep_in_rt(when);
	pthread_testcancel();
	if (!ret || ret == -ETIMEDOUT)
		return 0;
	if (ret != -EINTR)
		return LINUX(clock_nanosleep)(clock, flags, wish, left);
	if (!flags && left)
		*left = timespec_of(when > rt_now() ? when - rt_now() : 0);
	return EINTR;
}

EXPORT int nanosleep(const struct timespec *wish, struct timespec *left)
{
	int err = clock_nanosleep(CLOCK_MONOTONIC, 0, wish, left);

	if (!err)
		return 0;
	errno = err;
	return -1;
}

EXPORT int usleep(useconds_t us)
{
	struct timespec wish = timespec_of(us * NS_PER_US);

	return nanosleep(&wish, NULL);
}

/* ---- policies and threads ---- */

EXPORT int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	bool mine;
	int err;

	/* It is a system call in any case, so no demotion that anybody need be told of. */
	leave();
	mine = !pid || pid == syscall(SYS_gettid);
	if (LINUX(sched_setscheduler)(pid, policy, param))
		return -1;
	err = mine ? adopt(policy, param->sched_priority) : 0;
	if (!err)
		return 0;
	errno = -err;
	return -1;
}

EXPORT int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
	int err;

	leave();
	err = LINUX(pthread_setschedparam)(thread, policy, param);
	if (err || !pthread_equal(thread, pthread_self()))
		return err;
	return -adopt(policy, param->sched_priority);
}

struct start {
	void *(*run)(void *arg);
	void *arg;
};

static void *run_thread(void *arg)
{
	struct start start = *(struct start *)arg;
	void *result;

	free(arg);
	if (adopt_late())
		enter(rt_init() ? 0 : rt_now());
	result = start.run(start.arg);
	leave();
	return result;
}

EXPORT int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr,
			  void *(*run)(void *arg), void *restrict arg)
{
	struct start *start = malloc(sizeof(*start));
	int err;

	if (!start)
		return EAGAIN;
	*start = (struct start){ run, arg };
	err = LINUX(pthread_create)(thread, attr, run_thread, start);
	if (err)
		free(start);
	return err;
}

EXPORT void pthread_exit(void *result)
{
	leave();
	LINUX(pthread_exit)(result);
	__builtin_unreachable();
}
