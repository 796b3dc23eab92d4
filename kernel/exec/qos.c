// SPDX-License-Identifier: GPL-2.0
/*
 * While there are periodic tasks, Linux is asked (PM QoS) not to let a CPU sleep so deeply that
 * waking it would take longer than a bound: a release that falls into idle time waits for the
 * wake-up, whoever runs the interrupt.
 *
 * Who may add a periodic task may be RT code, so adding is noticed by a post; tasks go in
 * Linux. Both look at the tasks afresh, under rt_exec_mutex, and no change can get lost.
 */
#include <linux/module.h>
#include <linux/pm_qos.h>
#include <linux/workqueue.h>

#include <rt/post.h>
#include "exec/cpu.h"
#include "exec/qos.h"

static int exit_latency_us = 2;
module_param(exit_latency_us, int, 0444);
MODULE_PARM_DESC(exit_latency_us, "while there are periodic tasks, keep CPUs out of idle states that take longer to leave (default 2; -1: leave them alone)");

static struct pm_qos_request request;
static bool requested;
static struct rt_post look_post;

static bool any_periodic(void)
{
	int i;

	/* RT code may just be changing a task: then another look follows. */
	for_each_possible_cpu(i)
		for (const RT_TASK *task = rt_cpu_of(i)->rq.tasks; task; task = task->next)
			if (data_race(task->state) != CORE_DEAD && data_race(task->period))
				return true;
	return false;
}

void rt_idle_look(void)
{
	bool wanted = exit_latency_us >= 0 && any_periodic();

	lockdep_assert_held(&rt_exec_mutex);
	if (wanted == requested)
		return;
	requested = wanted;
	if (wanted)
		cpu_latency_qos_add_request(&request, exit_latency_us);
	else
		cpu_latency_qos_remove_request(&request);
}

static void look(struct work_struct *work)
{
	mutex_lock(&rt_exec_mutex);
	rt_idle_look();
	mutex_unlock(&rt_exec_mutex);
}

static DECLARE_WORK(look_work, look);

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
}

void rt_idle_exit(void)
{
	rt_post_sync(&look_post);
	flush_work(&look_work);
	look(NULL);		/* No tasks any more. */
}
