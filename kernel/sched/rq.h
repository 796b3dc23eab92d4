/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the scheduler's core share. It is inline, because it is on the path of every
 * job and every switch. Nobody else includes it; the rq's lock is held.
 */
#ifndef _TACTUS_SCHED_RQ_H
#define _TACTUS_SCHED_RQ_H

#include "sched/core.h"

/* In policy.c: from now on, @ops is asked. The tasks are not touched. */
void core_use(struct rt_rq *rq, const struct rt_sched_ops *ops);

/* rq->curr may not be what the policy picks. */
static inline void rq_reschedule(struct rt_rq *rq)
{
	/*
	 * Its CPU looks at this without the lock, and is poked after a change from elsewhere, so it
	 * misses none. A marked store has the compiler lay out the wake-up's path in another way.
	 */
	data_race(rq->need_resched = true);
}

/* Somebody has to let it go on, whatever else it waits for. */
static inline bool rq_held(const RT_TASK *task)
{
	return task->suspended | task->stopped;
}

/* Of a job that is released at @release. */
static inline RTIME rq_deadline_after(const RT_TASK *task, RTIME release)
{
	RTIME relative = task->relative_deadline ? task->relative_deadline : task->period;
	u64 deadline = (u64)release + (u64)relative;

	/* Neither is negative, so their sum is right without a sign. */
	return likely(relative && deadline <= RT_NO_DEADLINE) ? (RTIME)deadline : RT_NO_DEADLINE;
}

/* In the ready queue or not. See rt_rq_add() and its like. */

static inline void rq_remove(struct rt_rq *rq, RT_TASK *task)
{
	if (heap_queued(&task->ready))
		heap_remove(&rq->ready, &task->ready);
}

static inline void rq_add(struct rt_rq *rq, RT_TASK *task, u64 key)
{
	u64 inherited = READ_ONCE(task->inherited);

	/* A policy that adds a task twice must not break the queue of the others. */
	if (unlikely(heap_queued(&task->ready)))
		rt_rq_remove(rq, task);
	task->key = key;
	heap_insert(&rq->ready, &task->ready, key < inherited ? key : inherited);
}

static inline RT_TASK *rq_first(const struct rt_rq *rq)
{
	if (unlikely(!rq->ready.count))
		return NULL;
	return container_of(rq->ready.slot[0].node, RT_TASK, ready);
}

/*
 * What is asked of a policy at each release and each switch. The built-in one, which is not
 * supervised, answers here, without a call: see core_fixed_priority.
 */

static inline bool rq_built_in(const struct rt_rq *rq)
{
	return likely(rq->built_in);
}

static inline void rq_tell_release(struct rt_rq *rq, RT_TASK *task)
{
	if (!rq_built_in(rq))
		rq->ops->release(rq, task);
}

static inline void rq_tell_enqueue(struct rt_rq *rq, RT_TASK *task)
{
	if (rq_built_in(rq))
		rq_add(rq, task, task->priority);
	else
		rq->ops->enqueue(rq, task);
}

static inline void rq_tell_dequeue(struct rt_rq *rq, RT_TASK *task)
{
	if (rq_built_in(rq))
		rq_remove(rq, task);
	else
		rq->ops->dequeue(rq, task);
}

static inline bool rq_ask_preempts(struct rt_rq *rq, const RT_TASK *task, const RT_TASK *curr)
{
	if (rq_built_in(rq))
		return task->priority < curr->priority;
	return rq->ops->preempts(rq, task, curr);
}

/* Ready or not, as the policy is told. */

static inline void rq_enqueue(struct rt_rq *rq, RT_TASK *task)
{
	task->queued = CORE_QUEUED;
	rq_tell_enqueue(rq, task);
	if (!rq->curr || task == rq->curr || READ_ONCE(task->inherited) != CORE_NOTHING_INHERITED ||
	    rq_ask_preempts(rq, task, rq->curr))
		rq_reschedule(rq);
}

static inline void rq_dequeue(struct rt_rq *rq, RT_TASK *task)
{
	if (!task->queued)
		return;
	task->queued = CORE_NOT_QUEUED;
	rq_tell_dequeue(rq, task);
	if (task == rq->curr)
		rq_reschedule(rq);
}

/* The same for a task that has waited: what it takes from now on is a stretch of its own. */
static inline void rq_enqueue_rested(struct rt_rq *rq, RT_TASK *task)
{
	task->streak = task->exec;
	rq_enqueue(rq, task);
}

/*
 * Out of the queue and in again, with another key perhaps, and before equals that came later:
 * rq_return() wants to know what rq_leave() said.
 */
static inline u64 rq_leave(struct rt_rq *rq, RT_TASK *task)
{
	u64 place = heap_queued(&task->ready) ? heap_place(&rq->ready, &task->ready) + 1 : 0;

	rq_dequeue(rq, task);
	return place;
}

static inline void rq_return(struct rt_rq *rq, RT_TASK *task, u64 place)
{
	rq_enqueue(rq, task);
	if (place && heap_queued(&task->ready))
		heap_move(&rq->ready, &task->ready, place - 1);
}

/* rq->curr has had the CPU since rq->since. */
static inline void rq_account(struct rt_rq *rq, RTIME now)
{
	RTIME ran = now - rq->since;
	RT_TASK *task = rq->curr;

	rq->since = now;
	if (!task)
		return;
	task->exec += ran;
	task->job_exec += ran;
}

/* In budget.c: for tasks that have a budget. */

/*
 * The job of @release begins, or what is in progress is its. May postpone task->deadline; tells the
 * policy.
 */
void rq_budget_begin(struct rt_rq *rq, RT_TASK *task, RTIME release);

/* A task that was stopped may go on, with the budget of the next release moment. */
void rq_budget_again(struct rt_rq *rq, RT_TASK *task, RTIME now);

/*
 * May @task, which is ready and accounted for, run now? If not, the queue has changed, and the
 * policy is to be asked again: its deadline is another, or it is throttled or stopped.
 */
bool rq_budget_allows(struct rt_rq *rq, RT_TASK *task, RTIME now);

/* rq->curr has the CPU from now on: when is its budget used up? */
void rq_budget_arm(struct rt_rq *rq, RTIME now);

/* Does its budget hold it up? Else it is only counted. */
static inline bool rq_budget_holds(const RT_TASK *task)
{
	return task->budget && task->budget_action != RT_BUDGET_COUNT;
}

/* Is the watchdog to be started? Queued already, it looks at linux_left when it is due. */
static inline bool rq_must_watch(const struct rt_rq *rq)
{
	return !heap_queued(&rq->watch_timer.node) && rq->watch_ns;
}

/* Linux has just lost the CPU. */
static inline void rq_leave_linux(struct rt_rq *rq, RTIME now)
{
	rq->linux_left = now;
	if (rq_must_watch(rq))
		timerq_add_release(&rq->timers, &rq->watch_timer, now + rq->watch_ns);
}

#endif
