// SPDX-License-Identifier: GPL-2.0
/*
 * The task API (thesis, A.1): arguments, contexts, stacks. What the calls mean is in
 * sched/core.c.
 *
 * A call from Linux or RT code on any CPU becomes one function that runs out-of-band
 * on the caller's CPU under the lock of the task's CPU, and then a reschedule where
 * something changed: here on the way out, elsewhere by IPI.
 */
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/kallsyms.h>
#include <linux/random.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "sched/sync.h"
#include "task/exec.h"

/* Room on each stack for RT interrupts, and for Linux's exception handlers. */
#define STACK_RESERVE_BYTES 8192

/* A live task has its own address, turned by this, in magic; garbage and copies do not. */
#define TASK_MAGIC 0x7461637475732121ULL

static bool is_task(const RT_TASK *task)
{
	return task && READ_ONCE(task->magic) == ((unsigned long)task ^ TASK_MAGIC);
}

/* One call on one task. */
struct call {
	RT_TASK *task;
	int (*fn)(struct rt_rq *rq, struct call *call);
	RTIME start, period;	/* or another duration */
	int action;
	bool self;		/* by the task's own code */
	bool later;		/* by RT code: Linux is to free it */
	int error;
};

static void call_oob(void *arg)
{
	struct call *call = arg;
	RT_TASK *task = call->task;
	struct rt_cpu *cpu = rt_cpu_of(READ_ONCE(task->cpu));
	bool here = cpu == this_cpu_ptr(&rt_cpus), poke = false;

	hardlock(&cpu->lock);
	/* A task changes CPU under both locks, and only before it starts. */
	while (unlikely(cpu != rt_cpu_of(task->cpu))) {
		hardunlock(&cpu->lock);
		cpu = rt_cpu_of(READ_ONCE(task->cpu));
		here = cpu == this_cpu_ptr(&rt_cpus);
		hardlock(&cpu->lock);
	}
	if (task->state == CORE_DEAD) {
		call->error = -EINVAL;
	} else {
		call->error = call->fn(&cpu->rq, call);
		if (here)
			rt_exec_arm(cpu);
		else
			poke = cpu->rq.need_resched || timerq_early(&cpu->rq.timers);
	}
	hardunlock(&cpu->lock);
	if (poke)
		rt_exec_poke(cpu->rq.cpu);
}

static int do_call(struct call *call)
{
	if (!is_task(call->task))
		return -EINVAL;
	rt_exec_run(call_oob, call);
	return call->error;
}

/* Where is the caller? Only a task's own code, not an interrupt on top of it, is the task. */
static bool is_self(const RT_TASK *task)
{
	return rt_context() == RT_CONTEXT_TASK && rt_task_self() == task;
}

/*
 * The same for a call that makes the task's figures @new: with admission. In warn mode that is
 * left out where a Linux process could not wait for it; in enforce mode the call is refused.
 */
static int do_admitted_call(struct call *call, struct rt_figures (*new)(const struct call *call))
{
	bool enforce = rt_admission == RT_ADMISSION_ENFORCE;
	RT_TASK *task = call->task;
	struct rt_figures figures;
	int error = 0;

	if (!is_task(task))
		return -EINVAL;
	if (rt_admission == RT_ADMISSION_OFF)
		return do_call(call);
	if (pl_oob() || !in_task() || irqs_disabled() || preempt_count())
		return enforce ? -EPERM : do_call(call);
	if (enforce)
		mutex_lock(&rt_exec_mutex);
	else if (!mutex_trylock(&rt_exec_mutex))
		return do_call(call);
	if (is_task(task)) {
		figures = new(call);
		if (figures.period)
			error = rt_admit(rt_cpu_of(task->cpu), rt_cpu_of(task->cpu)->rq.ops, task,
					 &figures);
	}
	error = error ?: do_call(call);
	mutex_unlock(&rt_exec_mutex);
	return error;
}

static struct rt_figures with_period(const struct call *call)
{
	struct rt_figures figures = rt_figures_of(call->task);

	figures.period = call->period;
	return figures;
}

static struct rt_figures with_deadline(const struct call *call)
{
	struct rt_figures figures = rt_figures_of(call->task);

	figures.deadline = call->period;
	return figures;
}

static struct rt_figures with_budget(const struct call *call)
{
	struct rt_figures figures = rt_figures_of(call->task);

	figures.budget = call->period;
	return figures;
}

static int call_make_periodic(struct rt_rq *rq, struct call *call)
{
	return core_make_periodic(rq, call->task, call->start, call->period, pl_clock());
}

int rt_task_make_periodic(RT_TASK *task, RTIME start_time, RTIME period)
{
	struct call call = {
		.task = task, .fn = call_make_periodic, .start = start_time, .period = period,
	};
	int error;

	error = core_check_periodic(start_time, period) ?: do_admitted_call(&call, with_period);
	if (!error)
		rt_idle_look_later();
	return error;
}
EXPORT_SYMBOL_GPL(rt_task_make_periodic);

static int call_make_sporadic(struct rt_rq *rq, struct call *call)
{
	return core_make_sporadic(rq, call->task, call->period);
}

int rt_task_make_sporadic(RT_TASK *task, RTIME interval)
{
	struct call call = { .task = task, .fn = call_make_sporadic, .period = interval };

	return core_check_sporadic(interval) ?: do_admitted_call(&call, with_period);
}
EXPORT_SYMBOL_GPL(rt_task_make_sporadic);

static int call_set_deadline(struct rt_rq *rq, struct call *call)
{
	return core_set_deadline(rq, call->task, call->period);
}

int rt_task_set_deadline(RT_TASK *task, RTIME relative_deadline)
{
	struct call call = {
		.task = task, .fn = call_set_deadline, .period = relative_deadline,
	};

	return core_check_deadline(relative_deadline) ?: do_admitted_call(&call, with_deadline);
}
EXPORT_SYMBOL_GPL(rt_task_set_deadline);

static int call_set_budget(struct rt_rq *rq, struct call *call)
{
	return core_set_budget(call->task, call->period, call->action);
}

int rt_task_set_budget(RT_TASK *task, RTIME budget, enum rt_budget_action action)
{
	struct call call = {
		.task = task, .fn = call_set_budget, .period = budget, .action = action,
	};

	return core_check_budget(budget, action) ?: do_admitted_call(&call, with_budget);
}
EXPORT_SYMBOL_GPL(rt_task_set_budget);

static int call_suspend(struct rt_rq *rq, struct call *call)
{
	core_suspend(rq, call->task, call->self);
	return 0;
}

int rt_task_suspend(RT_TASK *task)
{
	struct call call = { .task = task, .fn = call_suspend, .self = is_self(task) };
	int error = do_call(&call);

	if (call.self && !error && !task->period)
		rt_exec_note_lateness(task);
	return error;
}
EXPORT_SYMBOL_GPL(rt_task_suspend);

static int call_wakeup(struct rt_rq *rq, struct call *call)
{
	core_wakeup(rq, call->task, pl_clock());
	return 0;
}

int rt_task_wakeup(RT_TASK *task)
{
	struct call call = { .task = task, .fn = call_wakeup };

	return do_call(&call);
}
EXPORT_SYMBOL_GPL(rt_task_wakeup);

/* The one call on the path of every job: no indirections. */
int rt_task_wait(void)
{
	struct rt_cpu *cpu;
	unsigned long flags;
	RT_TASK *task;
	int error;

	if (rt_context() != RT_CONTEXT_TASK)
		return -EPERM;
	flags = pl_hard_save();
	cpu = this_cpu_ptr(&rt_cpus);
	task = cpu->rq.curr;
	hardlock(&cpu->lock);
	if (pl_hosted())
		core_budget_note(&cpu->rq, pl_clock());
	error = core_wait(&cpu->rq, pl_clock());
	rt_exec_arm(cpu);
	hardunlock(&cpu->lock);
	if (error != -EPERM) {
		rt_exec_job_done();
		rt_exec_note_lateness(task);
	}
	pl_hard_restore(flags);
	return error;
}
EXPORT_SYMBOL_GPL(rt_task_wait);

int rt_task_sleep_until(RTIME when)
{
	struct rt_cpu *cpu;
	unsigned long flags;

	if (rt_context() != RT_CONTEXT_TASK)
		return -EPERM;
	if (when < 0)
		return -EINVAL;
	flags = pl_hard_save();
	cpu = this_cpu_ptr(&rt_cpus);
	if (when > pl_clock()) {
		hardlock(&cpu->lock);
		core_block(&cpu->rq, when);
		rt_exec_arm(cpu);
		hardunlock(&cpu->lock);
		rt_exec_resched();
	}
	pl_hard_restore(flags);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_task_sleep_until);

/* Birth. */

/* What rt_switch() finds on the stack of a task that has not run yet. */
static void make_frame(RT_TASK *task)
{
	unsigned long *sp = task->fp_area;

	*--sp = 0;				/* where rt_task_entry seems to be called from */
	*--sp = (unsigned long)rt_task_entry;
	*--sp = 0;				/* rbp */
	*--sp = (unsigned long)task;		/* rbx */
	*--sp = 0;				/* r12 */
	*--sp = 0;
	*--sp = 0;
	*--sp = 0;				/* r15 */
	task->frame.sp = sp;
	task->frame.canary = get_random_u64() & ~0xffUL;	/* as Linux's: a zero byte ends strings */
}

static bool is_known(const RT_TASK *task)
{
	int i;

	for_each_possible_cpu(i)
		for (const RT_TASK *t = rt_cpu_of(i)->rq.tasks; t; t = t->next)
			if (t == task)
				return true;
	return false;
}

static void add_to_cpu(RT_TASK *task, struct rt_cpu *cpu)
{
	unsigned long flags = pl_hard_save();

	hardlock(&cpu->lock);
	core_add(&cpu->rq, task);
	hardunlock(&cpu->lock);
	pl_hard_restore(flags);
}

static void default_name(RT_TASK *task)
{
	char symbol[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(symbol, (unsigned long)task->fn);
	strscpy(task->name, symbol, sizeof(task->name));
	*strchrnul(task->name, ' ') = '\0';	/* the module's name follows it */
}

int rt_task_init(RT_TASK *task, void (*fn)(int data), int data, int stack_size, int priority)
{
	int bytes, error, cpu;
	void *stack;

	if (pl_oob())
		return -EPERM;
	might_sleep();
	if (!task || !fn || stack_size < RT_STACK_MIN_BYTES || stack_size > RT_STACK_MAX_BYTES ||
	    priority < 1 || priority > RT_LOWEST_PRIORITY)
		return -EINVAL;
	/* vmalloc leaves an unmapped page on both sides. The floating point area lies on top. */
	bytes = ALIGN(stack_size + STACK_RESERVE_BYTES + rt_fp_bytes, PAGE_SIZE);
	stack = __vmalloc(bytes, GFP_KERNEL | __GFP_ZERO);
	if (!stack)
		return -ENOMEM;

	mutex_lock(&rt_exec_mutex);
	cpu = raw_smp_processor_id();
	error = -EBUSY;
	if (is_known(task)) {
		if (task->state != CORE_DEAD)
			goto out;
		rt_task_free(task);	/* RT code deleted it; Linux had not got to it */
	}
	error = -ENODEV;
	if (!rt_cpu_of(cpu)->present)
		goto out;
	error = -ENOSPC;
	if (rt_cpu_of(cpu)->rq.count == RT_MAX_TASKS)
		goto out;
	*task = (RT_TASK) {
		.fn = fn, .data = data, .priority = priority, .deadline = RT_NO_DEADLINE,
		.stack = stack, .stack_bytes = bytes, .fp_area = stack + bytes - rt_fp_bytes,
	};
	default_name(task);
	make_frame(task);
	add_to_cpu(task, rt_cpu_of(cpu));
	WRITE_ONCE(task->magic, (unsigned long)task ^ TASK_MAGIC);
	error = 0;
out:
	mutex_unlock(&rt_exec_mutex);
	if (error)
		vfree(stack);
	return error;
}
EXPORT_SYMBOL_GPL(rt_task_init);

int rt_task_set_cpu(RT_TASK *task, int i)
{
	struct rt_cpu *from, *to;
	unsigned long flags;
	int error = 0;

	if (pl_oob())
		return -EPERM;
	if (!is_task(task) || i < 0 || i >= nr_cpu_ids || !rt_cpu_of(i)->present || !cpu_online(i))
		return -EINVAL;

	mutex_lock(&rt_exec_mutex);
	from = rt_cpu_of(task->cpu);
	to = rt_cpu_of(i);
	if (from != to) {
		flags = pl_hard_save();
		hardlock_pair(&from->lock, &to->lock);
		if (task->state == CORE_DEAD) {
			error = -EINVAL;
		} else if (task->state != CORE_DORMANT) {
			error = -EBUSY;
		} else if (to->rq.count == RT_MAX_TASKS) {
			error = -ENOSPC;
		} else {
			core_remove(&from->rq, task);
			core_add(&to->rq, task);
		}
		hardunlock(&from->lock);
		hardunlock(&to->lock);
		pl_hard_restore(flags);
	} else if (task->state != CORE_DORMANT) {
		error = -EBUSY;
	}
	mutex_unlock(&rt_exec_mutex);
	return error;
}
EXPORT_SYMBOL_GPL(rt_task_set_cpu);

int rt_task_set_name(RT_TASK *task, const char *name)
{
	const char *c;

	if (pl_oob())
		return -EPERM;
	if (!is_task(task) || !name || !*name)
		return -EINVAL;
	for (c = name; *c; c++)
		if (!isascii(*c) || !isgraph(*c))
			return -EINVAL;
	mutex_lock(&rt_exec_mutex);
	strscpy(task->name, name, sizeof(task->name));
	mutex_unlock(&rt_exec_mutex);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_task_set_name);

/* Death. */

static int call_kill(struct rt_rq *rq, struct call *call)
{
	core_kill(rq, call->task);
	rt_fp_forget(container_of(rq, struct rt_cpu, rq), call->task);
	if (call->later)
		rt_reap_later(call->task);
	return 0;
}

/* Others that wait for it must not wait for a dead task; they may be of other CPUs. */
static void kill_oob(void *arg)
{
	struct call *call = arg;

	rt_sync_lock();
	/* Its CPU may be changing the state, but not from or to this one. */
	if (data_race(call->task->state) != CORE_DEAD)
		sync_kill(call->task);
	call_oob(call);
	rt_sync_unlock();
}

static int kill_task(struct call *call)
{
	if (!is_task(call->task))
		return -EINVAL;
	rt_exec_run(kill_oob, call);
	return call->error;
}

void rt_task_end(RT_TASK *task)
{
	struct call call = { .task = task, .fn = call_kill };

	kill_task(&call);
}

void rt_task_free(RT_TASK *task)
{
	struct rt_cpu *cpu = rt_cpu_of(task->cpu);
	struct call call = { .task = task, .fn = call_kill };
	unsigned long flags;

	kill_task(&call);	/* -EINVAL if RT code has done it */
	/* Another CPU may still be on its stack; the IPI is on its way. Pairs with finish_switch(). */
	while (smp_load_acquire(&task->on_cpu))
		cpu_relax();
	/* Or in time_out(). */
	while (rt_timer_is_firing(&task->timer))
		cpu_relax();
	rt_reap_forget(task);

	flags = pl_hard_save();
	hardlock(&cpu->lock);
	core_remove(&cpu->rq, task);
	hardunlock(&cpu->lock);
	pl_hard_restore(flags);
	vfree(task->stack);
	task->stack = NULL;
	WRITE_ONCE(task->magic, 0);
	rt_idle_look();
}

int rt_task_delete(RT_TASK *task)
{
	struct call call = { .task = task, .fn = call_kill, .later = true };
	int error = -EINVAL;

	if (pl_oob())
		return kill_task(&call);
	might_sleep();
	mutex_lock(&rt_exec_mutex);
	if (is_task(task)) {
		rt_task_free(task);
		error = 0;
	}
	mutex_unlock(&rt_exec_mutex);
	return error;
}
EXPORT_SYMBOL_GPL(rt_task_delete);
