// SPDX-License-Identifier: GPL-2.0-only
/*
 * How late RT releases are: of a periodic RT task, or of a raw RT timer.
 *
 *	insmod rt_latency.ko period_us=100
 *	cat /proc/rt_latency/summary
 *
 * mode=task measures what an RT task sees: the clock at its first instruction after
 * rt_task_wait(), minus the moment of that release. mode=tick measures the timer
 * below it: the clock at the first instruction of an RT timer's function, minus the
 * moment asked for. The statistics and the files are in lateness.h and harness.h.
 */
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include <rt/task.h>
#include <rt/time.h>
#include <rt/timer.h>

#include "harness.h"

static char *mode = "task";
module_param(mode, charp, 0644);
MODULE_PARM_DESC(mode, "task: a periodic RT task (default); tick: a raw RT timer");

static unsigned int period_us = 1000;
module_param(period_us, uint, 0644);
MODULE_PARM_DESC(period_us, "time between releases, 50 to 1000000 us (default 1000)");

static int priority = 1;
module_param(priority, int, 0644);
MODULE_PARM_DESC(priority, "of the task; 1, the highest, to 1000000 (default 1)");

static unsigned int cpu;
module_param(cpu, uint, 0644);
MODULE_PARM_DESC(cpu, "where to measure (default 0)");

static RT_TASK rt_latency_task;
static struct rt_timer rt_latency_timer;
static bool rt_latency_is_task;

/* The task's job. When the measurement is over it idles until it is deleted. */
static void rt_latency_task_fn(int unused)
{
	do
		latency_job(rt_get_time());
	while (rt_task_wait() != -EPERM);
}

static void rt_latency_timer_fn(struct rt_timer *timer)
{
	if (latency_job(rt_get_time()))
		rt_timer_start(timer, lateness_next_due(&latency_stats));
}

/* A moment far enough ahead that the first release is a release like all others. */
static void rt_latency_first(void)
{
	RTIME period_ns = period_us * (RT_TICKS_PER_SEC / USEC_PER_SEC);

	lateness_init(&latency_stats, rt_get_time() + max(2 * period_ns, RT_TICKS_PER_SEC / 1000),
		      period_ns);
}

static int rt_latency_start_task(void)
{
	int err = rt_task_init(&rt_latency_task, rt_latency_task_fn, 0, 4096, priority);
	unsigned long flags;

	if (err)
		return err;
	rt_task_set_name(&rt_latency_task, "latency");
	err = rt_task_set_cpu(&rt_latency_task, cpu);
	if (err)
		goto err_delete_task;
	/* Linux must not put anything between naming the first release and asking for it. */
	local_irq_save(flags);
	rt_latency_first();
	err = rt_task_make_periodic(&rt_latency_task, latency_stats.start_ns,
				    latency_stats.period_ns);
	local_irq_restore(flags);
	if (err)
		goto err_delete_task;
	return 0;

err_delete_task:
	rt_task_delete(&rt_latency_task);
	return err;
}

/* On the CPU wanted: an RT timer runs where it was started. */
static long rt_latency_start_tick(void *unused)
{
	unsigned long flags;
	int err;

	rt_latency_timer.fn = rt_latency_timer_fn;
	local_irq_save(flags);
	rt_latency_first();
	err = rt_timer_start(&rt_latency_timer, latency_stats.start_ns);
	local_irq_restore(flags);
	return err;
}

static int rt_latency_start(void)
{
	bool known;

	if (period_us < 50 || period_us > 1000000 || cpu >= nr_cpu_ids || !cpu_online(cpu))
		return -EINVAL;
	kernel_param_lock(THIS_MODULE);
	rt_latency_is_task = sysfs_streq(mode, "task");
	known = rt_latency_is_task || sysfs_streq(mode, "tick");
	kernel_param_unlock(THIS_MODULE);
	if (!known)
		return -EINVAL;
	if (rt_latency_is_task)
		return rt_latency_start_task();
	return work_on_cpu(cpu, rt_latency_start_tick, NULL);
}

static void rt_latency_end(void)
{
	if (rt_latency_is_task)
		rt_task_delete(&rt_latency_task);
	else
		rt_timer_cancel(&rt_latency_timer);
}

static const struct latency_source rt_latency_source = {
	.name = "rt_latency",
	.start = rt_latency_start,
	.end = rt_latency_end,
};

static int __init rt_latency_init(void)
{
	return latency_harness_init(&rt_latency_source);
}

static void __exit rt_latency_exit(void)
{
	latency_harness_exit();
}

module_init(rt_latency_init);
module_exit(rt_latency_exit);
MODULE_DESCRIPTION("Lateness of a periodic RT task or a raw RT timer");
MODULE_LICENSE("GPL");
