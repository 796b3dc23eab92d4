// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which task has the CPU, and the switch to it.
 *
 * Linux is the lowest-priority task of each CPU: rq.curr == NULL. Its context is the stack that an
 * RT interrupt came on; the switch away from it happens in rt_exec_resched(), which
 * the pipeline calls last, and returns there when no task is ready.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/preempt.h>

#include "pipeline/ring3.h"
#include "exec/assert.h"
#include "exec/cpu.h"
#include "exec/fp.h"
#include "exec/registry.h"
#include "exec/resched.h"
#include "exec/tick.h"

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

	rt_assert(pl_hard_disabled() && pl_oob() && !pl_in_irq());
	hardlock(&cpu->lock);
	prev = cpu->rq.curr;
	next = core_pick(&cpu->rq, pl_clock());
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
	/* Back to Linux's for a task without one, too: who is not on_cpu has nothing loaded. */
	if (unlikely((prev && prev->ring3) || (next && next->ring3)))
		pl_ring3_swap(next ? next->ring3 : NULL);
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
