/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the scheduler's core share. It is inline, because it is on the path of every
 * job and every switch. Nobody else includes it; the rq's lock is held.
 */
#ifndef _TACTUS_SCHED_RQ_H
#define _TACTUS_SCHED_RQ_H

#include "sched/core.h"

/* In policy.c: from now on, @ops is asked. The tasks are not touched. */
void core_use(struct rt_rq *rq, const struct rt_sched_ops *ops);

/* Ready or not, as the policy is told. */

static inline void rq_enqueue(struct rt_rq *rq, RT_TASK *task)
{
	task->queued = CORE_QUEUED;
	rq->ops->enqueue(rq, task);
	if (!rq->curr || task == rq->curr ||
	    READ_ONCE(task->inherited) != CORE_NOTHING_INHERITED || rq->ops->preempts(rq, task, rq->curr))
		rq->need_resched = true;
}

static inline void rq_dequeue(struct rt_rq *rq, RT_TASK *task)
{
	if (!task->queued)
		return;
	task->queued = CORE_NOT_QUEUED;
	rq->ops->dequeue(rq, task);
	if (task == rq->curr)
		rq->need_resched = true;
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
	if (task->window != rq->window) {
		task->window = rq->window;
		task->window_exec = 0;
	}
	task->window_exec += ran;
}

/* rq->curr has the CPU from now on: its budget counts. */
static inline void rq_set_budget_timer(struct rt_rq *rq, RTIME now)
{
	RT_TASK *task = rq->curr;

	if (unlikely(heap_queued(&rq->budget_timer.node)))
		timerq_remove_release(&rq->timers, &rq->budget_timer);
	if (unlikely(task && task->budget && !task->spent))
		timerq_add_release(&rq->timers, &rq->budget_timer,
				   now + task->budget - task->job_exec);
}

/* Linux has just lost the CPU. */
static inline void rq_leave_linux(struct rt_rq *rq, RTIME now)
{
	rq->linux_left = now;
	rq->window++;
	/* Queued already: it looks at linux_left when it is due. */
	if (rq->watch_ns && !heap_queued(&rq->watch_timer.node))
		timerq_add_release(&rq->timers, &rq->watch_timer, now + rq->watch_ns);
}

#endif
