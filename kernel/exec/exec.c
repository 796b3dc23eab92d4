// SPDX-License-Identifier: GPL-2.0
/*
 * The executive's entries from the pipeline, and the switch.
 *
 * Linux is the lowest-priority task of each CPU: rq.curr == NULL. Its context is the stack that an
 * RT interrupt came on; the switch away from it happens in rt_exec_resched(), which
 * the pipeline calls last, and returns there when no task is ready.
 */
#include <linux/cpu.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <rt/post.h>
#include <rt/printk.h>
#include "exec/exec.h"

/*
 * A little less than was asked for, and no round number: else the look at Linux would meet
 * each time with a release of a task whose period is round.
 */
#define WATCH_NS_PER_MS 947369LL

static unsigned int watchdog_ms = 100;
module_param(watchdog_ms, uint, 0444);
MODULE_PARM_DESC(watchdog_ms, "stop an RT task that keeps Linux from a CPU so long (default 100; 0: never)");

/* A ring of more would be an odd thing to want. */
#define MOST_EVENTS (1U << 20)

static unsigned int events;
module_param(events, uint, 0444);
MODULE_PARM_DESC(events, "of tasks that are kept for each CPU, for /sys/kernel/tactus/events (default 0: none)");

static unsigned int policy_us = 100;
module_param(policy_us, uint, 0444);
MODULE_PARM_DESC(policy_us, "eject a policy that takes longer to pick a task three times in a row (default 100; 0: never)");
static u64 policy_ns;
/* In a row: a single one may be the work of firmware, or of a hypervisor. */
#define SLOW_PICKS 3

DEFINE_PER_CPU(struct rt_cpu, rt_cpus);
DEFINE_MUTEX(rt_exec_mutex);

RTIME rt_get_time(void)
{
	return pl_clock();
}
EXPORT_SYMBOL_GPL(rt_get_time);

/* CLOCK_MONOTONIC minus ours: of a few readings the one with the least between them. */
static s64 monotonic_offset(void)
{
	u64 least = U64_MAX;
	s64 offset = 0;

	for (int i = 0; i < 4; i++) {
		u64 before = pl_clock(), linux_ns = ktime_get_ns(), took = pl_clock() - before;

		if (took >= least)
			continue;
		least = took;
		offset = linux_ns - (before + took / 2);
	}
	return offset;
}

long long rt_to_monotonic_ns(RTIME when)
{
	return when + monotonic_offset();
}
EXPORT_SYMBOL_GPL(rt_to_monotonic_ns);

RTIME rt_from_monotonic_ns(long long ns)
{
	return ns - monotonic_offset();
}
EXPORT_SYMBOL_GPL(rt_from_monotonic_ns);

enum rt_context rt_context(void)
{
	if (!pl_oob())
		return RT_CONTEXT_LINUX;
	if (pl_in_irq() || !this_cpu_read(rt_cpus.rq.curr))
		return RT_CONTEXT_IRQ;
	return RT_CONTEXT_TASK;
}
EXPORT_SYMBOL_GPL(rt_context);

RT_TASK *rt_task_self(void)
{
	return pl_oob() ? this_cpu_read(rt_cpus.rq.curr) : NULL;
}
EXPORT_SYMBOL_GPL(rt_task_self);

#ifdef TACTUS_DEBUG
/* The first failure only: what follows it would mislead. */
static const char *failed_where, *failed_what;
static struct rt_post assert_post;

static void post_assert(struct rt_post *post)
{
	WARN(1, "tactus: in %s: %s does not hold\n", failed_where, failed_what);
}

void rt_assert_failed(const char *where, const char *what)
{
	if (cmpxchg(&failed_where, NULL, where))
		return;
	failed_what = what;
	rt_post(&assert_post);
}

static void assert_init(void)
{
	rt_post_init(&assert_post, post_assert);
}

static void assert_exit(void)
{
	rt_post_sync(&assert_post);
}
#else
static void assert_init(void) { }
static void assert_exit(void) { }
#endif

static __always_inline struct rt_frame *frame_of(struct rt_cpu *cpu, RT_TASK *task)
{
	return task ? &task->frame : &cpu->inband;
}

/* In the new context: nobody uses the stack of the one before any more. */
static __always_inline void finish_switch(struct rt_cpu *cpu)
{
	RT_TASK *prev = cpu->prev;

	cpu->prev = NULL;
	/* Pairs with the acquire in rt_task_free(): the last touch of @prev from here. */
	if (prev)
		smp_store_release(&prev->on_cpu, 0);
}

/* Inline in both its callers: it is most of what a switch costs. */
static __always_inline void reschedule(struct rt_cpu *cpu)
{
	RT_TASK *prev, *next;
	u64 now;

	rt_assert(pl_hard_disabled() && pl_oob() && !pl_in_irq());
	hardlock(&cpu->lock);
	prev = cpu->rq.curr;
	now = pl_clock();
	next = core_pick(&cpu->rq, now);
	/* The built-in policy's time is known. */
	if (cpu->rq.ops != &core_fixed_priority && policy_ns) {
		if (likely(pl_clock() - now <= policy_ns)) {
			cpu->slow_picks = 0;
		} else if (++cpu->slow_picks == SLOW_PICKS) {
			cpu->slow_picks = 0;
			core_too_slow(&cpu->rq);
			next = core_pick(&cpu->rq, pl_clock());
		}
	}
	if (next)
		next->on_cpu = 1;
	if (next != prev)
		rt_fp_switch(cpu, next);
	rt_exec_arm(cpu);
	hardunlock(&cpu->lock);
	if (unlikely(cpu->rq.ejected))
		rt_sched_report();
	if (next == prev)
		return;
	rt_assert(!cpu->prev && (!next || next->cpu == raw_smp_processor_id()));
	cpu->prev = prev;
	rt_switch(frame_of(cpu, prev), frame_of(cpu, next));
	rt_assert(pl_hard_disabled() && cpu == this_cpu_ptr(&rt_cpus) && cpu->rq.curr == prev);
	finish_switch(cpu);	/* A task stays on its CPU, so this is the same one. */
}

void rt_exec_resched(void)
{
	struct rt_cpu *cpu = this_cpu_ptr(&rt_cpus);

	if (!READ_ONCE(cpu->rq.need_resched))
		return;
	/* Hosted, a job that has begun runs to its end; need_resched stays. */
	if (pl_hosted() && cpu->rq.curr && READ_ONCE(cpu->rq.curr->queued))
		return;
	reschedule(cpu);
}

void rt_exec_job_done(void)
{
	struct rt_cpu *cpu = this_cpu_ptr(&rt_cpus);

	/* What came due during the job has had no interrupt to say so. */
	if (pl_hosted())
		pl_poll();
	if (READ_ONCE(cpu->rq.need_resched))
		reschedule(cpu);
}

void rt_exec_note_lateness(RT_TASK *task)
{
	RTIME late = pl_clock() - task->release;

	if (late > task->max_late)
		task->max_late = late;
}

/* A new task's first instructions; called by rt_task_entry only. */
asmlinkage __visible void __noreturn rt_task_main(RT_TASK *task);
asmlinkage __visible void __noreturn rt_task_main(RT_TASK *task)
{
	rt_exec_note_lateness(task);
	finish_switch(this_cpu_ptr(&rt_cpus));
	if (!pl_hosted())
		pl_hard_restore(X86_EFLAGS_IF);
	task->fn(task->data);
	rt_task_delete(task);
	/* Not reached; whoever comes back to a dead task's stack stops here. */
	for (;;)
		cpu_relax();
}

void rt_exec_arm(struct rt_cpu *cpu)
{
	rt_assert(pl_hard_disabled() && cpu == this_cpu_ptr(&rt_cpus));
	/* In a pass of exec_timer() the first timers are those it is about to take. */
	if (!cpu->expiring && timerq_stale(&cpu->rq.timers))
		pl_timer_arm(cpu->rq.timers.armed);
}

void rt_exec_poke(int cpu)
{
	pl_ipi(cpu);
}

void rt_exec_run(void (*fn)(void *arg), void *arg)
{
	unsigned long flags;

	if (!pl_oob()) {
		rt_assert(!in_nmi());
		pl_run_oob(fn, arg);
		return;
	}
	flags = pl_hard_save();
	fn(arg);
	/* An RT interrupt reschedules when it returns. */
	if (!pl_in_irq())
		rt_exec_resched();
	pl_hard_restore(flags);
}

/* Name the task that the core stopped. The lock keeps it from being freed meanwhile. */
static noinline void report_stopped(struct rt_cpu *cpu)
{
	hardlock(&cpu->lock);
	if (cpu->rq.stopped)
		rt_printk(KERN_WARNING "tactus: task %s took the CPU for too long: stopped\n",
			  cpu->rq.stopped->name);
	cpu->rq.stopped = NULL;
	hardunlock(&cpu->lock);
}

/* Objects have a lock that comes before the CPU's. Meanwhile @firing keeps @task in being. */
static noinline void time_out(struct rt_cpu *cpu, RT_TASK *task)
{
	timerq_remove_release(&cpu->rq.timers, &task->timer);
	WRITE_ONCE(cpu->firing, &task->timer);
	hardunlock(&cpu->lock);
	rt_sync_timeout(task);
	hardlock(&cpu->lock);
	WRITE_ONCE(cpu->firing, NULL);
}

/*
 * The one-shot event: all that is due at the moment of entry. What functions start
 * meanwhile comes later, so this ends.
 */
static void exec_timer(void)
{
	struct rt_cpu *cpu = this_cpu_ptr(&rt_cpus);
	struct timerq *queue = &cpu->rq.timers;
	struct rt_timer *timer;
	RTIME now = pl_clock();
	u64 mark;

	rt_assert(pl_hard_disabled() && pl_oob() && pl_in_irq());
	hardlock(&cpu->lock);
	timerq_fired(queue);
	mark = timerq_mark(queue);
	cpu->expiring = true;
	while ((timer = timerq_due(queue, now))) {
		if (timer->fn == core_release_timer) {
			RT_TASK *task = container_of(timer, RT_TASK, timer);

			if (likely(!task->pending))
				core_release(&cpu->rq, task);
			else
				time_out(cpu, task);
			continue;
		}
		if (timer->fn == core_budget_timer) {
			core_budget_due(&cpu->rq, now);
			continue;
		}
		if (timer->fn == core_watch_timer) {
			core_watch_due(&cpu->rq, now);
			continue;
		}
		timerq_remove(queue, timer);
		WRITE_ONCE(cpu->firing, timer);
		hardunlock(&cpu->lock);
		/* A function that fails is not called again: it is in the queue no more. */
		pl_guarded(timer->fn, timer);
		rt_assert(pl_hard_disabled());
		hardlock(&cpu->lock);
		WRITE_ONCE(cpu->firing, NULL);
	}
	cpu->expiring = false;
	if (unlikely(timerq_fresh(queue, mark) && timerq_due(queue, pl_clock()))) {
		timerq_stale(queue);
		pl_timer_arm(pl_clock() + TIMERQ_GAP_NS);
	} else {
		rt_exec_arm(cpu);
	}
	hardunlock(&cpu->lock);
	if (unlikely(cpu->rq.stopped))
		report_stopped(cpu);
}

/* Another CPU changed the rq: a first timer that only this CPU can arm, or a ready task. */
static void exec_ipi(void)
{
	struct rt_cpu *cpu = this_cpu_ptr(&rt_cpus);

	hardlock(&cpu->lock);
	rt_exec_arm(cpu);
	hardunlock(&cpu->lock);
}

/* ---- CPUs ---- */

static int init_cpu(int i)
{
	struct rt_cpu *cpu = rt_cpu_of(i);
	struct heap_slot *ready, *timers;

	ready = kvcalloc(CORE_READY_SLOTS, sizeof(*ready), GFP_KERNEL);
	timers = kvcalloc(CORE_TIMER_SLOTS, sizeof(*timers), GFP_KERNEL);
	core_init(&cpu->rq, i, &core_fixed_priority, ready, timers);
	cpu->rq.watch_ns = watchdog_ms * WATCH_NS_PER_MS;
	/* vzalloc() aligns to pages. */
	cpu->fp_linux = vzalloc(rt_fp_bytes);
	if (events) {
		cpu->rq.events.mask = roundup_pow_of_two(min(events, MOST_EVENTS)) - 1;
		cpu->rq.events.clock = pl_clock;
		cpu->rq.events.slot = vzalloc((cpu->rq.events.mask + 1ULL) * sizeof(struct event));
		if (!cpu->rq.events.slot)
			return -ENOMEM;
	}
	if (!ready || !timers || !cpu->fp_linux)
		return -ENOMEM;
	cpu->present = true;
	return 0;
}

static void free_cpu(struct rt_cpu *cpu)
{
	cpu->present = false;
	kvfree(cpu->rq.ready.slot);
	kvfree(cpu->rq.timers.heap.slot);
	vfree(cpu->fp_linux);
	cpu->fp_linux = NULL;
	vfree(cpu->rq.events.slot);
	cpu->rq.events.slot = NULL;
	cpu->rq.ready.slot = NULL;
	cpu->rq.timers.heap.slot = NULL;
}

static int exec_cpu_comes(int i)
{
	struct rt_cpu *cpu = rt_cpu_of(i);
	int error;

	mutex_lock(&rt_exec_mutex);
	error = init_cpu(i);
	if (error)
		free_cpu(cpu);
	else
		rt_sched_join(cpu);
	mutex_unlock(&rt_exec_mutex);
	return error;
}

static int exec_cpu_leaves(int i)
{
	struct rt_cpu *cpu = rt_cpu_of(i);
	unsigned long flags;
	int error = 0;

	mutex_lock(&rt_exec_mutex);
	flags = rt_cpu_lock(cpu);
	/* It stays until it is due, and without tasks there is nothing to watch. */
	if (!cpu->rq.count && heap_queued(&cpu->rq.watch_timer.node))
		timerq_remove_release(&cpu->rq.timers, &cpu->rq.watch_timer);
	if (cpu->rq.count || cpu->rq.timers.heap.count)
		error = -EBUSY;
	else
		cpu->present = false;
	rt_cpu_unlock(cpu, flags);
	if (!error)
		free_cpu(cpu);
	mutex_unlock(&rt_exec_mutex);
	return error;
}

const struct pl_client rt_client = {
	.timer = exec_timer,
	.ipi = exec_ipi,
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
}

int rt_exec_init(void)
{
	int i, error = 0;

	error = rt_admission_init();
	if (error)
		return error;
	rt_fp_measure();
	policy_ns = policy_us * 1000ULL;
	cpus_read_lock();
	for_each_online_cpu(i)
		error = error ?: init_cpu(i);
	cpus_read_unlock();
	if (error)
		goto cpus;
	assert_init();
	rt_fault_init();
	rt_idle_init();
	rt_sched_init();
	error = rt_printk_init();
	if (error)
		goto cpus;
	error = rt_reap_init();
	if (error)
		goto printk;
	return 0;
printk:
	rt_printk_exit();
cpus:
	free_cpus();
	return error;
}

void rt_exec_exit(void)
{
	rt_reap_exit();
	rt_idle_exit();
	rt_sched_exit();
	rt_fault_exit();
	assert_exit();
	rt_printk_exit();
	free_cpus();
}
