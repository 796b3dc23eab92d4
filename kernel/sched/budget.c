// SPDX-License-Identifier: GPL-2.0
/* Budgets, and the watchdog. See core.h. */
#include "sched/rq.h"

void core_budget_timer(struct rt_timer *timer)
{
}

void core_watch_timer(struct rt_timer *timer)
{
}

int core_check_budget(RTIME budget, int action)
{
	return budget < 0 || budget > RT_PERIOD_MAX_NS || action < RT_BUDGET_COUNT ||
	       action > RT_BUDGET_STOP ? -EINVAL : 0;
}

int core_set_budget(RT_TASK *task, RTIME budget, int action)
{
	int error = core_check_budget(budget, action);

	if (error)
		return error;
	task->budget = budget;
	task->budget_action = action;
	return 0;
}

static void stop(struct rt_rq *rq, RT_TASK *task)
{
	task->suspended = 1;
	task->stopped = 1;
	rq_dequeue(rq, task);
	rq->stopped = task;
}

/* Until the next moment of the grid; there the job goes on with a new budget. */
static void throttle(struct rt_rq *rq, RT_TASK *task, RTIME now)
{
	RTIME until = task->next_release;

	if (until <= now)
		until += ((u64)(now - until) / (u64)task->period + 1) * task->period;
	task->throttled = 1;
	core_block(rq, until);
}

void core_budget_due(struct rt_rq *rq, RTIME now)
{
	RT_TASK *task = rq->curr;

	timerq_remove_release(&rq->timers, &rq->budget_timer);
	if (!task || task->state != CORE_READY || task->suspended || !task->budget)
		return;
	rq_account(rq, now);
	if (task->job_exec < task->budget) {
		rq_set_budget_timer(rq, now);
		return;
	}
	task->budget_overruns++;
	if (task->budget_action == RT_BUDGET_COUNT)
		task->spent = 1;
	else if (task->budget_action == RT_BUDGET_THROTTLE && task->period)
		throttle(rq, task, now);
	else
		stop(rq, task);
}

void core_budget_note(struct rt_rq *rq, RTIME now)
{
	RT_TASK *task = rq->curr;

	rq_account(rq, now);
	if (!task->budget || task->spent || task->job_exec < task->budget)
		return;
	task->budget_overruns++;
	task->spent = 1;
}

void core_watch_due(struct rt_rq *rq, RTIME now)
{
	RT_TASK *hog = NULL;

	timerq_remove_release(&rq->timers, &rq->watch_timer);
	if (!rq->curr)
		return;		/* rq_leave_linux() queues it again */
	if (now - rq->linux_left < rq->watch_ns) {
		timerq_add_release(&rq->timers, &rq->watch_timer, rq->linux_left + rq->watch_ns);
		return;
	}
	rq_account(rq, now);
	for (RT_TASK *task = rq->tasks; task; task = task->next)
		if (task->queued && task->window == rq->window &&
		    (!hog || task->window_exec > hog->window_exec))
			hog = task;
	if (hog)
		stop(rq, hog);
	/* Should another take its place, that has a tenth of the time. */
	timerq_add_release(&rq->timers, &rq->watch_timer, now + rq->watch_ns / 10);
}
