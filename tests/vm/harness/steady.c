// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plug-in for QEMU: keeps the host's time out of a run of several CPUs in virtual time, and a
 * CPU's turns short.
 *
 *	qemu-system-x86_64 -icount shift=0,sleep=off -smp 2 -plugin steady.so,turn_ns=N ...
 *
 * The host's time comes in by three ways.
 *
 * 1. When all CPUs have halted, QEMU's main loop moves the virtual clock on to the next timer. It does
 * so whenever it wakes up, be it for another reason, and looks at the CPUs without stopping their
 * thread. If it looks when the last CPU has halted, but the instructions of its turn are not yet
 * counted, the clock goes too far by these: a timer is late, and on a busy host that happens.
 *
 * Here the main loop leaves the clock alone unless the CPUs' thread waits for it. Before it waits, that
 * thread wakes up the main loop under the lock that both take, so no wake-up is lost.
 *
 * 2. A CPU's turn ends no later than the next timer is due, be it one of the host's time: QEMU arms
 * such timers for half a second after it has loaded a state, to announce network cards. Here none is
 * ever due.
 *
 * 3. A CPU that stops the machine has the main loop do it, and meanwhile the next CPU has its turn,
 * for as long as the main loop takes. Here that turn waits for the main loop.
 *
 * A turn ends when a CPU sets its timer, and the other CPU may then have one that lasts until that timer
 * is due. If the timer is the end of a job's budget, the job has lost all of it to a CPU that is merely
 * busy. Here a turn ends after N ns (turns.h). Without N, or with 0, that is left to QEMU.
 *
 * QEMU's interface for plug-ins has nothing of the kind: these are functions and variables of the
 * program itself, which exports them for its own modules.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "turns.h"

#define EXPORT		__attribute__((visibility("default")))
#define BEFORE_POLL	0	/* MAIN_LOOP_POLL_FILL */
#define HOST_TIME	0	/* QEMU_CLOCK_REALTIME */

/* QEMU's. */
struct notifier {
	void (*notify)(struct notifier *notifier, void *data);
	void *next, **prev;
};

extern void (*qemu_cond_wait_func)(void *cond, void *mutex, const char *file, int line);
extern void (*bql_mutex_lock_func)(void *mutex, const char *file, int line);
extern bool qtest_allowed;	/* the clock is somebody else's business */
void main_loop_poll_add_notifier(struct notifier *notifier);
void qemu_clock_enable(int clock, bool enabled);
bool qemu_vmstop_requested(int *state);
void qemu_system_vmstop_request_prepare(void);
void qemu_system_vmstop_request(int state);

EXPORT int qemu_plugin_version = 4;
EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

static void (*cond_wait)(void *cond, void *mutex, const char *file, int line);
static void (*lock)(void *mutex, const char *file, int line);
static pthread_t cpus;			/* the thread that all CPUs share */
static bool known, waiting;		/* under QEMU's lock */
static struct timer timer;
static int64_t turn_ns;

static bool in_cpus(void)
{
	return known && pthread_equal(pthread_self(), cpus);
}

/* The CPUs' thread waits with QEMU's lock, and for nothing else: both changes are under it. */
static void wait_and_tell(void *cond, void *mutex, const char *file, int line)
{
	bool mine = in_cpus();

	if (mine)
		waiting = true;
	cond_wait(cond, mutex, file, line);
	if (mine)
		waiting = false;
}

/*
 * The CPUs' thread takes QEMU's lock between two turns. While a stop is asked for, it leaves the lock
 * to the main loop, which ends all turns before it gives the lock back.
 */
static void let_stop(void *mutex, const char *file, int line)
{
	int state;

	while (in_cpus() && qemu_vmstop_requested(&state)) {
		/* To look is to take it back. */
		qemu_system_vmstop_request_prepare();
		qemu_system_vmstop_request(state);
		usleep(100);
	}
	lock(mutex, file, line);
}

/* In the main loop, with QEMU's lock: before it waits, and after, when it looks at the clock next. */
static void polls(struct notifier *notifier, void *poll)
{
	(void)notifier;
	qtest_allowed = *(const int *)poll != BEFORE_POLL && known && !waiting;
}

static struct notifier notifier = { .notify = polls };

static void end_turn(void *unused)
{
	(void)unused;
	turns_end_in(&timer, turn_ns);
}

static void start(uint64_t id, unsigned int cpu)
{
	(void)id;
	cpus = pthread_self();
	known = true;
	if (cpu || !turn_ns)
		return;
	turns_init(&timer, end_turn);
	end_turn(NULL);
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc == 1 && !strncmp(argv[0], "turn_ns=", 8)) {
		turn_ns = strtoll(argv[0] + 8, NULL, 0);
	} else if (argc) {
		fprintf(stderr, "steady: turn_ns=NUMBER or nothing is wanted\n");
		return -1;
	}
	cond_wait = qemu_cond_wait_func;
	qemu_cond_wait_func = wait_and_tell;
	lock = bql_mutex_lock_func;
	bql_mutex_lock_func = let_stop;
	qemu_clock_enable(HOST_TIME, false);
	main_loop_poll_add_notifier(&notifier);
	qemu_plugin_register_vcpu_init_cb(id, start);
	return 0;
}
