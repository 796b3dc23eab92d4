// SPDX-License-Identifier: GPL-2.0-only
/* Signals between RTLinux's threads, and the timers that send them. Each line of the log is a check. */
#include <linux/module.h>
#include <rtl.h>
#include <pthread.h>
#include <time.h>
#include <signal.h>

MODULE_LICENSE("GPL");

#define SAY(fmt, ...) rtl_printf("signals: " fmt "\n", ##__VA_ARGS__)
#define MS 1000000LL

static pthread_t sleeper, sender;
static timer_t beat, once, deleted;
static int handled, nested, beats;
static hrtime_t last, worst;

static void on_usr1(int sig)
{
	handled++;
	/* Itself is blocked meanwhile: the next one comes when this one has ended. */
	pthread_kill(pthread_self(), RTL_SIGUSR1);
	if (handled == 1) {
		pthread_kill(pthread_self(), RTL_SIGUSR2);
		SAY("in the handler %d nested %d", handled, nested);
	} else {
		struct sigaction ignore = { .sa_handler = SIG_IGN };

		sigaction(RTL_SIGUSR1, &ignore, NULL);
		SAY("again in the handler %d", handled);
	}
}

static void on_usr2(int sig)
{
	nested = handled;
}

static void on_wake(int sig)
{
	if (sig == RTL_SIGRTMIN + 1)
		pthread_wakeup_np(pthread_self());
	SAY("slave got %d", sig - RTL_SIGRTMIN);
}

static void on_beat(int sig)
{
	hrtime_t now = gethrtime(), off = abs(now - last - 2 * MS);

	if (beats++ && off > worst)
		worst = off;
	last = now;
}

static void *sleep_until_told(void *unused)
{
	rtl_sigset_t set;

	pthread_suspend_np(pthread_self());
	SAY("slave woken up");
	rtl_sigemptyset(&set);
	rtl_sigaddset(&set, RTL_SIGRTMIN + 2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	nanosleep(hrt2ts(3 * MS), NULL);
	sigpending(&set);
	SAY("slave has pending %x", set >> RTL_SIGRTMIN);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	SAY("slave unblocked it");
	nanosleep(hrt2ts(3 * MS), NULL);
	SAY("slave slept on");
	return NULL;
}

static void *send(void *unused)
{
	struct sigaction act = { .sa_handler = on_usr1, .sa_mask = 1U << RTL_SIGUSR2 }, old;
	struct itimerspec spec = { timespec_from_ns(2 * MS), timespec_from_ns(2 * MS) }, was;
	hrtime_t began;
	rtl_sigset_t all;
	int i;

	SAY("bad %d %d %d", sigaction(RTL_SIGRTMAX + 1, &act, NULL), pthread_kill(sleeper, 99),
	    pthread_sigmask(9, &all, NULL));
	sigaction(RTL_SIGUSR1, &act, NULL);
	act.sa_handler = on_usr2;
	sigaction(RTL_SIGUSR2, &act, &old);
	SAY("old is default %d", old.sa_handler == SIG_DFL);
	SAY("self %d", pthread_kill(pthread_self(), RTL_SIGUSR1));
	SAY("handled %d nested after %d", handled, nested);

	act.sa_handler = on_wake;
	for (i = 0; i < 3; i++)
		sigaction(RTL_SIGRTMIN + i, &act, NULL);
	/* This one does not wake it up, the next one does. */
	pthread_kill(sleeper, RTL_SIGRTMIN);
	usleep(1000);
	pthread_kill(sleeper, RTL_SIGRTMIN + 1);
	usleep(1000);
	pthread_kill(sleeper, RTL_SIGRTMIN + 2);
	usleep(4000);
	pthread_kill(sleeper, RTL_SIGRTMIN);
	usleep(5000);

	act.sa_handler = on_beat;
	sigaction(RTL_SIGRTMIN + 4, &act, NULL);
	SAY("settime %d %d %d", timer_settime(beat, 0, &spec, &was), timer_settime(deleted, 0, &spec,
	    NULL), timer_settime(beat, 0, NULL, NULL));
	rtl_sigfillset(&all);
	rtl_sigdelset(&all, RTL_SIGRTMIN + 4);
	while (beats < 10)
		sigsuspend(&all);
	timer_gettime(beat, &was);
	SAY("10 beats, off by at most 2 us %d, next in 2 ms %d, interval %ld", worst <= 2000,
	    was.it_value.tv_nsec > 1900000 && was.it_value.tv_nsec <= 2000000,
	    was.it_interval.tv_nsec);
	memset(&spec, 0, sizeof(spec));
	timer_settime(beat, 0, &spec, &was);
	usleep(6000);
	timer_gettime(beat, &was);
	SAY("disarmed: beats %d value %ld", beats, was.it_value.tv_nsec);

	spec.it_value = timespec_from_ns(clock_gethrtime(CLOCK_REALTIME) + 5 * MS);
	began = gethrtime();
	timer_settime(once, TIMER_ABSTIME, &spec, NULL);
	sigsuspend(&all);
	began = last - began - 5 * MS;
	usleep(6000);
	SAY("once after 5 ms %d, beats %d", began > -20000 && began < 20000, beats);
	return NULL;
}

int init_module(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = RTL_SIGRTMIN + 4 };
	int err;

	event.sigev_signo = 99;
	SAY("create %d", timer_create(CLOCK_REALTIME, &event, &beat));
	event.sigev_signo = RTL_SIGRTMIN + 4;
	SAY("create %d %d %d", timer_create(CLOCK_MONOTONIC, &event, &beat),
	    timer_create(CLOCK_REALTIME, &event, &once),
	    timer_create(CLOCK_REALTIME, NULL, &deleted));
	err = timer_delete(deleted);
	SAY("delete %d %d %d", err, timer_delete(deleted), timer_delete(NULL));
	pthread_create(&sleeper, NULL, sleep_until_told, NULL);
	pthread_create(&sender, NULL, send, NULL);
	return 0;
}

/* The timers are left to the layer. */
void cleanup_module(void)
{
	pthread_join(sender, NULL);
	pthread_join(sleeper, NULL);
}
