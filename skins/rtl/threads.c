// SPDX-License-Identifier: GPL-2.0-only
/*
 * RTLinux's threads as RT tasks. A thread's structure is the module's own; its code belongs to a
 * program, with which it ends (threads_forget()).
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include "threads.h"

#define RTL_STACK_BYTES 20000

static DEFINE_MUTEX(threads_mutex);
static LIST_HEAD(threads);

struct rtl_clock rtl_clock_mono;
EXPORT_SYMBOL_GPL(rtl_clock_mono);
struct rtl_clock rtl_clock_real;
EXPORT_SYMBOL_GPL(rtl_clock_real);

static int priority_of(const struct sched_param *param)
{
	int priority = RT_LOWEST_PRIORITY - param->sched_priority;

	return clamp(priority, 1, RT_LOWEST_PRIORITY);
}

static int positive(int error)
{
	return error < 0 ? -error : error;
}

pthread_t pthread_self(void)
{
	struct rtl_thread *self = (struct rtl_thread *)rt_task_self();

	return self && self->magic == RTL_THREAD_MAGIC ? self : NULL;
}
EXPORT_SYMBOL_GPL(pthread_self);

int pthread_attr_init(pthread_attr_t *attr)
{
	*attr = (pthread_attr_t) { .stack_size = RTL_STACK_BYTES, .cpu = -1 };
	return 0;
}
EXPORT_SYMBOL_GPL(pthread_attr_init);

static void run(int unused)
{
	struct rtl_thread *self = (struct rtl_thread *)rt_task_self();

	if (self->fp)
		rt_use_fp(1);
	self->value = self->fn(self->arg);
	WRITE_ONCE(self->ended, true);
}

/* The name that status shows: of the program's function, without its module. */
static void name_it(struct rtl_thread *thread)
{
	char name[64];

	snprintf(name, sizeof(name), "%ps", thread->fn);
	name[strcspn(name, " +")] = 0;
	rt_task_set_name(&thread->task, name);
}

int rtl_create(pthread_t *result, const pthread_attr_t *attr, void *(*fn)(void *), void *arg,
	       int fp)
{
	struct rtl_thread *thread;
	pthread_attr_t own;
	int error;

	if (rt_context() != RT_CONTEXT_LINUX)
		return EPERM;
	if (!result || !fn)
		return EINVAL;
	if (!attr) {
		pthread_attr_init(&own);
		attr = &own;
	}
	thread = kzalloc(sizeof(*thread), GFP_KERNEL);
	if (!thread)
		return ENOMEM;
	thread->magic = RTL_THREAD_MAGIC;
	thread->fn = fn;
	thread->arg = arg;
	thread->fp = fp || attr->fp;
	error = rt_task_init(&thread->task, run, 0, max(attr->stack_size, RTL_STACK_BYTES),
			     priority_of(&attr->param));
	if (error) {
		kfree(thread);
		return -error;
	}
	name_it(thread);
	if (attr->cpu >= 0)
		error = rt_task_set_cpu(&thread->task, attr->cpu);
	if (error) {
		rt_task_delete(&thread->task);
		kfree(thread);
		return -error;
	}
	mutex_lock(&threads_mutex);
	list_add(&thread->all, &threads);
	mutex_unlock(&threads_mutex);
	*result = thread;
	rt_task_wakeup(&thread->task);
	return 0;
}
EXPORT_SYMBOL_GPL(rtl_create);

/* Is it one of ours? With threads_mutex held. */
static bool known(const struct rtl_thread *thread)
{
	const struct rtl_thread *other;

	list_for_each_entry(other, &threads, all)
		if (other == thread)
			return true;
	return false;
}

static void end_thread(struct rtl_thread *thread)
{
	rt_task_delete(&thread->task);
	signals_forget_thread(thread);
	list_del(&thread->all);
	thread->magic = 0;
	kfree(thread);
}

void threads_forget(const struct module *mod)
{
	struct rtl_thread *thread, *next;

	mutex_lock(&threads_mutex);
	list_for_each_entry_safe(thread, next, &threads, all)
		if (!mod || within_module((unsigned long)thread->fn, mod))
			end_thread(thread);
	mutex_unlock(&threads_mutex);
}

void pthread_exit(void *value)
{
	struct rtl_thread *self = pthread_self();

	if (self) {
		struct rtl_cleanup *cleanup;

		while ((cleanup = self->own.cleanups)) {
			self->own.cleanups = cleanup->next;
			cleanup->routine(cleanup->arg);
		}
		self->value = value;
		WRITE_ONCE(self->ended, true);
	}
	for (;;)
		rt_task_delete(rt_task_self());
}
EXPORT_SYMBOL_GPL(pthread_exit);

void pthread_testcancel_only(void)
{
	struct rtl_thread *self = pthread_self();

	if (self && READ_ONCE(self->cancelled) && !self->uncancellable)
		pthread_exit(PTHREAD_CANCELED);
}

/* Where a thread notices that it is cancelled it notices its signals, too. */
void pthread_testcancel(void)
{
	struct rtl_thread *self = pthread_self();

	pthread_testcancel_only();
	if (self)
		signals_deliver(self);
}
EXPORT_SYMBOL_GPL(pthread_testcancel);

int pthread_setcancelstate(int state, int *old)
{
	struct rtl_thread *self = pthread_self();

	if (!self || (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE))
		return EINVAL;
	if (old)
		*old = self->uncancellable;
	self->uncancellable = state;
	return 0;
}
EXPORT_SYMBOL_GPL(pthread_setcancelstate);

/* A thread that sleeps or waits sees it when it goes on; one that is suspended is woken up. */
int pthread_cancel(pthread_t thread)
{
	if (!thread)
		return ESRCH;
	WRITE_ONCE(thread->cancelled, true);
	return positive(rt_task_wakeup(&thread->task));
}
EXPORT_SYMBOL_GPL(pthread_cancel);

/* Who joins a thread that has not been cancelled waits for its end in steps of 1 ms. */
int pthread_join(pthread_t thread, void **value)
{
	bool there;

	if (rt_context() != RT_CONTEXT_LINUX)
		return EPERM;
	mutex_lock(&threads_mutex);
	there = known(thread);
	if (there) {
		while (!READ_ONCE(thread->ended) && !READ_ONCE(thread->cancelled) &&
		       !READ_ONCE(thread->task.faulted))
			schedule_timeout_uninterruptible(max(1, HZ / 1000));
		if (value)
			*value = thread->ended ? thread->value : PTHREAD_CANCELED;
		end_thread(thread);
	}
	mutex_unlock(&threads_mutex);
	return there ? 0 : ESRCH;
}
EXPORT_SYMBOL_GPL(pthread_join);

int pthread_delete_np(pthread_t thread)
{
	bool there;

	if (!thread)
		return ESRCH;
	if (rt_context() != RT_CONTEXT_LINUX) {
		WRITE_ONCE(thread->ended, true);
		return positive(rt_task_delete(&thread->task));
	}
	mutex_lock(&threads_mutex);
	there = known(thread);
	if (there)
		end_thread(thread);
	mutex_unlock(&threads_mutex);
	return there ? 0 : ESRCH;
}
EXPORT_SYMBOL_GPL(pthread_delete_np);

int pthread_make_periodic_np(pthread_t thread, hrtime_t start, hrtime_t period)
{
	if (!thread)
		return ESRCH;
	/* Its first release ends its suspension. */
	if (READ_ONCE(thread->signals.listening))
		WRITE_ONCE(thread->woken, true);
	return positive(rt_task_make_periodic(&thread->task, start, period));
}
EXPORT_SYMBOL_GPL(pthread_make_periodic_np);

int pthread_setperiod_np(pthread_t thread, const struct itimerspec *period)
{
	hrtime_t first = timespec_to_ns(&period->it_value);

	return pthread_make_periodic_np(thread, first ?: gethrtime(),
					timespec_to_ns(&period->it_interval));
}
EXPORT_SYMBOL_GPL(pthread_setperiod_np);

/*
 * Suspended, the caller runs handlers of signals. Only a wake-up, a cancellation or a period that
 * it is given meanwhile ends the suspension; a handler may give the wake-up.
 */
static int suspend_self(struct rtl_thread *self)
{
	int error = 0;

	WRITE_ONCE(self->signals.listening, true);
	/* A signal from here on wakes it up, or finds a suspension to undo. */
	smp_mb();
	signals_deliver(self);
	while (!error && !xchg(&self->woken, false) && !READ_ONCE(self->cancelled)) {
		error = rt_task_suspend(&self->task);
		signals_deliver(self);
	}
	WRITE_ONCE(self->signals.listening, false);
	return error;
}

/* A thread without a period waits to be woken up. */
int pthread_wait_np(void)
{
	RT_TASK *self = rt_task_self();

	if (!self)
		return EPERM;
	pthread_testcancel();
	if (self->period) {
		rt_task_wait();
		/* A wake-up meanwhile was for this wait, not for the next suspension. */
		WRITE_ONCE(self->token, 0);
		if (pthread_self())
			WRITE_ONCE(pthread_self()->woken, false);
	} else if (pthread_self()) {
		suspend_self(pthread_self());
	} else {
		rt_task_suspend(self);
	}
	pthread_testcancel();
	return 0;
}
EXPORT_SYMBOL_GPL(pthread_wait_np);

int pthread_suspend_np(pthread_t thread)
{
	int error;

	if (!thread)
		return ESRCH;
	error = thread == pthread_self() ? suspend_self(thread) : rt_task_suspend(&thread->task);
	pthread_testcancel();
	return positive(error);
}
EXPORT_SYMBOL_GPL(pthread_suspend_np);

/*
 * Whoever is woken up, by whatever, runs at once if it is more urgent. So what is left to do here
 * is what the caller has marked, and its signals.
 */
int rtl_schedule(void)
{
	struct rtl_thread *self = pthread_self();
	int error = 0;

	pthread_testcancel();
	if (self && xchg(&self->marked, false))
		error = positive(suspend_self(self));
	pthread_testcancel();
	return error;
}
EXPORT_SYMBOL_GPL(rtl_schedule);

void rtl_mark(pthread_t thread, int suspended)
{
	if (thread && thread == pthread_self())
		thread->marked = suspended;
	else if (suspended)
		pthread_suspend_np(thread);
	else
		pthread_wakeup_np(thread);
}
EXPORT_SYMBOL_GPL(rtl_mark);

int pthread_wakeup_np(pthread_t thread)
{
	if (!thread)
		return ESRCH;
	WRITE_ONCE(thread->woken, true);
	/* Its own handler does not wake up the thread that it runs in, but ends its suspension. */
	return thread == pthread_self() ? 0 : positive(rt_task_wakeup(&thread->task));
}
EXPORT_SYMBOL_GPL(pthread_wakeup_np);

int pthread_kill(pthread_t thread, int sig)
{
	switch (sig) {
	case RTL_SIGNAL_NULL:
		return thread ? 0 : ESRCH;
	case RTL_SIGNAL_CANCEL:
		return pthread_cancel(thread);
	case RTL_SIGNAL_WAKEUP:
		return pthread_wakeup_np(thread);
	case RTL_SIGNAL_SUSPEND:
		return pthread_suspend_np(thread);
	case RTL_SIGNAL_DELETE:
		return pthread_delete_np(thread);
	}
	return signals_send(thread, sig);
}
EXPORT_SYMBOL_GPL(pthread_kill);

/* From elsewhere it counts only until the thread first runs: say it in the attributes. */
int pthread_setfp_np(pthread_t thread, int flag)
{
	if (!thread)
		return ESRCH;
	thread->fp = flag;
	if (thread == pthread_self())
		rt_use_fp(flag);
	return 0;
}
EXPORT_SYMBOL_GPL(pthread_setfp_np);

int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
	if (!thread)
		return ESRCH;
	return positive(rt_task_set_priority(&thread->task, priority_of(param)));
}
EXPORT_SYMBOL_GPL(pthread_setschedparam);

int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param)
{
	if (!thread)
		return ESRCH;
	*policy = SCHED_FIFO;
	param->sched_priority = RT_LOWEST_PRIORITY - thread->task.priority;
	param->sched_period = thread->task.period;
	return 0;
}
EXPORT_SYMBOL_GPL(pthread_getschedparam);

int rtl_nanosleep(clockid_t clock, int flags, const struct timespec *when, struct timespec *left)
{
	hrtime_t until = timespec_to_ns(when);
	int error;

	pthread_testcancel();
	until += flags & TIMER_ABSTIME ? -clock->offset : rt_get_time();
	error = rt_task_sleep_until(max(until, 0LL));
	pthread_testcancel();
	if (left)
		*left = timespec_from_ns(0);
	return positive(error);
}
EXPORT_SYMBOL_GPL(rtl_nanosleep);
