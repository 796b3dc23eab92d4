// SPDX-License-Identifier: GPL-2.0-only
/*
 * The task API (thesis, A.1): what starts, stops and changes a task. Arguments, contexts and
 * admission; what the calls mean is in sched/core.c. How tasks come and go: life.c.
 */
#include <linux/export.h>

#include <rt/context.h>
#include "exec/admit.h"
#include "exec/assert.h"
#include "exec/cpu.h"
#include "exec/oncpu.h"
#include "exec/resched.h"
#include "exec/ring3.h"
#include "exec/tick.h"

/* Where is the caller? Only a task's own code, not an interrupt on top of it, is the task. */
static bool is_self(const RT_TASK *task)
{
	return pl_oob() && !pl_in_irq() && task && rt_cpu_task() == task;
}

/*
 * rt_call() for a call that makes the task's figures @new: with admission. In warn mode that is
 * left out where a Linux process could not wait for it; in enforce mode the call is refused.
 */
static int do_admitted_call(struct rt_call *call,
			    struct rt_figures (*new)(const struct rt_call *call))
{
	bool enforce = rt_admission == RT_ADMISSION_ENFORCE;
	RT_TASK *task = call->task;
	struct rt_figures figures;
	int error = 0;

	if (!rt_is_task(task))
		return -EINVAL;
	if (rt_admission == RT_ADMISSION_OFF)
		return rt_call(call);
	if (pl_oob() || !in_task() || irqs_disabled() || preempt_count())
		return enforce ? -EPERM : rt_call(call);
	if (enforce)
		mutex_lock(&rt_exec_mutex);
	else if (!mutex_trylock(&rt_exec_mutex))
		return rt_call(call);
	if (rt_is_task(task)) {
		figures = new(call);
		if (figures.period || figures.section)
			error = rt_admit(rt_cpu_of(task->cpu), rt_cpu_of(task->cpu)->rq.policy,
					 task, &figures);
	}
	error = error ?: rt_call(call);
	mutex_unlock(&rt_exec_mutex);
	return error;
}

static struct rt_figures with_period(const struct rt_call *call)
{
	struct rt_figures figures = rt_figures_of(call->task);

	figures.period = call->period;
	return figures;
}

static struct rt_figures with_deadline(const struct rt_call *call)
{
	struct rt_figures figures = rt_figures_of(call->task);

	figures.deadline = call->period;
	return figures;
}

static struct rt_figures with_budget(const struct rt_call *call)
{
	struct rt_figures figures = rt_figures_of(call->task);

	figures.budget = call->period;
	return figures;
}

static struct rt_figures with_suspension(const struct rt_call *call)
{
	struct rt_figures figures = rt_figures_of(call->task);

	figures.suspension = call->period;
	return figures;
}

static struct rt_figures with_section(const struct rt_call *call)
{
	struct rt_figures figures = rt_figures_of(call->task);

	figures.section = call->period;
	return figures;
}

static int call_make_periodic(struct rt_rq *rq, struct rt_call *call)
{
	return core_make_periodic(rq, call->task, call->start, call->period, pl_clock());
}

int rt_task_make_periodic(RT_TASK *task, RTIME start_time, RTIME period)
{
	struct rt_call call = {
		.task = task, .fn = call_make_periodic, .start = start_time, .period = period,
	};

	return core_check_periodic(start_time, period) ?: do_admitted_call(&call, with_period);
}
EXPORT_SYMBOL_GPL(rt_task_make_periodic);

static int call_make_sporadic(struct rt_rq *rq, struct rt_call *call)
{
	return core_make_sporadic(rq, call->task, call->period);
}

int rt_task_make_sporadic(RT_TASK *task, RTIME interval)
{
	struct rt_call call = { .task = task, .fn = call_make_sporadic, .period = interval };

	return core_check_sporadic(interval) ?: do_admitted_call(&call, with_period);
}
EXPORT_SYMBOL_GPL(rt_task_make_sporadic);

static int call_set_deadline(struct rt_rq *rq, struct rt_call *call)
{
	return core_set_deadline(rq, call->task, call->period);
}

int rt_task_set_deadline(RT_TASK *task, RTIME relative_deadline)
{
	struct rt_call call = {
		.task = task, .fn = call_set_deadline, .period = relative_deadline,
	};

	return core_check_deadline(relative_deadline) ?: do_admitted_call(&call, with_deadline);
}
EXPORT_SYMBOL_GPL(rt_task_set_deadline);

static int call_set_priority(struct rt_rq *rq, struct rt_call *call)
{
	return core_set_priority(rq, call->task, call->action);
}

int rt_task_set_priority(RT_TASK *task, int priority)
{
	struct rt_call call = { .task = task, .fn = call_set_priority, .action = priority };

	if (rt_is_task(task) && rt_admission == RT_ADMISSION_ENFORCE)
		return -EPERM;
	return rt_call(&call);
}
EXPORT_SYMBOL_GPL(rt_task_set_priority);

static int call_set_budget(struct rt_rq *rq, struct rt_call *call)
{
	return core_set_budget(call->task, call->period, call->action);
}

int rt_task_set_budget(RT_TASK *task, RTIME budget, enum rt_budget_action action)
{
	struct rt_call call = {
		.task = task, .fn = call_set_budget, .period = budget, .action = action,
	};

	return core_check_budget(budget, action) ?: do_admitted_call(&call, with_budget);
}
EXPORT_SYMBOL_GPL(rt_task_set_budget);

static int call_set_suspension(struct rt_rq *rq, struct rt_call *call)
{
	call->task->suspension = call->period;
	return 0;
}

int rt_task_set_suspension(RT_TASK *task, RTIME suspension)
{
	struct rt_call call = { .task = task, .fn = call_set_suspension, .period = suspension };

	if (suspension < 0 || suspension > RT_PERIOD_MAX_NS)
		return -EINVAL;
	return do_admitted_call(&call, with_suspension);
}
EXPORT_SYMBOL_GPL(rt_task_set_suspension);

static int call_set_section(struct rt_rq *rq, struct rt_call *call)
{
	call->task->section = call->period;
	return 0;
}

int rt_task_set_section(RT_TASK *task, RTIME section)
{
	struct rt_call call = { .task = task, .fn = call_set_section, .period = section };

	if (section < 0 || section > RT_PERIOD_MAX_NS)
		return -EINVAL;
	return do_admitted_call(&call, with_section);
}
EXPORT_SYMBOL_GPL(rt_task_set_section);

static int call_suspend(struct rt_rq *rq, struct rt_call *call)
{
	core_suspend(rq, call->task, call->self);
	return 0;
}

/* By RT code, of this CPU. Return: 0, or -EAGAIN: it is not a live task of this CPU. */
static __always_inline int suspend_here(RT_TASK *task, bool self)
{
	unsigned long flags = pl_hard_save();
	struct rt_cpu *cpu = rt_cpu_here();
	int error = -EAGAIN;

	if (likely(rt_call_lock(cpu, task))) {
		core_suspend(&cpu->rq, task, self);
		rt_call_end(cpu);
		error = 0;
	}
	pl_hard_restore(flags);
	return error;
}

static noinline int suspend_by_call(RT_TASK *task, bool self)
{
	struct rt_call call = { .task = task, .fn = call_suspend, .self = self };

	return rt_call(&call);
}

rt_hot int rt_task_suspend(RT_TASK *task)
{
	bool self = is_self(task);
	int error = -EAGAIN;

	if (pl_oob() && rt_is_task(task))
		error = suspend_here(task, self);
	if (unlikely(error))
		error = suspend_by_call(task, self);
	if (self && !error && !task->period)
		rt_exec_note_lateness(task);
	return error;
}
EXPORT_SYMBOL_GPL(rt_task_suspend);

static int call_wakeup(struct rt_rq *rq, struct rt_call *call)
{
	return core_wakeup(rq, call->task, pl_clock());
}

static int call_wake_stopped(struct rt_rq *rq, struct rt_call *call)
{
	int error = core_wakeup(rq, call->task, pl_clock());

	if (error == -EAGAIN)
		core_wake_stopped(rq, call->task, pl_clock(), call->by_linux);
	return 0;
}

static noinline int wakeup_by_call(RT_TASK *task)
{
	struct rt_call call = { .task = task, .fn = call_wakeup };
	int error = rt_call(&call);

	if (likely(error != -EAGAIN))
		return error;
	call.fn = call_wake_stopped;
	call.by_linux = !pl_oob() && in_task();
	return rt_call(&call);
}

/* @error: what core_wakeup() says, or -EAGAIN: it is not a live task of this CPU */
struct wakeup {
	RT_TASK *task;
	int error;
};

/* Context: out-of-band, hardware interrupts off; a reschedule follows. */
static void wakeup_oob(void *arg)
{
	struct rt_cpu *cpu = rt_cpu_here();
	struct wakeup *wakeup = arg;

	if (likely(rt_call_lock(cpu, wakeup->task))) {
		wakeup->error = core_wakeup(&cpu->rq, wakeup->task, pl_clock());
		rt_call_end_oob(cpu);
	}
}

static noinline int wakeup_by_linux(RT_TASK *task)
{
	struct wakeup wakeup = { .task = task, .error = -EAGAIN };

	pl_run_oob(wakeup_oob, &wakeup);
	return wakeup.error;
}

static __always_inline int wakeup_by_rt(RT_TASK *task)
{
	unsigned long flags = pl_hard_save();
	struct rt_cpu *cpu = rt_cpu_here();
	int error = -EAGAIN;

	if (likely(rt_call_lock(cpu, task))) {
		error = core_wakeup(&cpu->rq, task, pl_clock());
		rt_call_end(cpu);
	}
	pl_hard_restore(flags);
	return error;
}

rt_hot int rt_task_wakeup(RT_TASK *task)
{
	int error;

	if (unlikely(!rt_is_task(task)))
		return -EINVAL;
	error = pl_oob() ? wakeup_by_rt(task) : wakeup_by_linux(task);
	return likely(error != -EAGAIN) ? error : wakeup_by_call(task);
}
EXPORT_SYMBOL_GPL(rt_task_wakeup);

/* The one call on the path of every job: no indirections. */
static __always_inline int wait(void)
{
	struct rt_cpu *cpu = rt_cpu_here();
	RT_TASK *task = cpu->rq.curr;
	int error;

	hardlock(&cpu->lock);
	if (pl_hosted())
		core_budget_note(&cpu->rq, pl_clock());
	error = core_wait(&cpu->rq, pl_clock());
	if (likely(cpu->rq.need_resched && error != -EPERM) && !pl_hosted()) {
		rt_exec_switch(cpu);
	} else {
		rt_exec_arm(cpu);
		hardunlock(&cpu->lock);
		if (error == -EPERM)
			return error;
		rt_exec_job_done();
	}
	rt_exec_note_lateness(task);
	return error;
}

rt_path int rt_task_wait(void)
{
	unsigned long flags;
	int error;

	if (rt_context() != RT_CONTEXT_TASK)
		return -EPERM;
	flags = pl_hard_save();
	error = wait();
	pl_hard_restore(flags);
	return error;
}
EXPORT_SYMBOL_GPL(rt_task_wait);

int rt_ring3_wait(void)
{
	rt_assert(pl_hard_disabled() && rt_context() == RT_CONTEXT_TASK);
	return wait();
}
EXPORT_SYMBOL_GPL(rt_ring3_wait);

int rt_task_sleep_until(RTIME when)
{
	struct rt_cpu *cpu;
	unsigned long flags;

	if (rt_context() != RT_CONTEXT_TASK)
		return -EPERM;
	if (when < 0)
		return -EINVAL;
	flags = pl_hard_save();
	cpu = rt_cpu_here();
	if (when > pl_clock()) {
		hardlock(&cpu->lock);
		core_sleep(&cpu->rq, when);
		rt_exec_arm(cpu);
		hardunlock(&cpu->lock);
		rt_exec_resched();
		rt_exec_late(when);
	}
	pl_hard_restore(flags);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_task_sleep_until);
