// SPDX-License-Identifier: GPL-2.0-only
/* The means to wait for the next beat: Linux's, and RT mode's (rtmode.c). */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/rtc.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <tactus/rt.h>

#include "measure.h"

static int fd;
static s64 next_ns;

static s64 nothing_to_begin(s64 period_ns)
{
	(void)period_ns;
	return now_ns();
}

static void nothing_to_end(void)
{
}

static s64 setitimer_begin(s64 period_ns)
{
	struct itimerval value = {
		.it_interval = { period_ns / NS_PER_S, period_ns % NS_PER_S / 1000 },
	};
	sigset_t alarm;

	value.it_value = value.it_interval;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	/* Blocked, so that sigwait() takes it: a handler would only add to its way. */
	if (sigprocmask(SIG_BLOCK, &alarm, NULL) || setitimer(ITIMER_REAL, &value, NULL))
		err(1, "setitimer");
	return now_ns();
}

static void setitimer_wait(s64 period_ns)
{
	sigset_t alarm;
	int number;

	(void)period_ns;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigwait(&alarm, &number);
}

static void setitimer_end(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
}

/* Relative, as programs of old do it: what it takes to call it is added to each period. */
static void nanosleep_wait(s64 period_ns)
{
	struct timespec pause = { period_ns / NS_PER_S, period_ns % NS_PER_S };

	nanosleep(&pause, NULL);
}

static s64 rtc_begin(s64 period_ns)
{
	unsigned long hz = (NS_PER_S + period_ns / 2) / period_ns;

	fd = open("/dev/rtc0", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "/dev/rtc0");
	if (ioctl(fd, RTC_IRQP_SET, hz))
		err(1, "/dev/rtc0: %lu Hz", hz);
	if (ioctl(fd, RTC_PIE_ON, 0))
		err(1, "/dev/rtc0: periodic interrupts");
	return now_ns();
}

static void read_wait(s64 period_ns)
{
	uint64_t got;

	(void)period_ns;
	if (read(fd, &got, sizeof(got)) != sizeof(got))
		err(1, "waiting for a beat");
}

static void rtc_wait(s64 period_ns)
{
	unsigned long got;

	(void)period_ns;
	if (read(fd, &got, sizeof(got)) != sizeof(got))
		err(1, "/dev/rtc0");
}

static void rtc_end(void)
{
	ioctl(fd, RTC_PIE_OFF, 0);
	close(fd);
}

static s64 timerfd_begin(s64 period_ns)
{
	struct itimerspec value = { .it_interval = { period_ns / NS_PER_S, period_ns % NS_PER_S } };

	value.it_value = value.it_interval;
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (fd < 0 || timerfd_settime(fd, 0, &value, NULL))
		err(1, "timerfd");
	return now_ns();
}

static void close_end(void)
{
	close(fd);
}

/* Absolute: a beat that came late does not move the others. */
static s64 clock_nanosleep_begin(s64 period_ns)
{
	(void)period_ns;
	next_ns = now_ns();
	return next_ns;
}

static void clock_nanosleep_wait(s64 period_ns)
{
	struct timespec until;

	next_ns += period_ns;
	until.tv_sec = next_ns / NS_PER_S;
	until.tv_nsec = next_ns % NS_PER_S;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

const struct beats all_beats[] = {
	{ "setitimer", now_ns, setitimer_begin, setitimer_wait, setitimer_end },
	{ "nanosleep", now_ns, nothing_to_begin, nanosleep_wait, nothing_to_end },
	{ "rtc", now_ns, rtc_begin, rtc_wait, rtc_end },
	{ "timerfd", now_ns, timerfd_begin, read_wait, close_end },
	{ "clock_nanosleep", now_ns, clock_nanosleep_begin, clock_nanosleep_wait, nothing_to_end },
	{ "rt_wait", rt_now, rtmode_begin, rtmode_wait, rtmode_end },
	{ 0 },
};
