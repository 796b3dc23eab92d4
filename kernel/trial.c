// SPDX-License-Identifier: GPL-2.0-only
/*
 * A life on trial. A kernel thread waits for the end, at a real-time priority of Linux's, so that
 * no process needs to be alive and none can keep it from the CPU. There is one on each CPU, with a
 * timer of that CPU: the first decides, for one may be on a CPU that does not answer any more.
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sysfs.h>
#include "pipeline/control.h"
#include "pipeline/pipeline.h"
#include "trial.h"

enum { NONE, RUNNING, KEPT, ENDED };

#define GRACE_S 1	/* after the end: for the ordinary way out */

static atomic_t state = ATOMIC_INIT(NONE);
static DEFINE_PER_CPU(struct task_struct *, threads);
static ktime_t end;
static void (*at_end)(void);

static int wait_for_end(void *unused)
{
	ktime_t until = end;
	int left = -EINTR;

	while (left && !kthread_should_stop()) {
		set_current_state(TASK_IDLE);
		if (!kthread_should_stop())
			left = schedule_hrtimeout_range(&until, 0, HRTIMER_MODE_ABS_PINNED);
		__set_current_state(TASK_RUNNING);
	}
	if (!left && atomic_cmpxchg(&state, RUNNING, ENDED) == RUNNING)
		at_end();
	/* Its end is waited for by rt_trial_stop(). */
	set_current_state(TASK_IDLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_IDLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

int rt_trial_start(unsigned int seconds, void (*fn)(void))
{
	struct task_struct *task;
	int cpu;

	if (!seconds)
		return 0;
	at_end = fn;
	end = ktime_add_ns(ktime_get(), seconds * (u64)NSEC_PER_SEC);
	atomic_set(&state, RUNNING);
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		task = kthread_create(wait_for_end, NULL, "tactus_trial/%d", cpu);
		if (IS_ERR(task)) {
			cpus_read_unlock();
			rt_trial_stop();
			return PTR_ERR(task);
		}
		kthread_bind(task, cpu);
		sched_set_fifo(task);
		per_cpu(threads, cpu) = task;
		wake_up_process(task);
	}
	cpus_read_unlock();
	if (!pl_hosted())
		pl_rouse_start((seconds + GRACE_S) * (u64)NSEC_PER_SEC);
	return 0;
}

void rt_trial_stop(void)
{
	int cpu;

	pl_rouse_stop();
	for_each_possible_cpu(cpu) {
		if (per_cpu(threads, cpu))
			kthread_stop(per_cpu(threads, cpu));
		per_cpu(threads, cpu) = NULL;
	}
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
	pl_rouse_stop();
	return 0;
}

ssize_t rt_trial_show(char *buf)
{
	static const char *const names[] = { "none", "running", "kept", "ended" };
	int now = atomic_read(&state);
	s64 left = ktime_to_ns(ktime_sub(end, ktime_get()));

	if (now == RUNNING)
		return sysfs_emit(buf, "running %llu\n",
				  DIV_ROUND_UP_ULL(max(left, 0LL), NSEC_PER_SEC));
	return sysfs_emit(buf, "%s\n", names[now]);
}
