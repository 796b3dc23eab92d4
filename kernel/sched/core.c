// SPDX-License-Identifier: GPL-2.0
/* Tasks and their jobs. See core.h. */
#include "sched/rq.h"

void core_init(struct rt_rq *rq, int cpu, const struct rt_sched_ops *ops,
	       struct heap_slot *ready_slots, struct heap_slot *timer_slots)
{
	*rq = (struct rt_rq) { .cpu = cpu };
	core_use(rq, ops);
	heap_init(&rq->ready, ready_slots, CORE_READY_SLOTS);
	timerq_init(&rq->timers, timer_slots, CORE_TIMER_SLOTS, RT_MAX_TIMERS);
	rq->budget_timer.fn = core_budget_timer;
	rq->watch_timer.fn = core_watch_timer;
}

void core_requeue(struct rt_rq *rq, RT_TASK *task)
{
	if (!task->queued)
		return;
	rq_dequeue(rq, task);
	rq_enqueue(rq, task);
	/* Less urgent than before, it may have to make room for others. */
	rq->need_resched = true;
}

/* Jobs. */

static RTIME deadline_after(const RT_TASK *task, RTIME release)
{
	RTIME relative = task->relative_deadline ? task->relative_deadline : task->period;

	if (!relative || release > RT_NO_DEADLINE - relative)
		return RT_NO_DEADLINE;
	return release + relative;
}

/* The job is @release's, whether it begins now or is in progress, blocked perhaps. */
static void set_job(struct rt_rq *rq, RT_TASK *task, RTIME release)
{
	task->release = release;
	task->deadline = deadline_after(task, release);
	task->next_release = release + task->period;
	rq->ops->release(rq, task);
}

static void begin_job(struct rt_rq *rq, RT_TASK *task, RTIME release)
{
	task->releases++;
	task->job_exec = 0;
	task->spent = 0;
	task->begun = 0;
	task->state = CORE_READY;
	set_job(rq, task, release);
	events_note(&rq->events, EVENT_RELEASE, task->id);
}

/* The job is over, or there was none: wait for next_release. */
static void await_release(struct rt_rq *rq, RT_TASK *task)
{
	task->state = CORE_WAITING;
	if (!task->suspended)
		timerq_add_release(&rq->timers, &task->timer, task->next_release);
}

/*
 * Skip release moments up to @now, all or all but the last.
 * Divides, so it is for rare events only; rt_task_wait() goes period by period.
 */
static void skip_releases(RT_TASK *task, RTIME now, bool keep_last)
{
	u64 passed;

	if (task->next_release > now)
		return;
	passed = (u64)(now - task->next_release) / (u64)task->period + !keep_last;
	task->next_release += passed * task->period;
	task->skipped += passed;
}

void core_release_timer(struct rt_timer *timer)
{
}

void core_release(struct rt_rq *rq, RT_TASK *task)
{
	if (task->state == CORE_BLOCKED) {
		core_unblock(rq, task);
		return;
	}
	timerq_remove_release(&rq->timers, &task->timer);
	begin_job(rq, task, task->next_release);
	rq_enqueue(rq, task);
}

void core_block(struct rt_rq *rq, RTIME until)
{
	RT_TASK *task = rq->curr;

	if (task->state != CORE_READY)
		return;		/* killed by another CPU while it came here */
	rq_dequeue(rq, task);
	task->state = CORE_BLOCKED;
	if (until != RT_NO_DEADLINE)
		timerq_add_release(&rq->timers, &task->timer, until);
}

void core_unblock(struct rt_rq *rq, RT_TASK *task)
{
	timerq_remove_release(&rq->timers, &task->timer);
	task->state = CORE_READY;
	task->pending = 0;
	if (task->throttled) {
		task->throttled = 0;
		task->job_exec = 0;
	}
	if (!task->suspended)
		rq_enqueue(rq, task);
}

int core_check_periodic(RTIME start, RTIME period)
{
	if (period < RT_PERIOD_MIN_NS || period > RT_PERIOD_MAX_NS)
		return -EINVAL;
	if (start < 0 || start > RTIME_MAX - period)
		return -EINVAL;
	return 0;
}

int core_check_deadline(RTIME relative)
{
	return relative < 0 || relative > RT_PERIOD_MAX_NS ? -EINVAL : 0;
}

int core_set_deadline(struct rt_rq *rq, RT_TASK *task, RTIME relative)
{
	int error;

	error = core_check_deadline(relative);
	if (error)
		return error;
	error = rq->ops->admit(rq, task, task->period, relative);
	if (!error)
		task->relative_deadline = relative;
	return error;
}

int core_make_periodic(struct rt_rq *rq, RT_TASK *task, RTIME start, RTIME period, RTIME now)
{
	int error = rq->ops->admit(rq, task, period, task->relative_deadline);
	bool at_once = start <= now;
	bool queued;

	if (error)
		return error;
	if (task->state == CORE_WAITING)
		timerq_remove_release(&rq->timers, &task->timer);
	if (at_once)
		start += (u64)(now - start) / (u64)period * period;
	task->period = period;
	task->sporadic = 0;
	task->next_release = start;

	if (task->state != CORE_READY && task->state != CORE_BLOCKED) {
		if (at_once && !task->suspended) {
			begin_job(rq, task, start);
			rq_enqueue(rq, task);
		} else {
			await_release(rq, task);
		}
		return 0;
	}

	/* A job is in progress; a policy that sorts by the period must hear of the change. */
	queued = task->queued;
	rq_dequeue(rq, task);
	if (at_once)
		set_job(rq, task, start);
	if (queued)
		rq_enqueue(rq, task);
	return 0;
}

int core_check_sporadic(RTIME interval)
{
	return interval < RT_PERIOD_MIN_NS || interval > RT_PERIOD_MAX_NS ? -EINVAL : 0;
}

int core_make_sporadic(struct rt_rq *rq, RT_TASK *task, RTIME interval)
{
	int error = rq->ops->admit(rq, task, interval, task->relative_deadline);
	bool queued = task->queued;

	if (error)
		return error;
	if (task->state == CORE_WAITING)
		timerq_remove_release(&rq->timers, &task->timer);
	/* A policy that sorts by the period must hear of the change. */
	rq_dequeue(rq, task);
	task->period = interval;
	task->sporadic = 1;
	task->token = 0;
	if (task->state == CORE_READY || task->state == CORE_BLOCKED) {
		task->next_release = task->release + interval;
	} else {
		task->state = CORE_WAITING;
		task->next_release = 0;
	}
	if (queued)
		rq_enqueue(rq, task);
	return 0;
}

/*
 * A sporadic task, which waits, is to be released because of an arrival at @arrival: not before
 * next_release, which keeps the interval.
 */
static void release_sporadic(struct rt_rq *rq, RT_TASK *task, RTIME arrival, RTIME now)
{
	if (task->next_release < arrival)
		task->next_release = arrival;
	if (task->next_release > now) {
		await_release(rq, task);
		return;
	}
	begin_job(rq, task, task->next_release);
	if (!task->suspended)
		rq_enqueue(rq, task);
}

/* One that finds another waiting for its release is none of its own. */
static void arrive(struct rt_rq *rq, RT_TASK *task, RTIME now)
{
	bool was_suspended = task->suspended;

	task->suspended = 0;
	task->stopped = 0;
	if (task->state == CORE_WAITING) {
		if (heap_queued(&task->timer.node))
			task->skipped++;
		else
			release_sporadic(rq, task, now, now);
	} else if (was_suspended) {
		if (task->state == CORE_READY)
			rq_enqueue(rq, task);
	} else if (task->token) {
		task->skipped++;
	} else {
		task->token = 1;
		task->token_time = now;
	}
}

int core_wait(struct rt_rq *rq, RTIME now)
{
	RT_TASK *task = rq->curr;
	bool late;

	if (task->state != CORE_READY)
		return 0;	/* killed by another CPU while it came here */
	if (!task->period)
		return -EPERM;
	rq_account(rq, now);
	if (task->job_exec > task->max_exec)
		task->max_exec = task->job_exec;
	if (now > task->deadline)
		task->misses++;
	task->begun = 0;
	events_note(&rq->events, EVENT_COMPLETE, task->id);
	rq_dequeue(rq, task);
	if (task->sporadic && !task->token) {
		task->state = CORE_WAITING;	/* for an arrival */
		return 0;
	}
	if (task->sporadic) {
		task->token = 0;
		if (task->next_release < task->token_time)
			task->next_release = task->token_time;
	}
	if (task->next_release > now) {
		await_release(rq, task);
		return 0;
	}
	late = task->next_release < now;
	task->overruns += late;
	begin_job(rq, task, task->next_release);
	if (!task->suspended)
		rq_enqueue(rq, task);
	return late ? -ETIMEDOUT : 0;
}

void core_suspend(struct rt_rq *rq, RT_TASK *task, bool self)
{
	if (self && task->token && !task->suspended) {
		task->token = 0;
		if (!task->period) {
			rq_dequeue(rq, task);
			begin_job(rq, task, task->token_time);
			rq_enqueue(rq, task);
		}
		return;
	}
	task->suspended = 1;
	rq_dequeue(rq, task);
	if (task->state == CORE_WAITING)
		timerq_remove_release(&rq->timers, &task->timer);
}

void core_wakeup(struct rt_rq *rq, RT_TASK *task, RTIME now)
{
	if (task->sporadic) {
		arrive(rq, task, now);
		return;
	}
	if (!task->suspended && task->state != CORE_DORMANT) {
		if (!task->token)
			task->token_time = now;
		task->token = 1;
		return;
	}
	task->suspended = 0;
	task->stopped = 0;
	if (task->state == CORE_WAITING) {
		skip_releases(task, now, true);
		if (task->next_release > now) {
			await_release(rq, task);
			return;
		}
		begin_job(rq, task, task->next_release);
	} else if (task->period) {
		skip_releases(task, now, false);
	} else if (task->state != CORE_BLOCKED) {
		begin_job(rq, task, now);
	}
	if (task->state == CORE_READY)
		rq_enqueue(rq, task);
}

/* Coming and going. */

int core_add(struct rt_rq *rq, RT_TASK *task)
{
	if (rq->count == RT_MAX_TASKS)
		return -ENOSPC;
	rq->count++;
	task->id = rq->ids++;
	task->cpu = rq->cpu;
	task->state = CORE_DORMANT;
	task->inherited = CORE_NOTHING_INHERITED;
	task->timer.fn = core_release_timer;
	task->next = rq->tasks;
	rq->tasks = task;
	rq->ops->attach(rq, task);
	return 0;
}

void core_remove(struct rt_rq *rq, RT_TASK *task)
{
	RT_TASK **link;

	for (link = &rq->tasks; *link != task; link = &(*link)->next)
		;
	*link = task->next;
	rq->count--;
	if (rq->stopped == task)
		rq->stopped = NULL;
	if (task->state != CORE_DEAD)
		rq->ops->detach(rq, task);
}

void core_kill(struct rt_rq *rq, RT_TASK *task)
{
	rq_dequeue(rq, task);
	timerq_remove_release(&rq->timers, &task->timer);
	if (task->state != CORE_DEAD)
		rq->ops->detach(rq, task);
	task->state = CORE_DEAD;
}

const char *core_state_name(const struct rt_rq *rq, const RT_TASK *task)
{
	if (task->state == CORE_DEAD)
		return task->faulted ? "faulted" : "dead";
	if (task->stopped)
		return "stopped";
	if (task->suspended)
		return "suspended";
	if (task->throttled)
		return "throttled";
	if (task->state == CORE_DORMANT)
		return "dormant";
	if (task->state == CORE_WAITING)
		return "waiting";
	if (task->state == CORE_BLOCKED)
		return "blocked";
	return rq->curr == task ? "running" : "ready";
}
