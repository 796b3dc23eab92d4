// SPDX-License-Identifier: GPL-2.0-only
/* RTLinux's signals between threads, and its POSIX timers by those of <rt/timer.h>. */
#include <rtl_signal.h>
#include "threads.h"

/* Of all threads, as there. */
static struct rtl_sigaction actions[RTL_SIGRTMAX + 1];
static struct rtl_thread *handled_by[RTL_SIGRTMAX + 1];

/* Timers are found by their place here, so a bad one is told without touching it. */
static struct rtl_posix_timer {
	struct rt_timer timer;
	unsigned int taken;
	int signo;			/* 0: none */
	union sigval value;
	struct module *owner;
	clockid_t clock;
	struct rtl_thread *to;
	RTIME next, interval;		/* next 0: disarmed */
	int overruns;
} timers[RTL_TIMERS];

/* What SA_SIGINFO says of the last of each. */
static struct {
	int code;
	union sigval value;
} told[RTL_SIGRTMAX + 1];

/* The actions of the lines' interrupts. */
static struct rtl_sigaction of_lines[LINES];

static bool valid(int sig)
{
	return sig >= RTL_SIGUSR1 && sig <= RTL_SIGRTMAX;
}

static void call_with_info(const struct rtl_sigaction *action, int sig)
{
	siginfo_t info = { .si_signo = sig };

	info.si_code = READ_ONCE(told[sig].code);
	info.si_value = told[sig].value;
	action->sa_sigaction(sig, &info, NULL);
}

/* In the thread itself: run the handlers of what is pending. Did one run? */
bool signals_deliver(struct rtl_thread *self)
{
	struct rtl_thread_signals *signals = &self->signals;
	bool any = false;

	for (;;) {
		unsigned int due = atomic_read(&signals->pending) & ~signals->blocked;
		unsigned int blocked = signals->blocked;
		struct rtl_sigaction action;
		int sig;

		if (!due)
			return any;
		sig = __ffs(due);
		atomic_andnot(1U << sig, &signals->pending);
		action = actions[sig];
		if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
			continue;
		any = true;
		signals->blocked |= action.sa_mask | 1U << sig;
		if (action.sa_flags & SA_SIGINFO)
			call_with_info(&action, sig);
		else
			action.sa_handler(sig);
		signals->blocked = blocked;
	}
}

/* Was it pending already? From any context. */
static bool post(struct rtl_thread *thread, int sig)
{
	struct rtl_thread_signals *signals = &thread->signals;
	bool pending = atomic_fetch_or(1U << sig, &signals->pending) & 1U << sig;

	/* Full ordering above: it sees the bit before it waits, or we see that it listens. */
	if (READ_ONCE(signals->listening))
		rt_task_wakeup(&thread->task);
	return pending;
}

int signals_send(struct rtl_thread *thread, int sig)
{
	if (!valid(sig))
		return EINVAL;
	if (!thread)
		return ESRCH;
	told[sig].value.sival_ptr = NULL;
	WRITE_ONCE(told[sig].code, SI_USER);
	post(thread, sig);
	if (thread == pthread_self())
		signals_deliver(thread);
	return 0;
}

static unsigned int call_for_line(unsigned int irq, struct pt_regs *regs)
{
	void (*handler)(int sig) = READ_ONCE(of_lines[irq].sa_handler);

	if (handler)
		handler(RTL_SIGIRQMIN + irq);
	return 0;
}

static int line_action(unsigned int irq, const struct rtl_sigaction *act, struct rtl_sigaction *old)
{
	bool had, has;

	if (irq >= LINES || (act && act->sa_flags & SA_SIGINFO))
		return rtl_failed(-EINVAL);
	if (old)
		*old = of_lines[irq];
	if (!act)
		return 0;
	had = of_lines[irq].sa_handler;
	has = act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN;
	if (had)
		rtl_free_irq(irq);
	of_lines[irq] = has ? *act : (struct rtl_sigaction){ };
	if (!has || !rtl_request_irq(irq, call_for_line))
		return 0;
	of_lines[irq].sa_handler = NULL;
	return rtl_failed(-EBUSY);
}

int rtl_sigaction(int sig, const struct rtl_sigaction *act, struct rtl_sigaction *old)
{
	if (sig >= RTL_SIGIRQMIN)
		return line_action(sig - RTL_SIGIRQMIN, act, old);
	if (!valid(sig))
		return rtl_failed(-EINVAL);
	if (old)
		*old = actions[sig];
	if (act) {
		/* Never a new handler with an old mask. */
		WRITE_ONCE(actions[sig].sa_handler, NULL); /* SIG_DFL, for RT code */
		smp_wmb();
		actions[sig].sa_mask = act->sa_mask;
		actions[sig].sa_flags = act->sa_flags;
		smp_store_release(&actions[sig].sa_handler, act->sa_handler);
		WRITE_ONCE(handled_by[sig], pthread_self());
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rtl_sigaction);

int pthread_sigmask(int how, const rtl_sigset_t *set, rtl_sigset_t *old)
{
	struct rtl_thread *self = pthread_self();
	unsigned int *blocked;

	if (!self)
		return EPERM;
	blocked = &self->signals.blocked;
	if (set && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
		return EINVAL;
	if (old)
		*old = *blocked;
	if (!set)
		return 0;
	if (how == SIG_BLOCK)
		*blocked |= *set;
	else if (how == SIG_UNBLOCK)
		*blocked &= ~*set;
	else
		*blocked = *set;
	signals_deliver(self);
	return 0;
}
EXPORT_SYMBOL_GPL(pthread_sigmask);

int rtl_sigpending(rtl_sigset_t *set)
{
	struct rtl_thread *self = pthread_self();

	if (!self || !set)
		return rtl_failed(-EINVAL);
	*set = atomic_read(&self->signals.pending) & self->signals.blocked;
	return 0;
}
EXPORT_SYMBOL_GPL(rtl_sigpending);

int rtl_sigsuspend(const rtl_sigset_t *mask)
{
	struct rtl_thread *self = pthread_self();
	struct rtl_thread_signals *signals;
	unsigned int blocked;

	if (!self || !mask)
		return rtl_failed(-EINVAL);
	signals = &self->signals;
	blocked = signals->blocked;
	signals->blocked = *mask;
	WRITE_ONCE(signals->listening, true);
	/* A wake-up between the look and the suspension is kept. */
	smp_mb();
	while (!signals_deliver(self)) {
		rt_task_suspend(&self->task);
		pthread_testcancel_only();
	}
	WRITE_ONCE(signals->listening, false);
	signals->blocked = blocked;
	return rtl_failed(-EINTR);
}
EXPORT_SYMBOL_GPL(rtl_sigsuspend);

/* Timers. */

static bool known(const struct rtl_posix_timer *timer)
{
	unsigned long at = (unsigned long)timer - (unsigned long)timers;

	return at < sizeof(timers) && !(at % sizeof(timers[0])) && READ_ONCE(timer->taken);
}

/* In RT interrupt context. */
static void expire(struct rt_timer *rt)
{
	struct rtl_posix_timer *timer = container_of(rt, struct rtl_posix_timer, timer);

	if (timer->signo) {
		told[timer->signo].value = timer->value;
		WRITE_ONCE(told[timer->signo].code, SI_TIMER);
	}
	if (timer->signo && post(timer->to, timer->signo))
		timer->overruns++;
	if (!timer->interval) {
		timer->next = 0;
		return;
	}
	timer->next += timer->interval;
	rt_timer_start(rt, timer->next);
}

int rtl_timer_create(struct module *owner, clockid_t clock, const struct rtl_sigevent *event,
		     rtl_timer_t *result)
{
	int signo = event ? event->sigev_signo : RTL_SIGUSR1;
	unsigned int i;

	if (event && event->sigev_notify == SIGEV_NONE)
		signo = 0;
	if (!result || !clock || (signo && !valid(signo)))
		return rtl_failed(-EINVAL);
	for (i = 0; i < RTL_TIMERS; i++) {
		struct rtl_posix_timer *timer = &timers[i];

		if (cmpxchg(&timer->taken, 0, 1))
			continue;
		timer->timer = (struct rt_timer) { .fn = expire };
		timer->signo = signo;
		timer->value = event ? event->sigev_value : (union sigval){ 0 };
		timer->owner = owner;
		timer->clock = clock;
		timer->to = NULL;
		timer->next = 0;
		timer->interval = 0;
		timer->overruns = 0;
		*result = timer;
		return 0;
	}
	return rtl_failed(-EAGAIN);
}
EXPORT_SYMBOL_GPL(rtl_timer_create);

int rtl_timer_gettime(rtl_timer_t timer, struct itimerspec *value)
{
	RTIME next;

	if (!known(timer) || !value)
		return rtl_failed(-EINVAL);
	next = READ_ONCE(timer->next);
	/* Never 0 while it is armed. */
	value->it_value = timespec_from_ns(next ? max(next - rt_get_time(), 1LL) : 0);
	value->it_interval = timespec_from_ns(timer->interval);
	return 0;
}
EXPORT_SYMBOL_GPL(rtl_timer_gettime);

static bool bad(const struct timespec *time)
{
	return time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= NSECS_PER_SEC;
}

int rtl_timer_settime(rtl_timer_t timer, int flags, const struct itimerspec *value,
		      struct itimerspec *old)
{
	struct rtl_thread *to = pthread_self();
	hrtime_t first;

	if (!known(timer) || !value || bad(&value->it_value) || bad(&value->it_interval))
		return rtl_failed(-EINVAL);
	if (!to && timer->signo)
		to = READ_ONCE(handled_by[timer->signo]);
	first = timespec_to_ns(&value->it_value);
	if (first && timer->signo && !to)
		return rtl_failed(-EINVAL);
	if (old)
		rtl_timer_gettime(timer, old);
	rt_timer_cancel(&timer->timer);
	timer->next = 0;
	if (!first)
		return 0;
	first += flags & TIMER_ABSTIME ? -timer->clock->offset : rt_get_time();
	timer->to = to;
	timer->interval = timespec_to_ns(&value->it_interval);
	timer->overruns = 0;
	timer->next = max(first, 1LL);
	if (rt_timer_start(&timer->timer, timer->next)) {
		timer->next = 0;
		return rtl_failed(-EINVAL);
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rtl_timer_settime);

int rtl_timer_getoverrun(rtl_timer_t timer)
{
	return known(timer) ? READ_ONCE(timer->overruns) : -1;
}
EXPORT_SYMBOL_GPL(rtl_timer_getoverrun);

int rtl_timer_delete(rtl_timer_t timer)
{
	if (!known(timer))
		return rtl_failed(-EINVAL);
	rt_timer_cancel(&timer->timer);
	smp_store_release(&timer->taken, 0);
	return 0;
}
EXPORT_SYMBOL_GPL(rtl_timer_delete);

void signals_forget_thread(const struct rtl_thread *thread)
{
	unsigned int i;

	for (i = 0; i <= RTL_SIGRTMAX; i++)
		if (handled_by[i] == thread)
			WRITE_ONCE(handled_by[i], NULL);
	for (i = 0; i < RTL_TIMERS; i++)
		if (timers[i].taken && timers[i].to == thread) {
			rt_timer_cancel(&timers[i].timer);
			timers[i].next = 0;
			timers[i].to = NULL;
		}
}

void signals_forget(const struct module *mod)
{
	unsigned int i;

	for (i = 0; i < RTL_TIMERS; i++)
		if (timers[i].taken && (!mod || timers[i].owner == mod))
			rtl_timer_delete(&timers[i]);
	for (i = 0; i <= RTL_SIGRTMAX; i++)
		if (!mod || within_module((unsigned long)actions[i].sa_handler, mod))
			WRITE_ONCE(actions[i].sa_handler, NULL);
	for (i = 0; i < LINES; i++)
		if (of_lines[i].sa_handler &&
		    (!mod || within_module((unsigned long)of_lines[i].sa_handler, mod)))
			line_action(i, &(struct rtl_sigaction){ }, NULL);
}
