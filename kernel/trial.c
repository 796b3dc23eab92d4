// SPDX-License-Identifier: GPL-2.0-only
/*
 * A life on trial. A kernel thread waits for the end, at a real-time priority of Linux's, so that
 * no process needs to be alive and none can keep it from the CPU.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/sysfs.h>
#include <linux/wait.h>
#include "trial.h"

enum { NONE, RUNNING, KEPT, ENDED };

static atomic_t state = ATOMIC_INIT(NONE);
static struct task_struct *thread;
static DECLARE_WAIT_QUEUE_HEAD(decided);
static unsigned long end_jiffies;
static void (*at_end)(void);

static int wait_for_end(void *unused)
{
	long left = end_jiffies - jiffies;

	wait_event_idle_timeout(decided, atomic_read(&state) != RUNNING || kthread_should_stop(),
				max(left, 1L));
	if (!kthread_should_stop() && atomic_cmpxchg(&state, RUNNING, ENDED) == RUNNING)
		at_end();
	/* Its end is waited for by rt_trial_stop(). */
	wait_event_idle(decided, kthread_should_stop());
	return 0;
}

int rt_trial_start(unsigned int seconds, void (*end)(void))
{
	struct task_struct *task;

	if (!seconds)
		return 0;
	at_end = end;
	end_jiffies = jiffies + seconds * HZ;
	task = kthread_create(wait_for_end, NULL, "tactus_trial");
	if (IS_ERR(task))
		return PTR_ERR(task);
	sched_set_fifo(task);
	atomic_set(&state, RUNNING);
	thread = task;
	wake_up_process(thread);
	return 0;
}

void rt_trial_stop(void)
{
	if (thread)
		kthread_stop(thread);
	thread = NULL;
	atomic_set(&state, NONE);
}

int rt_trial_keep(void)
{
	switch (atomic_cmpxchg(&state, RUNNING, KEPT)) {
	case NONE:
		return -ESRCH;
	case ENDED:
		return -ETIMEDOUT;
	}
	wake_up(&decided);
	return 0;
}

ssize_t rt_trial_show(char *buf)
{
	static const char *const names[] = { "none", "running", "kept", "ended" };
	int now = atomic_read(&state);
	long left = end_jiffies - jiffies;

	if (now == RUNNING)
		return sysfs_emit(buf, "running %ld\n", DIV_ROUND_UP(max(left, 0L), HZ));
	return sysfs_emit(buf, "%s\n", names[now]);
}
