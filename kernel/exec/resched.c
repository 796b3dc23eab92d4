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

/*
 * From @prev to rq.curr. Inline in its callers: it is most of what a switch costs. The call of
 * rt_switch() comes last, so that no registers are saved twice.
 */
static __always_inline void switch_from(struct rt_cpu *cpu, RT_TASK *prev)
{
	RT_TASK *next = cpu->rq.curr;

	rt_assert(pl_hard_disabled() && pl_oob() && !pl_in_irq());
	rt_assert(!next || next->cpu == raw_smp_processor_id());
	if (next == prev)
		return;
	/* Back to Linux's for a task without one, too: who is not on_cpu has nothing loaded. */
	if (unlikely((prev && prev->ring3) || (next && next->ring3)))
		pl_ring3_swap(next ? next->ring3 : NULL);
	rt_switch(frame_of(cpu, prev), frame_of(cpu, next));
	rt_assert(pl_hard_disabled() && cpu == rt_cpu_here() && cpu->rq.curr == prev);
}

static noinline void report_and_switch(struct rt_cpu *cpu, RT_TASK *prev)
{
	rt_sched_report();
	switch_from(cpu, prev);
}

static __always_inline void switch_now(struct rt_cpu *cpu, RT_TASK *prev)
{
	if (unlikely(cpu->rq.ejected))
		report_and_switch(cpu, prev);
	else
		switch_from(cpu, prev);
}

/* Apart, so that the switch from Linux has few bytes that it does not execute. */
static noinline void switch_chosen(struct rt_cpu *cpu)
{
	switch_now(cpu, cpu->prev);
}

rt_hot void rt_exec_switch(struct rt_cpu *cpu)
{
	RT_TASK *prev = rt_exec_pick(cpu, pl_clock(), false);

	hardunlock(&cpu->lock);
	switch_now(cpu, prev);
}

static noinline void lock_and_switch(struct rt_cpu *cpu)
{
	hardlock(&cpu->lock);
	rt_exec_switch(cpu);
}

/* No task is chosen yet. */
static noinline void choose_and_switch(struct rt_cpu *cpu)
{
	if (rt_exec_may_choose(cpu))
		lock_and_switch(cpu);
}

rt_path void rt_exec_resched(void)
{
	struct rt_cpu *cpu = rt_cpu_here();
	RT_TASK *next;

	if (unlikely(!cpu->chosen)) {
		choose_and_switch(cpu);
		return;
	}
	cpu->chosen = false;
	next = cpu->rq.curr;
	/* The bits of all three: one jump takes fewer bytes of what is executed. */
	if (unlikely(!next) || unlikely((uintptr_t)cpu->prev | (uintptr_t)next->ring3 |
					(uintptr_t)cpu->rq.ejected)) {
		switch_chosen(cpu);
		return;
	}
	rt_assert(pl_hard_disabled() && pl_oob() && !pl_in_irq());
	rt_assert(next->cpu == raw_smp_processor_id());
	rt_switch(&cpu->inband, &next->frame);
	rt_assert(pl_hard_disabled() && cpu == rt_cpu_here() && !cpu->rq.curr);
}

void rt_exec_job_done(void)
{
	struct rt_cpu *cpu = rt_cpu_here();

	/* What came due during the job has had no interrupt to say so. */
	if (pl_hosted())
		pl_poll();
	if (READ_ONCE(cpu->rq.need_resched))
		lock_and_switch(cpu);
}

/* A new task's first instructions; called by rt_task_entry only. */
asmlinkage __visible void __noreturn rt_task_main(RT_TASK *task);
asmlinkage __visible void __noreturn rt_task_main(RT_TASK *task)
{
	rt_exec_note_lateness(task);
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
