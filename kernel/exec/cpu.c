// SPDX-License-Identifier: GPL-2.0-only
/* The CPUs: what each has, and how they come and go. */
#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "exec/admit.h"
#include "exec/assert.h"
#include "exec/callcheck.h"
#include "exec/cpu.h"
#include "exec/fault.h"
#include "exec/fp.h"
#include "exec/printk.h"
#include "exec/qos.h"
#include "exec/reap.h"
#include "exec/registry.h"
#include "exec/resched.h"
#include "exec/tick.h"
#include "exec/trace.h"

/*
 * A little less than was asked for, and no round number: else the look at Linux would meet
 * each time with a release of a task whose period is round.
 */
#define WATCH_NS_PER_MS 947369LL

static unsigned int watchdog_ms = 100;
module_param(watchdog_ms, uint, 0444);
MODULE_PARM_DESC(watchdog_ms, "stop an RT task that keeps Linux from a CPU so long (default 100; 0: never)");

DEFINE_MUTEX(rt_exec_mutex);	/* see cpu.h */

/* See pl_rtstack_make(). */
static_assert(sizeof(struct rt_cpu) < PAGE_SIZE);

static struct timerq_gravity gravity;	/* under rt_exec_mutex */

void rt_exec_set_gravity(struct timerq_gravity new)
{
	unsigned long flags;
	int i;

	mutex_lock(&rt_exec_mutex);
	gravity = new;
	for_each_possible_cpu(i) {
		struct rt_cpu *cpu = rt_cpu_of(i);

		/* What is queued stays where it is. */
		flags = rt_cpu_lock(cpu);
		cpu->rq.timers.gravity = new;
		rt_cpu_unlock(cpu, flags);
	}
	mutex_unlock(&rt_exec_mutex);
}

struct timerq_gravity rt_exec_gravity(void)
{
	return gravity;
}

#ifdef TACTUS_DEBUG
void core_check_locked(const struct rt_rq *rq, const char *where)
{
	if (!pl_hard_disabled() || !hardlock_held(&rt_cpu_of(rq->cpu)->lock))
		rt_assert_failed(where, "the rq's lock is held");
}
#endif

static int init_cpu(int i)
{
	struct rt_cpu *cpu = rt_cpu_of(i);
	struct heap_slot *ready, *timers;

	ready = kvcalloc(CORE_READY_SLOTS, sizeof(*ready), GFP_KERNEL);
	timers = kvcalloc(CORE_TIMER_SLOTS, sizeof(*timers), GFP_KERNEL);
	core_init(&cpu->rq, i, &core_fixed_priority, ready, timers);
	if (ready && timers)
		core_begin_small(&cpu->rq);
	cpu->rq.timers.gravity = gravity;
	cpu->rq.watch_ns = watchdog_ms * WATCH_NS_PER_MS;
	rt_sched_supervise(&cpu->rq);
	cpu->fp_trap = rt_fp_trap;
	/* vzalloc() aligns to pages. */
	cpu->fp_linux = vzalloc(rt_fp_bytes);
	if (!ready || !timers || !cpu->fp_linux || rt_trace_cpu_comes(cpu))
		return -ENOMEM;
	cpu->present = true;
	return 0;
}

static void free_cpu(struct rt_cpu *cpu)
{
	cpu->present = false;
	kvfree(cpu->rq.many_ready);
	kvfree(cpu->rq.many_timers);
	vfree(cpu->fp_linux);
	cpu->fp_linux = NULL;
	rt_trace_cpu_leaves(cpu);
	cpu->rq.many_ready = NULL;
	cpu->rq.many_timers = NULL;
}

static int exec_cpu_comes(int i)
{
	struct rt_cpu *cpu = rt_cpu_of(i);
	int err;

	mutex_lock(&rt_exec_mutex);
	err = init_cpu(i);
	if (err)
		free_cpu(cpu);
	else
		rt_sched_join(cpu);
	mutex_unlock(&rt_exec_mutex);
	return err;
}

static int exec_cpu_leaves(int i)
{
	struct rt_cpu *cpu = rt_cpu_of(i);
	unsigned long flags;
	int err = 0;

	mutex_lock(&rt_exec_mutex);
	flags = rt_cpu_lock(cpu);
	/* It stays until it is due, and without tasks there is nothing to watch. */
	if (!cpu->rq.count && heap_queued(&cpu->rq.watch_timer.node))
		timerq_remove_release(&cpu->rq.timers, &cpu->rq.watch_timer);
	if (cpu->rq.count || cpu->rq.timers.heap.count)
		err = -EBUSY;
	else
		cpu->present = false;
	rt_cpu_unlock(cpu, flags);
	if (!err)
		free_cpu(cpu);
	mutex_unlock(&rt_exec_mutex);
	return err;
}

const struct pl_client rt_client = {
	.timer = rt_exec_timer,
	.ipi = rt_exec_ipi,
	.resched = rt_exec_resched,
	.fault = rt_exec_fault,
	.cpu_comes = exec_cpu_comes,
	.cpu_leaves = exec_cpu_leaves,
};

static void free_cpus(void)
{
	int i;

	for_each_possible_cpu(i)
		free_cpu(rt_cpu_of(i));
	pl_rtstack_free();
}

int rt_exec_init(void)
{
	int i, err = 0;

	err = rt_admission_init();
	if (!err)
		err = pl_rtstack_make(sizeof(struct rt_cpu));
	if (err)
		return err;
	rt_fp_measure();
	cpus_read_lock();
	for_each_online_cpu(i)
		err = err ?: init_cpu(i);
	cpus_read_unlock();
	if (err)
		goto err_cpus;
	rt_assert_init();
	rt_callcheck_init();
	rt_fault_init();
	rt_idle_init();
	rt_sched_init();
	err = rt_printk_init();
	if (err)
		goto err_cpus;
	err = rt_reap_init();
	if (err)
		goto err_printk;
	return 0;
err_printk:
	rt_printk_exit();
err_cpus:
	free_cpus();
	return err;
}

void rt_exec_exit(void)
{
	rt_reap_exit();
	rt_idle_exit();
	rt_sched_exit();
	rt_fault_exit();
	rt_callcheck_exit();
	rt_assert_exit();
	rt_printk_exit();
	free_cpus();
}
