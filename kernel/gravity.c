// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long the way from the one-shot device to RT code is at least: from the moment that the device
 * is set to, to the first instruction of a timer's function, and to that of a job. The device is
 * set that much sooner then. What still comes early waits (rt_exec_late()), so a figure that is too
 * large costs some of Linux's time, and one that is too small some lateness.
 *
 * The least of some shots counts: caches are warm, the CPU is awake, in the kernel, and interrupts
 * are on. So most ways are longer, and few have to wait.
 */
#include <linux/cpu.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/workqueue.h>
#include <rt/task.h>
#include <rt/timer.h>
#include "exec/cpu.h"
#include "exec/resched.h"
#include "exec/trace.h"
#include "gravity.h"

#define SHOTS 32
#define GAP_NS 50000
#define LIMIT_NS (20LL * SHOTS * GAP_NS)
#define STACK_BYTES 4096
#define PRIORITY 1

static bool wanted = true;
module_param_named(gravity, wanted, bool, 0444);
MODULE_PARM_DESC(gravity, "1: set the timer sooner by what the way to RT code takes at least, as measured (default 1)");

/*
 * struct probe - of one CPU
 * @left: shots to come
 * @least: the shortest way so far
 */
struct probe {
	struct rt_timer timer;
	RT_TASK task;
	unsigned int left;
	RTIME least;
};

static DEFINE_PER_CPU(struct probe, probes);

/* Context: RT. */
static bool note(struct probe *p, RTIME late)
{
	p->least = min(p->least, late);
	WRITE_ONCE(p->left, p->left - 1);
	return p->left;
}

static void timer_comes(struct rt_timer *timer)
{
	RTIME late = rt_get_time() - timer->expires;

	if (note(container_of(timer, struct probe, timer), late))
		rt_timer_start(timer, timer->expires + GAP_NS);
}

/* It sleeps, since admission has a say in periods. The way to a job is no shorter. */
static void task_comes(int unused)
{
	struct probe *p = container_of(rt_task_self(), struct probe, task);
	RTIME when = rt_get_time();

	do {
		when += GAP_NS;
		rt_task_sleep_until(when);
	} while (note(p, rt_get_time() - when));
}

/* Looking, not sleeping: a CPU that has to wake up first takes longer. */
static unsigned int least_of(struct probe *p)
{
	u64 end = ktime_get_ns() + LIMIT_NS;

	while (READ_ONCE(p->left) && ktime_get_ns() < end)
		cpu_relax();
	return READ_ONCE(p->left) ? 0 : clamp_t(RTIME, p->least, 0, RT_GRAVITY_MOST_NS);
}

static void begin(struct probe *p)
{
	p->left = SHOTS;
	p->least = RT_GRAVITY_MOST_NS;
}

static unsigned int timer_gravity(struct probe *p)
{
	unsigned int least = 0;

	begin(p);
	p->timer = (struct rt_timer) { .fn = timer_comes };
	if (!rt_timer_start(&p->timer, rt_get_time() + GAP_NS))
		least = least_of(p);
	rt_timer_cancel(&p->timer);
	return least;
}

static unsigned int job_gravity(struct probe *p)
{
	unsigned int least = 0;

	begin(p);
	if (rt_task_init(&p->task, task_comes, 0, STACK_BYTES, PRIORITY))
		return 0;
	if (!rt_task_wakeup(&p->task))
		least = least_of(p);
	rt_task_delete(&p->task);
	return least;
}

/* On its CPU. */
static long measure(void *arg)
{
	struct timerq_gravity *of_all = arg;
	struct probe *p = raw_cpu_ptr(&probes);

	of_all->timer = min(of_all->timer, timer_gravity(p));
	of_all->job = min(of_all->job, job_gravity(p));
	return 0;
}

void rt_gravity_measure(void)
{
	struct timerq_gravity of_all = { RT_GRAVITY_MOST_NS, RT_GRAVITY_MOST_NS };
	int cpu;

	rt_exec_set_gravity((struct timerq_gravity) {});
	if (!wanted || pl_hosted())
		return;
	cpus_read_lock();
	/* These are nobody's jobs. */
	rt_trace_pause(true);
	for_each_online_cpu(cpu)
		work_on_cpu(cpu, measure, &of_all);
	rt_trace_pause(false);
	cpus_read_unlock();
	rt_exec_set_gravity(of_all);
}
