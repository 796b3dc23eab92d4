// SPDX-License-Identifier: GPL-2.0-only
/*
 * While there is RT code, Linux is asked (PM QoS) not to let a CPU sleep so deeply that waking it
 * would take longer than a bound: a release, an RT timer or an RT interrupt that falls into idle
 * time waits for the wake-up, whoever runs the interrupt.
 *
 * RT code is: a task, whatever starts it; a user's timer that is queued; a line with an RT handler.
 *
 * Tasks come and go in Linux, which looks at once. RT code may start a timer, and a line changes
 * under another lock: both post a look. Timers that expire say nothing, since most are started
 * again: while there is a request, Linux looks once a second.
 */
#include <linux/module.h>
#include <linux/pm_qos.h>
#include <linux/workqueue.h>

#include <rt/post.h>
#include "exec/cpu.h"
#include "exec/qos.h"

static int exit_latency_us = 2;
module_param(exit_latency_us, int, 0444);
MODULE_PARM_DESC(exit_latency_us, "while there are RT tasks, timers or interrupts, keep CPUs out of idle states that take longer to leave (default 2; -1: leave them alone)");

static struct pm_qos_request request;
static bool requested;
static struct rt_post look_post;

bool rt_idle_bounded;

static bool has_rt_code(struct rt_cpu *cpu)
{
	unsigned long flags = rt_cpu_lock(cpu);
	/* One whose function runs is likely to be started by it. */
	bool found = cpu->rq.timers.users || cpu->firing;

	for (const RT_TASK *task = cpu->rq.tasks; task && !found; task = task->next)
		found = task->state != CORE_DEAD;
	rt_cpu_unlock(cpu, flags);
	return found;
}

static bool any_rt_code(void)
{
	int i;

	if (pl_lines_used())
		return true;
	for_each_possible_cpu(i)
		if (has_rt_code(rt_cpu_of(i)))
			return true;
	return false;
}

static void look(struct work_struct *work)
{
	mutex_lock(&rt_exec_mutex);
	rt_idle_look();
	mutex_unlock(&rt_exec_mutex);
}

static DECLARE_WORK(look_work, look);
static DECLARE_DELAYED_WORK(look_again, look);

static void bound(bool wanted)
{
	if (wanted == requested)
		return;
	requested = wanted;
	if (wanted)
		cpu_latency_qos_add_request(&request, exit_latency_us);
	else
		cpu_latency_qos_remove_request(&request);
}

void rt_idle_look(void)
{
	bool wanted;

	lockdep_assert_held(&rt_exec_mutex);
	if (exit_latency_us < 0)
		return;
	/* Whoever starts a timer under a CPU's lock after our look at that CPU reads this. */
	WRITE_ONCE(rt_idle_bounded, false);
	wanted = any_rt_code();
	WRITE_ONCE(rt_idle_bounded, wanted);
	bound(wanted);
	if (wanted)
		schedule_delayed_work(&look_again, HZ);
}

/* In hard-irq context, where a mutex cannot be had. */
static void post_look(struct rt_post *post)
{
	schedule_work(&look_work);
}

void rt_idle_look_later(void)
{
	if (exit_latency_us >= 0)
		rt_post(&look_post);
}

void rt_idle_init(void)
{
	rt_post_init(&look_post, post_look);
	pl_lines_tell(rt_idle_look_later);
}

void rt_idle_exit(void)
{
	rt_post_sync(&look_post);
	flush_work(&look_work);
	cancel_delayed_work_sync(&look_again);
	bound(false);
}
