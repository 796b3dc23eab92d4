// SPDX-License-Identifier: GPL-2.0
/* See core.h. */
#include "sched/core.h"

#ifndef __KERNEL__
#include <stdio.h>
#endif

void core_init(struct rt_rq *rq, int cpu, const struct rt_sched_ops *ops,
	       struct heap_slot *ready_slots, struct heap_slot *timer_slots)
{
	*rq = (struct rt_rq) { .cpu = cpu, .ops = ops };
	heap_init(&rq->ready, ready_slots, CORE_READY_SLOTS);
	timerq_init(&rq->timers, timer_slots, CORE_TIMER_SLOTS, RT_MAX_TIMERS);
	rq->budget_timer.fn = core_budget_timer;
	rq->watch_timer.fn = core_watch_timer;
}

/* What policies call. */

void rt_rq_add(struct rt_rq *rq, RT_TASK *task, unsigned long long key)
{
	/* A policy that adds a task twice must not break the queue of the others. */
	rt_rq_remove(rq, task);
	task->key = key;
	heap_insert(&rq->ready, &task->ready, key < task->inherited ? key : task->inherited);
}

void rt_rq_remove(struct rt_rq *rq, RT_TASK *task)
{
	if (heap_queued(&task->ready))
		heap_remove(&rq->ready, &task->ready);
}

RT_TASK *rt_rq_first(const struct rt_rq *rq)
{
	struct rt_node *node = heap_first(&rq->ready);

	return node ? container_of(node, RT_TASK, ready) : NULL;
}

int rt_rq_cpu(const struct rt_rq *rq)
{
	return rq->cpu;
}

/* Ready or not, as the policy is told. */

static void enqueue(struct rt_rq *rq, RT_TASK *task)
{
	task->queued = 1;
	rq->ops->enqueue(rq, task);
	if (!rq->curr || task == rq->curr || task->inherited != CORE_NOTHING_INHERITED ||
	    rq->ops->preempts(rq, task, rq->curr))
		rq->need_resched = true;
}

static void dequeue(struct rt_rq *rq, RT_TASK *task)
{
	if (!task->queued)
		return;
	task->queued = 0;
	rq->ops->dequeue(rq, task);
	if (task == rq->curr)
		rq->need_resched = true;
}

void core_requeue(struct rt_rq *rq, RT_TASK *task)
{
	if (!task->queued)
		return;
	dequeue(rq, task);
	enqueue(rq, task);
	/* Less urgent than before, it may have to make room for others. */
	rq->need_resched = true;
}

/* CPU time. */

/* rq->curr has had the CPU since rq->since. */
static void account(struct rt_rq *rq, RTIME now)
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
	enqueue(rq, task);
}

void core_block(struct rt_rq *rq, RTIME until)
{
	RT_TASK *task = rq->curr;

	if (task->state != CORE_READY)
		return;		/* killed by another CPU while it came here */
	dequeue(rq, task);
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
		enqueue(rq, task);
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
			enqueue(rq, task);
		} else {
			await_release(rq, task);
		}
		return 0;
	}

	/* A job is in progress; a policy that sorts by the period must hear of the change. */
	queued = task->queued;
	dequeue(rq, task);
	if (at_once)
		set_job(rq, task, start);
	if (queued)
		enqueue(rq, task);
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
	dequeue(rq, task);
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
		enqueue(rq, task);
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
		enqueue(rq, task);
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
			enqueue(rq, task);
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
	account(rq, now);
	if (task->job_exec > task->max_exec)
		task->max_exec = task->job_exec;
	if (now > task->deadline)
		task->misses++;
	task->begun = 0;
	events_note(&rq->events, EVENT_COMPLETE, task->id);
	dequeue(rq, task);
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
		enqueue(rq, task);
	return late ? -ETIMEDOUT : 0;
}

void core_suspend(struct rt_rq *rq, RT_TASK *task, bool self)
{
	if (self && task->token && !task->suspended) {
		task->token = 0;
		if (!task->period) {
			dequeue(rq, task);
			begin_job(rq, task, task->token_time);
			enqueue(rq, task);
		}
		return;
	}
	task->suspended = 1;
	dequeue(rq, task);
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
		enqueue(rq, task);
}

/* Budgets, and the watchdog. */

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
	dequeue(rq, task);
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

static inline void set_budget_timer(struct rt_rq *rq, RTIME now)
{
	RT_TASK *task = rq->curr;

	if (unlikely(heap_queued(&rq->budget_timer.node)))
		timerq_remove_release(&rq->timers, &rq->budget_timer);
	if (unlikely(task && task->budget && !task->spent))
		timerq_add_release(&rq->timers, &rq->budget_timer,
				   now + task->budget - task->job_exec);
}

void core_budget_due(struct rt_rq *rq, RTIME now)
{
	RT_TASK *task = rq->curr;

	timerq_remove_release(&rq->timers, &rq->budget_timer);
	if (!task || task->state != CORE_READY || task->suspended || !task->budget)
		return;
	account(rq, now);
	if (task->job_exec < task->budget) {
		set_budget_timer(rq, now);
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

	account(rq, now);
	if (!task->budget || task->spent || task->job_exec < task->budget)
		return;
	task->budget_overruns++;
	task->spent = 1;
}

/* Linux has just lost the CPU. */
static void leave_linux(struct rt_rq *rq, RTIME now)
{
	rq->linux_left = now;
	rq->window++;
	/* Queued already: it looks at linux_left when it is due. */
	if (rq->watch_ns && !heap_queued(&rq->watch_timer.node))
		timerq_add_release(&rq->timers, &rq->watch_timer, now + rq->watch_ns);
}

void core_watch_due(struct rt_rq *rq, RTIME now)
{
	RT_TASK *hog = NULL;

	timerq_remove_release(&rq->timers, &rq->watch_timer);
	if (!rq->curr)
		return;		/* leave_linux() queues it again */
	if (now - rq->linux_left < rq->watch_ns) {
		timerq_add_release(&rq->timers, &rq->watch_timer, rq->linux_left + rq->watch_ns);
		return;
	}
	account(rq, now);
	for (RT_TASK *task = rq->tasks; task; task = task->next)
		if (task->queued && task->window == rq->window &&
		    (!hog || task->window_exec > hog->window_exec))
			hog = task;
	if (hog)
		stop(rq, hog);
	/* Should another take its place, that has a tenth of the time. */
	timerq_add_release(&rq->timers, &rq->watch_timer, now + rq->watch_ns / 10);
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
	dequeue(rq, task);
	timerq_remove_release(&rq->timers, &task->timer);
	if (task->state != CORE_DEAD)
		rq->ops->detach(rq, task);
	task->state = CORE_DEAD;
}

/* Policies. */

static void eject(struct rt_rq *rq, const char *reason)
{
	int used = rq->ops->dump(rq, rq->dump, CORE_DUMP_BYTES - 1);

	if (used < 0 || used >= CORE_DUMP_BYTES)
		used = 0;
	rq->dump[used] = '\0';
	rq->eject_reason = reason;
	rq->ejected = rq->ops;
	core_swap(rq, &core_fixed_priority);
}

void core_too_slow(struct rt_rq *rq)
{
	if (rq->ops != &core_fixed_priority)
		eject(rq, "took too long to pick");
}

/* @task gets the CPU, which rq->curr has had. */
static void note_switch(struct rt_rq *rq, RT_TASK *task)
{
	RT_TASK *prev = rq->curr;

	if (prev && prev != task && prev->begun)
		events_note(&rq->events, prev->queued ? EVENT_PREEMPT : EVENT_BLOCK, prev->id);
	if (task && (task != prev || !task->begun))
		events_note(&rq->events, task->begun ? EVENT_RESUME : EVENT_START, task->id);
}

RT_TASK *core_pick(struct rt_rq *rq, RTIME now)
{
	RT_TASK *task = rq->ops->pick(rq);

	if (unlikely(task && (!task->queued || task->cpu != rq->cpu))) {
		eject(rq, "picked a task that cannot run");
		task = rq->ops->pick(rq);
	}
	rq->need_resched = false;
	account(rq, now);
	if (!rq->curr && task)
		leave_linux(rq, now);
	if (unlikely(rq->events.slot))
		note_switch(rq, task);
	if (task)
		task->begun = 1;
	rq->curr = task;
	set_budget_timer(rq, now);
	return task;
}

void core_swap(struct rt_rq *rq, const struct rt_sched_ops *ops)
{
	RT_TASK *order = NULL, **end = &order, *task;

	/* First those in the common ready queue, in its order, then any the policy kept itself. */
	while ((task = rt_rq_first(rq))) {
		rt_rq_remove(rq, task);
		if (!task->queued)	/* a broken policy's */
			continue;
		task->swap_next = NULL;
		task->queued = 2;
		*end = task;
		end = &task->swap_next;
	}
	for (task = rq->tasks; task; task = task->next) {
		if (task->queued == 1) {
			task->swap_next = NULL;
			*end = task;
			end = &task->swap_next;
		}
		if (task->state != CORE_DEAD)
			rq->ops->detach(rq, task);
		memset(task->policy_data, 0, sizeof(task->policy_data));
	}

	rq->ops = ops;
	for (task = rq->tasks; task; task = task->next)
		if (task->state != CORE_DEAD)
			ops->attach(rq, task);
	for (task = order; task; task = task->swap_next) {
		task->queued = 1;
		ops->enqueue(rq, task);
	}
	/* Those that wait for others want to know their keys, too. */
	for (task = rq->tasks; task; task = task->next)
		if (task->state == CORE_BLOCKED) {
			ops->enqueue(rq, task);
			ops->dequeue(rq, task);
		}
	rq->need_resched = true;
}

const RT_TASK *core_admits(struct rt_rq *rq, const struct rt_sched_ops *ops)
{
	for (const RT_TASK *task = rq->tasks; task; task = task->next)
		if (task->state != CORE_DEAD &&
		    ops->admit(rq, task, task->period, task->relative_deadline))
			return task;
	return NULL;
}

/* What stands in for an operation that a policy omits. */

static int no_init(void)
{
	return 0;
}

static void no_exit(void)
{
}

static int admit_all(struct rt_rq *rq, const RT_TASK *task, RTIME period, RTIME deadline)
{
	return 0;
}

static void ignore(struct rt_rq *rq, RT_TASK *task)
{
}

static bool might_preempt(struct rt_rq *rq, const RT_TASK *task, const RT_TASK *curr)
{
	return true;
}

static RT_TASK *pick_first(struct rt_rq *rq)
{
	return rt_rq_first(rq);
}

static int dump_ready(struct rt_rq *rq, char *buf, int size)
{
	int used = 0;

	for (const RT_TASK *task = rq->tasks; task; task = task->next)
		if (task->queued && used < size)
			used += snprintf(buf + used, size - used, "%s priority %d period %lld\n",
					 task->name, task->priority, task->period);
	return used < size ? used : size;
}

static bool good_name(const char *name)
{
	unsigned int length = 0;

	for (; name && *name; name++) {
		char c = *name;

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '_') || ++length >= RT_TASK_NAME_BYTES)
			return false;
	}
	return length;
}

int core_complete_ops(struct rt_sched_ops *full, const struct rt_sched_ops *ops)
{
	if (!ops || !good_name(ops->name) || !ops->enqueue || !ops->dequeue != !ops->pick ||
	    (ops->analysis == RT_ANALYSIS_FIXED && !ops->rank))
		return -EINVAL;
	*full = *ops;
	full->init = ops->init ?: no_init;
	full->exit = ops->exit ?: no_exit;
	full->admit = ops->admit ?: admit_all;
	full->attach = ops->attach ?: ignore;
	full->detach = ops->detach ?: ignore;
	full->release = ops->release ?: ignore;
	full->dequeue = ops->dequeue ?: rt_rq_remove;
	full->pick = ops->pick ?: pick_first;
	full->preempts = ops->preempts ?: might_preempt;
	full->dump = ops->dump ?: dump_ready;
	return 0;
}

/* The built-in policy: by priority; equal ones first come, first served. */

static void fixed_priority_enqueue(struct rt_rq *rq, RT_TASK *task)
{
	rt_rq_add(rq, task, task->priority);
}

static unsigned long long fixed_priority_rank(const RT_TASK *task, RTIME period, RTIME deadline)
{
	return task->priority;
}

static bool fixed_priority_preempts(struct rt_rq *rq, const RT_TASK *task, const RT_TASK *curr)
{
	return task->priority < curr->priority;
}

const struct rt_sched_ops core_fixed_priority = {
	.name = "fixed_priority",
	.init = no_init,
	.exit = no_exit,
	.admit = admit_all,
	.analysis = RT_ANALYSIS_FIXED,
	.rank = fixed_priority_rank,
	.attach = ignore,
	.detach = ignore,
	.release = ignore,
	.enqueue = fixed_priority_enqueue,
	.dequeue = rt_rq_remove,
	.pick = pick_first,
	.preempts = fixed_priority_preempts,
	.dump = dump_ready,
};

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
