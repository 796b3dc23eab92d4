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
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <tactus/rt.h>

#define EXPORT __attribute__((visibility("default")))
#define NS_PER_S 1000000000LL
#define NS_PER_US 1000LL
#define HOUR_NS (3600 * NS_PER_S)
#define PERIOD_US 1000		/* of who must have a budget */
#define LOOK_NS 2000000		/* how often a thread of Linux's looks at a semaphore */

/* The C library's. */
static struct {
	int (*clock_gettime)(clockid_t clock, struct timespec *now);
	int (*gettimeofday)(struct timeval *now, void *zone);
	int (*clock_nanosleep)(clockid_t clock, int flags, const struct timespec *wish,
			       struct timespec *left);
	int (*sched_setscheduler)(pid_t pid, int policy, const struct sched_param *param);
	int (*pthread_setschedparam)(pthread_t thread, int policy, const struct sched_param *param);
	int (*pthread_create)(pthread_t *thread, const pthread_attr_t *attr,
			      void *(*run)(void *arg), void *arg);
	void (*pthread_exit)(void *result);
	int (*sem_init)(sem_t *sem, int shared, unsigned int value);
	int (*sem_destroy)(sem_t *sem);
	int (*sem_post)(sem_t *sem);
	int (*sem_wait)(sem_t *sem);
	int (*sem_trywait)(sem_t *sem);
	int (*sem_timedwait)(sem_t *sem, const struct timespec *until);
	int (*sem_clockwait)(sem_t *sem, clockid_t clock, const struct timespec *until);
	int (*sem_getvalue)(sem_t *sem, int *value);
} linux_;

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
}

#define FIND(name) (*(void **)&linux_.name = dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void prepare(void)
{
	if (linux_.clock_gettime)
		return;
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
	FIND(clock_gettime);
	period_ns = us_of("TACTUS_PERIOD_US");
	budget_ns = us_of("TACTUS_BUDGET_US");
	pthread_atfork(NULL, NULL, after_fork);
}

/* Other libraries' constructors may call before ours has run. */
#define LINUX(name) (prepare(), linux_.name)

/* ---- clocks ---- */

static int64_t ns_of(const struct timespec *t)
{
	return t->tv_sec * NS_PER_S + t->tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
}

static bool is_time(const struct timespec *t)
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

/* To RT mode, from @start on, or at once if that is past. 0 or -errno. */
static int enter(int64_t start)
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

/* Is this thread one for RT mode, whoever made it so? */
static bool adopt_late(void)
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
	int64_t when, offset;
	int ret;

	if ((clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME) || flags & ~TIMER_ABSTIME ||
	    !wish || !is_time(wish) || wish->tv_sec < 0 || wish->tv_sec > INT32_MAX ||
	    !adopt_late())
		return LINUX(clock_nanosleep)(clock, flags, wish, left);
	pthread_testcancel();
	if (!flags) {
		when = rt_now() + ns_of(wish);
	} else {
		offset = self.wanted ? *clock_in_rt(clock) : offset_of(clock);
		when = ns_of(wish) - offset;
	}
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

/* ---- semaphores ---- */

/*
 * struct fast_sem - what is in a sem_t that sem_init() made for this process alone
 * @value: what counts
 * @in_rt, @in_linux: how many threads wait in RT mode, and in Linux
 * @channel: the semaphore of RT mode that wakes the former
 * @magic: says that it is one
 */
struct fast_sem {
	_Atomic uint32_t value, in_rt, in_linux;
	int channel;
	uint64_t magic;
};

_Static_assert(sizeof(struct fast_sem) <= sizeof(sem_t), "it has to fit");

static pthread_mutex_t channels_lock = PTHREAD_MUTEX_INITIALIZER;
static int channels[RT_OBJECTS_MOST], channels_free;

static uint64_t magic_of(const void *sem)
{
	return 0x7461637475737365 ^ (uintptr_t)sem;
}

static struct fast_sem *fast(sem_t *sem)
{
	struct fast_sem *f = (struct fast_sem *)sem;

	return f->magic == magic_of(f) ? f : NULL;
}

static int channel_take(void)
{
	int channel = -1;

	pthread_mutex_lock(&channels_lock);
	if (channels_free)
		channel = channels[--channels_free];
	pthread_mutex_unlock(&channels_lock);
	return channel >= 0 ? channel : rt_sem_open(NULL, 0);
}

static void channel_give(int channel)
{
	pthread_mutex_lock(&channels_lock);
	channels[channels_free++] = channel;
	pthread_mutex_unlock(&channels_lock);
}

static int fail(int err)
{
	errno = err;
	return -1;
}

EXPORT int sem_init(sem_t *sem, int shared, unsigned int value)
{
	struct fast_sem *f = (struct fast_sem *)sem;
	int channel = shared || value > SEM_VALUE_MAX ? -1 : channel_take();

	/* The C library's is right, too, but waiting for it demotes. */
	if (channel < 0) {
		f->magic = 0;
		return LINUX(sem_init)(sem, shared, value);
	}
	memset(sem, 0, sizeof(*sem));
	f->value = value;
	f->channel = channel;
	f->magic = magic_of(f);
	return 0;
}

EXPORT int sem_destroy(sem_t *sem)
{
	struct fast_sem *f = fast(sem);

	if (!f)
		return LINUX(sem_destroy)(sem);
	channel_give(f->channel);
	f->magic = 0;
	return 0;
}

EXPORT int sem_getvalue(sem_t *sem, int *value)
{
	struct fast_sem *f = fast(sem);

	if (!f)
		return LINUX(sem_getvalue)(sem, value);
	*value = f->value;
	return 0;
}

static bool take(struct fast_sem *f)
{
	uint32_t value = f->value;

	while (value)
		if (atomic_compare_exchange_weak(&f->value, &value, value - 1))
			return true;
	return false;
}

EXPORT int sem_trywait(sem_t *sem)
{
	struct fast_sem *f = fast(sem);

	if (!f)
		return LINUX(sem_trywait)(sem);
	return take(f) ? 0 : fail(EAGAIN);
}

EXPORT int sem_post(sem_t *sem)
{
	struct fast_sem *f = fast(sem);
	uint32_t value;

	if (!f)
		return LINUX(sem_post)(sem);
	value = f->value;
	do {
		if (value >= SEM_VALUE_MAX)
			return fail(EOVERFLOW);
	} while (!atomic_compare_exchange_weak(&f->value, &value, value + 1));
	if (f->in_rt)
		rt_sem_post(f->channel);
	/* From RT mode that would be a demotion: the thread of Linux's looks for itself. */
	else if (f->in_linux && !self.wanted)
		syscall(SYS_futex, &f->value, FUTEX_WAKE_PRIVATE, 1);
	return 0;
}

/* In Linux, until @when of rt_now(). 0 or -errno. */
static int wait_in_linux(struct fast_sem *f, int64_t when)
{
	int err = 0;

	f->in_linux++;
	while (!take(f) && !err) {
		int64_t left = when - rt_now();
		struct timespec look = timespec_of(left < LOOK_NS ? left : LOOK_NS);

		pthread_testcancel();
		if (left <= 0)
			err = -ETIMEDOUT;
		else if (syscall(SYS_futex, &f->value, FUTEX_WAIT_PRIVATE, 0, &look) &&
			 errno == EINTR)
			err = -EINTR;
	}
	f->in_linux--;
	return err;
}

static int wait_in_rt(struct fast_sem *f, int64_t when)
{
	int err = self.wanted ? 0 : enter(rt_now());

	f->in_rt++;
	while (!err && !take(f)) {
		err = rt_sem_wait_until(f->channel, when);
		if (err == -ENOSYS)
			err = enter(rt_now());
	}
	f->in_rt--;
	/* It may have come with the end. */
	return err == -ETIMEDOUT && take(f) ? 0 : err;
}

static int wait_until(struct fast_sem *f, int64_t when)
{
	int err = 0;

	pthread_testcancel();
	if (take(f))
		return 0;
	err = adopt_late() ? wait_in_rt(f, when) : -EAGAIN;
	if (err && err != -ETIMEDOUT && err != -EINTR)
		err = wait_in_linux(f, when);
	return err ? fail(-err) : 0;
}

EXPORT int sem_wait(sem_t *sem)
{
	struct fast_sem *f = fast(sem);

	return f ? wait_until(f, RT_NO_DEADLINE) : LINUX(sem_wait)(sem);
}

EXPORT int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *until)
{
	struct fast_sem *f = fast(sem);
	const int64_t *offset = clock_in_rt(clock);

	if (!f)
		return LINUX(sem_clockwait)(sem, clock, until);
	if (take(f))
		return 0;
	if (!is_time(until) || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME))
		return fail(EINVAL);
	return wait_until(f, ns_of(until) - (offset ? *offset : offset_of(clock)));
}

EXPORT int sem_timedwait(sem_t *sem, const struct timespec *until)
{
	struct fast_sem *f = fast(sem);

	return f ? sem_clockwait(sem, CLOCK_REALTIME, until) : LINUX(sem_timedwait)(sem, until);
}
