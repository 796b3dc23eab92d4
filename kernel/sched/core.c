// SPDX-License-Identifier: GPL-2.0-only
/* Tasks and their jobs. See core.h. */
#include "sched/rq.h"

void core_init(struct rt_rq *rq, int cpu, const struct rt_sched_ops *ops,
	       struct heap_slot *ready_slots, struct heap_slot *timer_slots)
{
	*rq = (struct rt_rq) { .cpu = cpu, .policy_ticks = U64_MAX, .stall_ticks = U64_MAX };
	core_use(rq, ops);
	heap_init(&rq->ready, ready_slots, CORE_READY_SLOTS);
	timerq_init(&rq->timers, timer_slots, CORE_TIMER_SLOTS, RT_MAX_TIMERS);
	rq->budget_timer.kind = TIMERQ_BUDGET;
	rq->watch_timer.kind = TIMERQ_WATCH;
	rq->many_ready = ready_slots;
	rq->many_timers = timer_slots;
}

void core_begin_small(struct rt_rq *rq)
{
	heap_init(&rq->ready, rq->few_ready, CORE_FEW_READY_SLOTS);
	timerq_init(&rq->timers, rq->few_timers, CORE_FEW_TIMER_SLOTS, CORE_FEW);
}

bool core_grow(struct rt_rq *rq)
{
	core_assert_locked(rq);
	if (rq->ready.slot == rq->many_ready)
		return false;
	heap_use(&rq->ready, rq->many_ready, CORE_READY_SLOTS);
	heap_use(&rq->timers.heap, rq->many_timers, CORE_TIMER_SLOTS);
	rq->timers.max_users = RT_MAX_TIMERS;
	return true;
}

void core_requeue(struct rt_rq *rq, RT_TASK *task)
{
	core_assert_locked(rq);
	if (!task->queued)
		return;
	rq_return(rq, task, rq_leave(rq, task));
	/* Less urgent than before, it may have to make room for others. */
	rq_reschedule(rq);
}

/* Jobs. */

/* The job is @release's, whether it begins now or is in progress, blocked perhaps. */
static __always_inline void set_job_times(RT_TASK *task, RTIME release, RTIME due)
{
	task->release = release;
	task->due = due;
	task->deadline = due;
	task->next_release = release + task->period;
}

static __always_inline void set_job(struct rt_rq *rq, RT_TASK *task, RTIME release)
{
	set_job_times(task, release, rq_deadline_after(task, release));
	if (unlikely(task->budget))
		rq_budget_begin(rq, task, release);
	else
		rq_tell_release(rq, task);
}

/* What a new job is to the statistics. */
static __always_inline void count_job(RT_TASK *task)
{
	task->releases++;
	/* Of one without a period this is where the job before has ended. No jump, as in max(). */
	task->max_exec = task->job_exec > task->max_exec ? task->job_exec : task->max_exec;
	task->job_exec = 0;
	task->begun = 0;
	task->state = CORE_READY;
}

/* Inline in core_release(), which is on the path of each job. */
static __always_inline void begin_job_here(struct rt_rq *rq, RT_TASK *task, RTIME release)
{
	count_job(task);
	set_job(rq, task, release);
	events_note(&rq->events, EVENT_RELEASE, task->id, release);
}

static noinline void begin_job(struct rt_rq *rq, RT_TASK *task, RTIME release)
{
	begin_job_here(rq, task, release);
}

/* The job is over, or there was none: wait for next_release. */
rt_hot static void await_release(struct rt_rq *rq, RT_TASK *task)
{
	task->state = CORE_WAITING;
	if (!rq_held(task))
		timerq_add_job(&rq->timers, &task->timer, task->next_release);
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

void core_release(struct rt_rq *rq, RT_TASK *task)
{
	core_assert_locked(rq);
	if (task->state == CORE_BLOCKED) {
		core_unblock(rq, task);
		return;
	}
	timerq_remove_release(&rq->timers, &task->timer);
	begin_job_here(rq, task, task->next_release);
	rq_enqueue_rested(rq, task);
}

/*
 * The same in the common case: nobody else is ready, few timers wait, and nobody has to be told.
 * Without a call, so that it saves no registers.
 */
static __always_inline bool release_first(struct rt_rq *rq, RT_TASK *task)
{
	u64 key = task->priority, inherited = READ_ONCE(task->inherited);
	RTIME relative, due;

	/* One jump for as many as can be: what is not taken fills cache lines, too. */
	if (unlikely(rq->ready.count | (u64)task->budget | (uintptr_t)rq->events.slot) ||
	    unlikely(rq->timers.heap.count > 2 || task->state == CORE_BLOCKED || !rq_built_in(rq)))
		return false;
	/* As rq_deadline_after(), where it is not RT_NO_DEADLINE. */
	relative = task->relative_deadline ? task->relative_deadline : task->period;
	due = (RTIME)((u64)task->next_release + (u64)relative);
	if (unlikely(!relative || due < 0))
		return false;
	heap_remove_first(&rq->timers.heap);
	count_job(task);
	set_job_times(task, task->next_release, due);
	task->streak = task->exec;
	task->queued = CORE_QUEUED;
	task->key = key;
	heap_insert_first(&rq->ready, &task->ready, key < inherited ? key : inherited);
	/* Whoever runs is not ready, so it has the CPU no longer. */
	rq_reschedule(rq);
	return true;
}

/* @task's timer, and all releases that are due behind it. */
static noinline struct rt_timer *release_in_full(struct rt_rq *rq, RT_TASK *task, RTIME now)
{
	struct rt_timer *timer;

	do {
		core_release(rq, task);
		timer = timerq_due(&rq->timers, now);
		if (!timer)
			return NULL;
		task = container_of(timer, RT_TASK, timer);
	} while (timer->kind == TIMERQ_RELEASE && !task->pending);
	return timer;
}

rt_path struct rt_timer *core_release_due(struct rt_rq *rq, RTIME now)
{
	core_assert_locked(rq);
	while (timerq_is_due(&rq->timers, now)) {
		struct rt_timer *timer = timerq_first(&rq->timers);
		RT_TASK *task = container_of(timer, RT_TASK, timer);

		if (unlikely(timer->kind != TIMERQ_RELEASE || task->pending))
			return timer;
		/* It comes last: so this saves no registers. */
		if (unlikely(!release_first(rq, task)))
			return release_in_full(rq, task, now);
	}
	return NULL;
}

/* Return: false: it was killed by another CPU while it came here. */
static bool block(struct rt_rq *rq, RT_TASK *task)
{
	core_assert_locked(rq);
	if (task->state != CORE_READY)
		return false;
	rq_dequeue(rq, task);
	task->state = CORE_BLOCKED;
	return true;
}

void core_block(struct rt_rq *rq, RTIME until)
{
	if (block(rq, rq->curr) && until != RT_NO_DEADLINE)
		timerq_add_release(&rq->timers, &rq->curr->timer, until);
}

void core_sleep(struct rt_rq *rq, RTIME until)
{
	if (block(rq, rq->curr))
		timerq_add_job(&rq->timers, &rq->curr->timer, until);
}

void core_unblock(struct rt_rq *rq, RT_TASK *task)
{
	core_assert_locked(rq);
	timerq_remove_release(&rq->timers, &task->timer);
	task->state = CORE_READY;
	task->pending = 0;
	task->throttled = 0;
	if (!rq_held(task))
		rq_enqueue_rested(rq, task);
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

	core_assert_locked(rq);
	error = core_check_deadline(relative);
	if (error)
		return error;
	error = rq->ops->admit(rq, task, task->period, relative);
	if (!error)
		task->relative_deadline = relative;
	return error;
}

int core_set_priority(struct rt_rq *rq, RT_TASK *task, int priority)
{
	int before = task->priority, error;

	core_assert_locked(rq);
	if (priority < 1 || priority > RT_LOWEST_PRIORITY)
		return -EINVAL;
	task->priority = priority;
	error = rq->ops->admit(rq, task, task->period, task->relative_deadline);
	if (error)
		task->priority = before;
	else
		core_requeue(rq, task);
	return error;
}

int core_make_periodic(struct rt_rq *rq, RT_TASK *task, RTIME start, RTIME period, RTIME now)
{
	int error = rq->ops->admit(rq, task, period, task->relative_deadline);
	bool at_once = start <= now;
	bool queued;

	core_assert_locked(rq);
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
		if (at_once && !rq_held(task)) {
			begin_job(rq, task, start);
			rq_enqueue_rested(rq, task);
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
	bool queued = task->queued, arrived = task->sporadic && heap_queued(&task->timer.node);
	RTIME earliest;
	u64 place;

	core_assert_locked(rq);
	if (error)
		return error;
	if (task->state == CORE_WAITING)
		timerq_remove_release(&rq->timers, &task->timer);
	/* A policy that sorts by the period must hear of the change. */
	place = rq_leave(rq, task);
	/* However often this is said: not before the interval is over. */
	earliest = task->releases ? task->release + interval : 0;
	if (!task->sporadic)
		task->token = 0;
	else if (earliest < task->next_release)
		earliest = task->next_release;
	task->period = interval;
	task->sporadic = 1;
	task->next_release = earliest;
	if (task->state == CORE_DORMANT)
		task->state = CORE_WAITING;
	/* An arrival that waits for its release goes on waiting. */
	if (task->state == CORE_WAITING && arrived)
		await_release(rq, task);
	if (queued)
		rq_return(rq, task, place);
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
	if (!rq_held(task))
		rq_enqueue_rested(rq, task);
}

/* One is kept, for the task's next suspension or the end of its job. */
static void keep_wakeup(RT_TASK *task, RTIME now)
{
	if (!task->token)
		task->token_time = now;
	else
		task->skipped += task->sporadic;
	task->token = 1;
}

/* One that finds another waiting for its release is none of its own. */
static void arrive(struct rt_rq *rq, RT_TASK *task, RTIME now)
{
	bool was_suspended = task->suspended;

	task->suspended = 0;
	if (task->state == CORE_WAITING) {
		if (heap_queued(&task->timer.node))
			task->skipped++;
		else
			release_sporadic(rq, task, now, now);
	} else if (was_suspended) {
		if (task->state == CORE_READY)
			rq_enqueue_rested(rq, task);
	} else {
		keep_wakeup(task, now);
	}
}

/*
 * Nobody else wants the CPU, and nobody has to be told that rq->curr, which is ready, begins its
 * next job in the place that it has.
 */
static __always_inline bool alone(const struct rt_rq *rq, const RT_TASK *task)
{
	return rq_built_in(rq) && rq->ready.count == 1 && !(task->sporadic | rq_held(task)) &&
	       !task->budget && !rq->events.slot;
}

rt_hot int core_wait(struct rt_rq *rq, RTIME now)
{
	RT_TASK *task = rq->curr;
	bool late;

	core_assert_locked(rq);
	if (task->state != CORE_READY)
		return 0;	/* killed by another CPU while it came here */
	if (!task->period)
		return -EPERM;
	rq_account(rq, now);
	if (task->job_exec > task->max_exec)
		task->max_exec = task->job_exec;
	if (now > task->due)
		task->misses++;
	if (task->next_release <= now && alone(rq, task)) {
		late = task->next_release < now;
		task->overruns += late;
		begin_job_here(rq, task, task->next_release);
		task->begun = 1;
		return late ? -ETIMEDOUT : 0;
	}
	task->begun = 0;
	events_note(&rq->events, EVENT_COMPLETE, task->id, task->release);
	rq_dequeue(rq, task);
	/* One that has lived on later budgets is not released before they are over. */
	if (task->sporadic && rq_budget_holds(task) &&
	    task->next_release < task->grid + task->period)
		task->next_release = task->grid + task->period;
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
	if (!rq_held(task))
		rq_enqueue(rq, task);
	return late ? -ETIMEDOUT : 0;
}

rt_hot void core_suspend(struct rt_rq *rq, RT_TASK *task, bool self)
{
	core_assert_locked(rq);
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

rt_hot int core_wakeup(struct rt_rq *rq, RT_TASK *task, RTIME now)
{
	core_assert_locked(rq);
	/* One test for both, since this is on the path of each interrupt. */
	if (unlikely(task->stopped | task->sporadic)) {
		if (task->stopped)
			return -EAGAIN;
		arrive(rq, task, now);
		return 0;
	}
	if (!task->suspended && task->state != CORE_DORMANT) {
		keep_wakeup(task, now);
		return 0;
	}
	task->suspended = 0;
	if (task->state == CORE_WAITING) {
		skip_releases(task, now, true);
		if (task->next_release > now) {
			await_release(rq, task);
			return 0;
		}
		begin_job(rq, task, task->next_release);
	} else if (task->period) {
		skip_releases(task, now, false);
	} else if (task->state != CORE_BLOCKED) {
		begin_job_here(rq, task, now);
	}
	if (task->state == CORE_READY)
		rq_enqueue_rested(rq, task);
	return 0;
}

void core_wake_stopped(struct rt_rq *rq, RT_TASK *task, RTIME now, bool by_linux)
{
	core_assert_locked(rq);
	if (!by_linux) {
		keep_wakeup(task, now);
		return;
	}
	rq_budget_again(rq, task, now);
	/* From here on as if it had been suspended. */
	task->stopped = 0;
	task->suspended = 1;
	core_wakeup(rq, task, now);
}

/* Coming and going. */

int core_add(struct rt_rq *rq, RT_TASK *task)
{
	core_assert_locked(rq);
	if (rq->count == RT_MAX_TASKS)
		return -ENOSPC;
	if (rq->count == CORE_FEW)
		core_grow(rq);
	rq->count++;
	task->id = rq->ids++;
	task->cpu = rq->cpu;
	task->state = CORE_DORMANT;
	task->inherited = CORE_NOTHING_INHERITED;
	/* Before any release. */
	task->grid = -2 * RT_PERIOD_MAX_NS;
	memset(task->policy_data, 0, sizeof(task->policy_data));
	task->timer.kind = TIMERQ_RELEASE;
	task->next = rq->tasks;
	rq->tasks = task;
	rq->ops->attach(rq, task);
	return 0;
}

void core_remove(struct rt_rq *rq, RT_TASK *task)
{
	RT_TASK **link;

	core_assert_locked(rq);
	for (link = &rq->tasks; *link != task; link = &(*link)->next)
		;
	*link = task->next;
	rq->count--;
	if (task->state != CORE_DEAD)
		rq->ops->detach(rq, task);
}

void core_kill(struct rt_rq *rq, RT_TASK *task)
{
	core_assert_locked(rq);
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
