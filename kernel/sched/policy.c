// SPDX-License-Identifier: GPL-2.0
/*
 * Policies: what they call, what is asked of them, what stands in for what they omit; and the
 * built-in one. See core.h and <rt/sched.h>.
 */
#include "sched/rq.h"

#ifndef __KERNEL__
#include <stdio.h>
#endif

/* What policies call. */

void rt_rq_add(struct rt_rq *rq, RT_TASK *task, unsigned long long key)
{
	u64 inherited = READ_ONCE(task->inherited);

	/* A policy that adds a task twice must not break the queue of the others. */
	rt_rq_remove(rq, task);
	task->key = key;
	heap_insert(&rq->ready, &task->ready, key < inherited ? key : inherited);
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

/* What the executive asks. */

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
	rq_account(rq, now);
	if (!rq->curr && task)
		rq_leave_linux(rq, now);
	if (unlikely(rq->events.slot))
		note_switch(rq, task);
	if (task)
		task->begun = 1;
	rq->curr = task;
	rq_set_budget_timer(rq, now);
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
