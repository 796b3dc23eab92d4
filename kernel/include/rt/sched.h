/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scheduling policies as modules (thesis, 3.3).
 *
 * The executive owns the states of tasks and jobs, releases, timers, locking and
 * switching. A policy owns one thing: the order of the tasks that are ready.
 * See docs/scheduling.md; policy/rm.c is a complete example.
 *
 * A policy's file includes this header alone, and it compiles outside of the kernel,
 * too, where the conformance suite runs it against a fake clock.
 */
#ifndef _RT_SCHED_H
#define _RT_SCHED_H

#ifdef __KERNEL__
#include <linux/module.h>
#else
#define THIS_MODULE NULL
#endif
#include <rt/pure.h>
#include <rt/task.h>

struct module;

/* One CPU's ready tasks, and its policy's view of the machine. */
struct rt_rq;

/**
 * enum rt_analysis - which theory tells whether a policy's tasks meet their deadlines
 * @RT_ANALYSIS_NONE: none; together they must not want more CPU than there is
 * @RT_ANALYSIS_FIXED: response times under fixed priorities, as @rank says
 * @RT_ANALYSIS_EDF: processor demand, earliest deadline first
 */
enum rt_analysis {
	RT_ANALYSIS_NONE,
	RT_ANALYSIS_FIXED,
	RT_ANALYSIS_EDF,
};

/**
 * struct rt_sched_ops - a scheduling policy
 *
 * Unless noted, an operation is called with hardware interrupts off and @rq's lock
 * held, possibly out-of-band, so it must be short, must not call Linux, and may call
 * only the rt_rq_* functions below. Tasks handed in belong to @rq's CPU.
 *
 * A policy is ejected, and the built-in one takes the CPU over, then all others, if @pick names a
 * task that is not ready or not of this CPU, or none while one is ready; if one of the operations
 * takes longer than tactus's parameter policy_us says, three times in a row; or if a ready task
 * has not been picked for policy_stall_ms. On the CPU that has ejected it, @dump is the last
 * that is called of it before @exit. It is not made active again.
 */
struct rt_sched_ops {
	/** @owner: THIS_MODULE */
	struct module *owner;

	/** @name: letters, digits, '_'; shown as the policy's name. Mandatory. */
	const char *name;

	/**
	 * @init: prepare; called once, by rt_sched_register(), before anything else.
	 * Linux process; may sleep. A negative errno makes the registration fail.
	 * If omitted: nothing to prepare.
	 */
	int (*init)(void);

	/**
	 * @exit: the reverse, when the policy is gone from all CPUs. Linux process; may
	 * sleep. If omitted: nothing to undo.
	 */
	void (*exit)(void);

	/**
	 * @admit: may @task run with this period and relative deadline beside those
	 * attached already? 0, or -ENOSPC. Called before the task's parameters change,
	 * and for all tasks before the policy takes over. Parameters that change between
	 * that and the takeover were admitted by the policy before.
	 * If omitted: every task is admitted.
	 */
	int (*admit)(struct rt_rq *rq, const RT_TASK *task, RTIME period,
		     RTIME relative_deadline);

	/**
	 * @analysis: how the executive tests a set of tasks with budgets, see tactus's
	 * parameter admission. If omitted: by utilisation alone.
	 */
	enum rt_analysis analysis;

	/**
	 * @rank: a task's rank with this period and relative deadline (0: the period); smaller is
	 * more urgent. Mandatory with RT_ANALYSIS_FIXED.
	 */
	unsigned long long (*rank)(const RT_TASK *task, RTIME period, RTIME relative_deadline);

	/**
	 * @attach: @task is the policy's from now on; it is not ready. Cannot fail.
	 * If omitted: nothing to note.
	 */
	void (*attach)(struct rt_rq *rq, RT_TASK *task);

	/**
	 * @detach: @task is not the policy's any more; it is not ready: if it was, @dequeue
	 * came before, also when another policy takes over.
	 * If omitted: nothing to forget.
	 */
	void (*detach)(struct rt_rq *rq, RT_TASK *task);

	/**
	 * @release: a new job of @task begins: its @release and @deadline are set. Called
	 * before @enqueue, while @task is not ready.
	 * If omitted: nothing depends on it.
	 */
	void (*release)(struct rt_rq *rq, RT_TASK *task);

	/**
	 * @enqueue: @task has become ready. It stays so, running or not, until @dequeue.
	 * Mandatory. Most policies do rt_rq_add() with a key of their choice.
	 */
	void (*enqueue)(struct rt_rq *rq, RT_TASK *task);

	/**
	 * @dequeue: @task is not ready any more. If omitted: rt_rq_remove().
	 */
	void (*dequeue)(struct rt_rq *rq, RT_TASK *task);

	/**
	 * @pick: the ready task that should run now, which may be the one that runs; NULL
	 * if none is ready, for Linux. When another policy takes over, it also says in what
	 * order the tasks are handed on.
	 * If omitted: rt_rq_first(). Omit both @pick and @dequeue, or neither.
	 */
	RT_TASK *(*pick)(struct rt_rq *rq);

	/**
	 * @preempts: would @task, just made ready, run in place of @curr, which runs?
	 * A hint that saves rescheduling in vain, never a promise.
	 * If omitted: it might.
	 */
	bool (*preempts)(struct rt_rq *rq, const RT_TASK *task, const RT_TASK *curr);

	/**
	 * @dump: write the policy's state as text into @buf (@size bytes), for the log
	 * when the policy is ejected; return the bytes written, no terminating zero.
	 * Not called of a policy that is ejected for being slow.
	 * If omitted: the ready queue is listed.
	 */
	int (*dump)(struct rt_rq *rq, char *buf, int size);
};

/**
 * rt_rq_add - put a task into the CPU's ready queue
 * @rq: the CPU's
 * @task: not in the queue
 * @key: smaller runs first; among equal keys, first come first served
 *
 * O(log n). Context: a policy's enqueue.
 */
void rt_rq_add(struct rt_rq *rq, RT_TASK *task, unsigned long long key);

/**
 * rt_rq_remove - take a task out of the CPU's ready queue
 * @rq: the CPU's
 * @task: in the queue or not
 *
 * O(log n). Context: a policy's dequeue.
 */
void rt_rq_remove(struct rt_rq *rq, RT_TASK *task);

/**
 * rt_rq_first - the task with the smallest key
 * @rq: the CPU's
 *
 * O(1). Context: a policy's pick or preempts.
 * Return: the task, or NULL: the queue is empty.
 */
RT_TASK *rt_rq_first(const struct rt_rq *rq);

/**
 * rt_rq_cpu - whose ready queue is it?
 * @rq: a CPU's
 *
 * Context: any operation of a policy.
 * Return: the CPU's number.
 */
int rt_rq_cpu(const struct rt_rq *rq);

/**
 * rt_sched_register - make a policy the one that schedules
 * @ops: the policy; must stay until rt_sched_unregister()
 *
 * Every task of every CPU is checked with @ops->admit first; then the policy takes
 * over, CPU by CPU, while tasks run. Tasks that are ready keep their order as far
 * as the new policy finds them equal.
 *
 * Context: Linux process; may sleep.
 * Return: 0, -EINVAL (no @ops; no or a bad name; no enqueue; only one of pick and dequeue;
 * RT_ANALYSIS_FIXED without rank),
 * -EEXIST (registered already, or the name is), -ENOSPC (it does not admit a task;
 * the log says which), -EPERM (called from RT code), -ENOMEM, what @ops->init returned,
 * -ENODEV (the executive is not active). After an error the old policy goes on.
 * Source: thesis, 3.3.
 */
int rt_sched_register(const struct rt_sched_ops *ops);

/**
 * rt_sched_unregister - take a policy back
 * @ops: registered; others are ignored
 *
 * If it schedules, the policy registered before it takes over, or the built-in one
 * when there is none or that does not admit a task. On return @ops is not in use.
 *
 * Context: Linux process; may sleep.
 */
void rt_sched_unregister(const struct rt_sched_ops *ops);

/*
 * A policy that is a module of its own: registers when loaded, goes when unloaded.
 * A test includes the file and takes the operations by name.
 */
#ifdef RT_POLICY_UNDER_TEST
#define rt_sched_module(ops) struct rt_nothing
#else
#define rt_sched_module(ops)						\
static int __init ops##_load(void)					\
{									\
	return rt_sched_register(&(ops));				\
}									\
module_init(ops##_load);						\
static void __exit ops##_unload(void)					\
{									\
	rt_sched_unregister(&(ops));					\
}									\
module_exit(ops##_unload)
#endif
#ifndef __KERNEL__
#define module_param(name, type, perm) struct rt_nothing
#define MODULE_PARM_DESC(name, text) struct rt_nothing
#define MODULE_DESCRIPTION(text) struct rt_nothing
#define MODULE_LICENSE(text) struct rt_nothing
#endif

#endif
