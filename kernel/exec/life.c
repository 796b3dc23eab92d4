// SPDX-License-Identifier: GPL-2.0-only
/* Tasks come and go (thesis, A.1): stacks, names, CPUs. */
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/kallsyms.h>
#include <linux/random.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "exec/assert.h"
#include "exec/cpu.h"
#include "exec/fp.h"
#include "exec/life.h"
#include "exec/objects.h"
#include "exec/oncpu.h"
#include "exec/qos.h"
#include "exec/reap.h"
#include "exec/resched.h"
#include "exec/timer.h"
#include "exec/trace.h"
#include "sched/wait.h"

/* Room on each stack for RT interrupts, and for Linux's exception handlers. */
#define STACK_RESERVE_BYTES 8192

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
	/* as Linux's: a zero byte ends strings */
	task->frame.canary = get_random_u64() & ~0xffUL;
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
	unsigned long flags = rt_cpu_lock(cpu);

	core_add(&cpu->rq, task);
	rt_cpu_unlock(cpu, flags);
}

static void default_name(RT_TASK *task)
{
	char symbol[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(symbol, (unsigned long)task->fn);
	strscpy(task->name, symbol, sizeof(task->name));
	*strchrnul(task->name, ' ') = '\0';	/* the module's name follows it */
}

int rt_task_make(RT_TASK *task, void (*fn)(int data), int data, int stack_size, int priority,
		 const char *name)
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
	if (!rt_cpu_of(cpu)->present || !pl_active())
		goto out;
	error = -ENOSPC;
	if (rt_cpu_of(cpu)->rq.count == RT_MAX_TASKS)
		goto out;
	*task = (RT_TASK) {
		.fn = fn, .data = data, .priority = priority, .deadline = RT_NO_DEADLINE,
		.stack = stack, .stack_bytes = bytes, .fp_area = stack + bytes - rt_fp_bytes,
	};
	if (name)
		strscpy(task->name, name, sizeof(task->name));
	else
		default_name(task);
	make_frame(task);
	add_to_cpu(task, rt_cpu_of(cpu));
	WRITE_ONCE(task->magic, (unsigned long)task ^ RT_TASK_MAGIC);
	rt_idle_look();
	error = 0;
out:
	mutex_unlock(&rt_exec_mutex);
	if (error)
		vfree(stack);
	return error;
}
EXPORT_SYMBOL_GPL(rt_task_make);

int rt_task_init(RT_TASK *task, void (*fn)(int data), int data, int stack_size, int priority)
{
	return rt_task_make(task, fn, data, stack_size, priority, NULL);
}
EXPORT_SYMBOL_GPL(rt_task_init);

int rt_task_set_cpu(RT_TASK *task, int i)
{
	struct rt_cpu *from, *to;
	unsigned long flags;
	int error = 0;

	if (pl_oob())
		return -EPERM;
	if (!rt_is_task(task) || i < 0 || i >= nr_cpu_ids || !rt_cpu_of(i)->present ||
	    !cpu_online(i))
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
	if (!rt_is_task(task) || !name || !*name)
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

static int call_kill(struct rt_rq *rq, struct rt_call *call)
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
	struct rt_call *call = arg;

	rt_sync_lock();
	/* Its CPU may be changing the state, but not from or to this one. */
	if (data_race(call->task->state) != CORE_DEAD)
		sync_kill(call->task);
	rt_call_oob(call);
	rt_sync_unlock();
}

static int kill_task(struct rt_call *call)
{
	if (!rt_is_task(call->task))
		return -EINVAL;
	rt_exec_run(kill_oob, call);
	return call->error;
}

void rt_task_end(RT_TASK *task)
{
	struct rt_call call = { .task = task, .fn = call_kill };

	kill_task(&call);
}

void rt_task_free(RT_TASK *task)
{
	struct rt_cpu *cpu = rt_cpu_of(task->cpu);
	struct rt_call call = { .task = task, .fn = call_kill };
	unsigned long flags;

	lockdep_assert_held(&rt_exec_mutex);
	kill_task(&call);	/* -EINVAL if RT code has done it */
	/*
	 * Another CPU may still be on its stack; the IPI is on its way. Pairs with rt_switch().
	 */
	while (smp_load_acquire(&task->frame.on_cpu))
		cpu_relax();
	/* Or in time_out(). */
	while (rt_timer_is_firing(&task->timer))
		cpu_relax();
	rt_reap_forget(task);

	flags = rt_cpu_lock(cpu);
	core_remove(&cpu->rq, task);
	rt_cpu_unlock(cpu, flags);
	rt_trace_task_leaves(task);
	vfree(task->stack);
	task->stack = NULL;
	WRITE_ONCE(task->magic, 0);
	rt_idle_look();
}

int rt_task_delete(RT_TASK *task)
{
	struct rt_call call = { .task = task, .fn = call_kill, .later = true };
	int error = -EINVAL;

	if (pl_oob())
		return kill_task(&call);
	might_sleep();
	mutex_lock(&rt_exec_mutex);
	if (rt_is_task(task)) {
		rt_task_free(task);
		error = 0;
	}
	mutex_unlock(&rt_exec_mutex);
	return error;
}
EXPORT_SYMBOL_GPL(rt_task_delete);
