/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RTLinux's signals between threads, and its POSIX timers, which send them: skins/rtl/signals.c.
 *
 * A handler runs in the thread that got the signal: at once in one that is suspended or in
 * sigsuspend(), else at its next call that waits, or when that returns. A signal without
 * a handler is forgotten. One that is pending already is not counted twice. Where -1 is returned,
 * errno says why.
 */
#ifndef _RTL_SIGNAL_H
#define _RTL_SIGNAL_H

#include <rtl_compat.h>
/* Linux's own, before their names are taken. */
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <linux/timer.h>
#include <linux/posix-timers.h>

#define RTL_SIGUSR1 7
#define RTL_SIGUSR2 8
#define RTL_SIGRTMIN 9
#define RTL_SIGRTMAX 31
#define RTL_MAX_SIGNAL 31
#define RTL_SIGIRQMIN 256	/* and the number of a line: its interrupt */

typedef unsigned int rtl_sigset_t;

static inline int rtl_sigemptyset(rtl_sigset_t *set)
{
	*set = 0;
	return 0;
}

static inline int rtl_sigfillset(rtl_sigset_t *set)
{
	*set = ~0U;
	return 0;
}

static inline int rtl_sigaddset(rtl_sigset_t *set, int sig)
{
	*set |= 1U << sig;
	return 0;
}

static inline int rtl_sigdelset(rtl_sigset_t *set, int sig)
{
	*set &= ~(1U << sig);
	return 0;
}

static inline int rtl_sigismember(const rtl_sigset_t *set, int sig)
{
	return *set >> sig & 1;
}

struct rtl_sigaction {
	union {
		void (*sa_handler)(int sig);	/* or SIG_DFL, SIG_IGN */
		/* With SA_SIGINFO: number, code (SI_USER, SI_TIMER), a timer's value; NULL. */
		void (*sa_sigaction)(int sig, siginfo_t *info, void *unused);
	};
	rtl_sigset_t sa_mask;		/* blocked, too, while it runs */
	int sa_flags;			/* SA_SIGINFO, or 0 */
	unsigned long sa_focus;		/* CPUs of an interrupt; does nothing */
};

#define SA_FOCUS 0

#define sigaction rtl_sigaction

/**
 * rtl_sigaction - who handles a signal, for all threads
 * @sig: RTL_SIGUSR1 to RTL_SIGRTMAX; RTL_SIGIRQMIN and a line's number: its RT handler, which
 *	SIG_DFL and SIG_IGN take away
 * @act: NULL: leave it
 * @old: gets what was before, or NULL
 *
 * Context: any but an NMI; for a line a Linux process.
 * Return: 0, -1: EINVAL (no such signal or line), EBUSY (the line is not to be had).
 */
int rtl_sigaction(int sig, const struct rtl_sigaction *act, struct rtl_sigaction *old);

/**
 * pthread_sigmask - which signals the calling thread keeps pending
 * @how: SIG_BLOCK, SIG_UNBLOCK or SIG_SETMASK
 * @set: NULL: no change
 * @old: gets the mask before, or NULL
 *
 * Handlers of what is unblocked and pending run before it returns.
 *
 * Context: RT thread only.
 * Return: 0, EINVAL (@how), EPERM (no thread).
 */
int pthread_sigmask(int how, const rtl_sigset_t *set, rtl_sigset_t *old);

/** rtl_sigpending - the calling thread's pending signals. 0, -1 (no thread). RT thread only. */
int rtl_sigpending(rtl_sigset_t *set);
#define sigpending rtl_sigpending

/**
 * rtl_sigsuspend - wait for a signal's handler
 * @mask: blocked meanwhile
 *
 * Context: RT thread only.
 * Return: -1, when a handler has run (EINTR) or the caller is no thread (EINVAL).
 */
int rtl_sigsuspend(const rtl_sigset_t *mask);
#define sigsuspend rtl_sigsuspend

struct rtl_sigevent {
	int sigev_notify;	/* SIGEV_SIGNAL or SIGEV_NONE */
	int sigev_signo;
	union sigval sigev_value;
};

#define sigevent rtl_sigevent

typedef struct rtl_posix_timer *rtl_timer_t;

#define timer_t rtl_timer_t
#define RTL_TIMERS 256

/**
 * rtl_timer_create - a timer that sends a signal
 * @owner: the program
 * @clock: of absolute moments
 * @event: NULL: RTL_SIGUSR1
 * @timer: gets it
 *
 * The signal goes to the thread that arms the timer; if Linux does, to the thread that has
 * said last who handles the signal.
 *
 * Context: any but an NMI.
 * Return: 0, -1: EAGAIN (RTL_TIMERS are in use), EINVAL (no such signal, null).
 */
int rtl_timer_create(struct module *owner, clockid_t clock, const struct rtl_sigevent *event,
		     rtl_timer_t *timer);
#define timer_create(clock, event, timer) rtl_timer_create(THIS_MODULE, clock, event, timer)

/**
 * rtl_timer_settime - arm or disarm a timer
 * @timer: of timer_create()
 * @flags: TIMER_ABSTIME: its first moment is absolute
 * @value: 0 disarms it; with an interval it is periodic
 * @old: gets what timer_gettime() would say, or NULL
 *
 * Context: any but an NMI.
 * Return: 0, -1: EINVAL (no such timer, null, bad time, nobody to send the signal to).
 */
int rtl_timer_settime(rtl_timer_t timer, int flags, const struct itimerspec *value,
		      struct itimerspec *old);

/** rtl_timer_gettime - the time till it expires, 0 if disarmed, and its interval. 0, -1. */
int rtl_timer_gettime(rtl_timer_t timer, struct itimerspec *value);

/** rtl_timer_getoverrun - how often it expired while its signal was pending already; -1. */
int rtl_timer_getoverrun(rtl_timer_t timer);

/** rtl_timer_delete - no more use of it. 0, -1 (no such timer). Any context but an NMI. */
int rtl_timer_delete(rtl_timer_t timer);

#define timer_settime rtl_timer_settime
#define timer_gettime rtl_timer_gettime
#define timer_getoverrun rtl_timer_getoverrun
#define timer_delete rtl_timer_delete

#endif
