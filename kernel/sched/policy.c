// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies: what they call, what is asked of them, what stands in for what they omit; and the
 * built-in one. See core.h and <rt/sched.h>.
 */
#include "sched/rq.h"

#ifndef __KERNEL__
#include <stdio.h>
#endif

/*
 * The clock of supervision: the TSC itself, for it is read at each release. Tests have their own.
 */
#ifndef CORE_TICKS
#ifdef __KERNEL__
#include <asm/tsc.h>
#define CORE_TICKS() rdtsc()
#else
#define CORE_TICKS() 0ULL
#endif
#endif

/* What policies call. */

void rt_rq_add(struct rt_rq *rq, RT_TASK *task, unsigned long long key)
{
	core_assert_locked(rq);
	rq_add(rq, task, key);
}

void rt_rq_remove(struct rt_rq *rq, RT_TASK *task)
{
	core_assert_locked(rq);
	rq_remove(rq, task);
}

RT_TASK *rt_rq_first(const struct rt_rq *rq)
{
	core_assert_locked(rq);
	return rq_first(rq);
}

int rt_rq_cpu(const struct rt_rq *rq)
{
	return rq->cpu;
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

/*
 * Supervision: what stands between the executive and any policy but the built-in one. It times each
 * operation that the policy has, and compares what @pick says with what the policy was told. It
 * only notes what it finds: a policy is thrown out in core_pick(), where no task is in between two
 * states.
 */

static const char *const slow_words[] = {
	[CORE_OP_ADMIT] = "took too long to admit",
	[CORE_OP_ATTACH] = "took too long to attach",
	[CORE_OP_DETACH] = "took too long to detach",
	[CORE_OP_RELEASE] = "took too long to release",
	[CORE_OP_ENQUEUE] = "took too long to enqueue",
	[CORE_OP_DEQUEUE] = "took too long to dequeue",
	[CORE_OP_PICK] = "took too long to pick",
	[CORE_OP_PREEMPTS] = "took too long to say who pre-empts",
};

static void condemn(struct rt_rq *rq, const char *why)
{
	if (!rq->verdict)
		rq->verdict = why;
	rq_reschedule(rq);
}

/* In a row: a single one may be the work of firmware, or of a hypervisor. */
static void op_was_slow(struct rt_rq *rq, enum core_policy_op op)
{
	if (++rq->slow[op] == CORE_SLOW_OPS) {
		rq->slow[op] = 0;
		condemn(rq, slow_words[op]);
	}
}

/* The lock is held from @began to @ended: both are stamps of one CPU. */
static inline void op_ends(struct rt_rq *rq, enum core_policy_op op, u64 began, u64 ended)
{
	if (likely(ended - began <= rq->policy_ticks))
		rq->slow[op] = 0;
	else
		op_was_slow(rq, op);
}

#define SUPERVISED(name, which)						\
static void supervised_##name(struct rt_rq *rq, RT_TASK *task)		\
{									\
	u64 began = CORE_TICKS();					\
									\
	rq->policy->name(rq, task);					\
	op_ends(rq, which, began, CORE_TICKS());			\
}

SUPERVISED(attach, CORE_OP_ATTACH)
SUPERVISED(detach, CORE_OP_DETACH)
SUPERVISED(release, CORE_OP_RELEASE)

static int supervised_admit(struct rt_rq *rq, const RT_TASK *task, RTIME period, RTIME deadline)
{
	u64 began = CORE_TICKS();
	int err = rq->policy->admit(rq, task, period, deadline);

	op_ends(rq, CORE_OP_ADMIT, began, CORE_TICKS());
	return err;
}

static void supervised_enqueue(struct rt_rq *rq, RT_TASK *task)
{
	u64 began = CORE_TICKS();

	rq->nr_ready++;
	rq->policy->enqueue(rq, task);
	rq->enqueued = CORE_TICKS();
	op_ends(rq, CORE_OP_ENQUEUE, began, rq->enqueued);
}

static void supervised_dequeue(struct rt_rq *rq, RT_TASK *task)
{
	u64 began = CORE_TICKS();

	rq->nr_ready--;
	rq->policy->dequeue(rq, task);
	op_ends(rq, CORE_OP_DEQUEUE, began, CORE_TICKS());
}

/* It comes straight after enqueue (rq_enqueue()), so it begins where that has ended. */
static bool supervised_preempts(struct rt_rq *rq, const RT_TASK *task, const RT_TASK *curr)
{
	bool preempts = rq->policy->preempts(rq, task, curr);

	op_ends(rq, CORE_OP_PREEMPTS, rq->enqueued, CORE_TICKS());
	return preempts;
}

/* Is there a task that was ready at the last look already, and has not been picked since? */
static void look_for_overlooked(struct rt_rq *rq, const RT_TASK *picked, u64 now)
{
	rq->looked = now;
	for (RT_TASK *task = rq->tasks; task; task = task->next) {
		if (task == picked || !task->queued)
			continue;
		if (task->queued == CORE_OVERLOOKED)
			condemn(rq, "kept a ready task waiting for too long");
		task->queued = CORE_OVERLOOKED;
	}
}

static inline void check_picked(struct rt_rq *rq, RT_TASK *task, u64 now)
{
	if (unlikely(task && (!task->queued || task->cpu != rq->cpu)))
		condemn(rq, "picked a task that cannot run");
	else if (task)
		task->queued = CORE_QUEUED;
	else if (unlikely(rq->nr_ready))
		condemn(rq, "picked none though a task is ready");
	if (unlikely(now - rq->looked >= rq->stall_ticks))
		look_for_overlooked(rq, task, now);
}

static RT_TASK *supervised_pick(struct rt_rq *rq)
{
	u64 began = CORE_TICKS(), ended;
	RT_TASK *task = rq->policy->pick(rq);

	ended = CORE_TICKS();
	op_ends(rq, CORE_OP_PICK, began, ended);
	check_picked(rq, task, ended);
	return task;
}

/* For policies without dequeue and pick: what stands in for those is never slow. */

static void counted_remove(struct rt_rq *rq, RT_TASK *task)
{
	rq->nr_ready--;
	rt_rq_remove(rq, task);
}

static RT_TASK *checked_first(struct rt_rq *rq)
{
	RT_TASK *task = rt_rq_first(rq);

	check_picked(rq, task, CORE_TICKS());
	return task;
}

void core_use(struct rt_rq *rq, const struct rt_sched_ops *ops)
{
	rq->policy = ops;
	rq->built_in = ops == &core_fixed_priority;
	rq->ops = rq->built_in ? ops : &rq->supervised;
	rq->supervised = (struct rt_sched_ops) {
		.admit = ops->admit == admit_all ? admit_all : supervised_admit,
		.attach = ops->attach == ignore ? ignore : supervised_attach,
		.detach = ops->detach == ignore ? ignore : supervised_detach,
		.release = ops->release == ignore ? ignore : supervised_release,
		.enqueue = supervised_enqueue,
		.dequeue = ops->dequeue == rt_rq_remove ? counted_remove : supervised_dequeue,
		.pick = ops->pick == pick_first ? checked_first : supervised_pick,
		.preempts = ops->preempts == might_preempt ? might_preempt : supervised_preempts,
	};
	rq->nr_ready = 0;
	rq->verdict = NULL;
	memset(rq->slow, 0, sizeof(rq->slow));
}

/* From one policy to the next. */

/* @task, which is ready, leaves the policy and joins the end of the list that @end points into. */
static RT_TASK **move(struct rt_rq *rq, RT_TASK *task, bool told, RT_TASK **end)
{
	if (told)
		rq->ops->dequeue(rq, task);
	rt_rq_remove(rq, task);		/* what a broken policy has left there */
	task->queued = CORE_MOVING;
	task->swap_next = NULL;
	*end = task;
	return &task->swap_next;
}

/*
 * All that are ready, linked by swap_next: in the policy's order, if it is to be trusted with that;
 * and what it does not say, in that of the common ready queue.
 */
static RT_TASK *take_ready(struct rt_rq *rq, bool told)
{
	RT_TASK *first = NULL, **end = &first, *task;

	while (told && (task = rq->policy->pick(rq))) {
		if (!task->queued || task->queued == CORE_MOVING || task->cpu != rq->cpu)
			break;
		end = move(rq, task, told, end);
	}
	while ((task = rt_rq_first(rq))) {
		if (task->queued && task->queued != CORE_MOVING)
			end = move(rq, task, told, end);
		else
			rt_rq_remove(rq, task);
	}
	for (task = rq->tasks; task; task = task->next)
		if (task->queued && task->queued != CORE_MOVING)
			end = move(rq, task, told, end);
	return first;
}

/* @told: the policy there was hears of it; one that is thrown out is not called again */
static void hand_over_to(struct rt_rq *rq, const struct rt_sched_ops *ops, bool told)
{
	RT_TASK *ready = take_ready(rq, told), *task;

	told = told && rq->policy->detach != ignore;
	for (task = rq->tasks; task; task = task->next) {
		if (told && task->state != CORE_DEAD)
			rq->ops->detach(rq, task);
		memset(task->policy_data, 0, sizeof(task->policy_data));
		/* A policy with a queue of its own knows no keys: to it all are equal. */
		task->key = 0;
		/* A key of the policy before. Only refresh_waits() can say what it is now. */
		if (READ_ONCE(task->inherited) != CORE_NOTHING_INHERITED)
			WRITE_ONCE(task->inherited, 0);
	}
	core_use(rq, ops);
	if (ops->attach != ignore)
		for (task = rq->tasks; task; task = task->next)
			if (task->state != CORE_DEAD)
				rq->ops->attach(rq, task);
	for (task = ready; task; task = task->swap_next) {
		task->queued = CORE_QUEUED;
		rq->ops->enqueue(rq, task);
	}
	rq_reschedule(rq);
}

/*
 * Note that the policy was thrown out, why, and what it says of itself; the executive says that in
 * place of one that is slow.
 */
static void note_ejection(struct rt_rq *rq)
{
	int (*dump)(struct rt_rq *rq, char *buf, int size) = rq->policy->dump;
	u64 began = CORE_TICKS();
	int used;

	for (int op = 0; op < CORE_POLICY_OPS; op++)
		if (rq->verdict == slow_words[op])
			dump = dump_ready;
	used = dump(rq, rq->dump, CORE_DUMP_BYTES - 1);
	rq->dump_ticks = CORE_TICKS() - began;
	if (used < 0 || used >= CORE_DUMP_BYTES)
		used = 0;
	rq->dump[used] = '\0';
	rq->eject_reason = rq->verdict;
	rq->ejected = rq->policy;
}

void core_swap(struct rt_rq *rq, const struct rt_sched_ops *ops)
{
	bool condemned = rq->verdict;

	core_assert_locked(rq);
	if (condemned)
		note_ejection(rq);
	hand_over_to(rq, ops, !condemned);
}

RT_TASK *core_rekey(struct rt_rq *rq, RT_TASK *task, unsigned int count)
{
	core_assert_locked(rq);
	for (; task && count; task = task->next, count--)
		if (task->state == CORE_BLOCKED) {
			rq->ops->enqueue(rq, task);
			rq->ops->dequeue(rq, task);
		}
	return task;
}

/* @task gets the CPU, which rq->curr has had. Of a ring that is on. */
static __always_inline void note_switch(struct rt_rq *rq, RT_TASK *task, RTIME now)
{
	RT_TASK *prev = rq->curr;

	if (unlikely(!events_go_on(&rq->events)))
		return;
	if (prev && prev != task && prev->begun)
		events_write(&rq->events, prev->queued ? EVENT_PREEMPT : EVENT_BLOCK, prev->id, 0,
			     now);
	if (!task || (task == prev && task->begun))
		return;
	if (task->begun) {
		events_write(&rq->events, EVENT_RESUME, task->id, 0, now);
		return;
	}
	/* With gravity it may be early, and wait for its release. */
	now = max(now, task->release);
	events_write(&rq->events, EVENT_START, task->id, task->release, now);
	events_judge(&rq->events, task->id, task->release, now);
}

static noinline RT_TASK *eject_and_pick(struct rt_rq *rq)
{
	core_swap(rq, &core_fixed_priority);
	return rq->ops->pick(rq);
}

static inline RT_TASK *checked_pick(struct rt_rq *rq)
{
	RT_TASK *task = rq->ops->pick(rq);

	return likely(!rq->verdict) ? task : eject_and_pick(rq);
}

/* @task has a budget. Ends: each time its deadline is postponed for good, or it is not ready. */
static noinline RT_TASK *pick_by_budget(struct rt_rq *rq, RT_TASK *task, RTIME now)
{
	while (task && rq_budget_holds(task) && !rq_budget_allows(rq, task, now))
		task = checked_pick(rq);
	return task;
}

/* Budgets: of the task that is running, or of the one that is to run. */
static noinline RT_TASK *pick_among_budgets(struct rt_rq *rq, RT_TASK *task, RTIME now)
{
	if (task && task->budget)
		task = pick_by_budget(rq, task, now);
	timerq_remove_release(&rq->timers, &rq->budget_timer);
	return task;
}

static __always_inline void picked(struct rt_rq *rq)
{
	/* Once each: two bytes together would come from a constant in memory. */
	WRITE_ONCE(rq->need_resched, false);
	WRITE_ONCE(rq->poked, false);
}

static noinline RT_TASK *watch_from(struct rt_rq *rq, RT_TASK *task, RTIME now)
{
	rq_leave_linux(rq, now);
	return task;
}

/* @task gets the CPU, which @prev has had, or NULL: Linux. */
static __always_inline RT_TASK *give_task(struct rt_rq *rq, RT_TASK *prev, RT_TASK *task, RTIME now)
{
	picked(rq);
	rq->curr = task;
	task->begun = 1;
	if (prev)
		return task;
	rq->linux_left = now;
	return likely(!rq_must_watch(rq)) ? task : watch_from(rq, task, now);
}

/* The same where @task may be NULL: Linux. */
static __always_inline RT_TASK *give(struct rt_rq *rq, RT_TASK *prev, RT_TASK *task, RTIME now)
{
	if (likely(task))
		return give_task(rq, prev, task, now);
	picked(rq);
	rq->curr = NULL;
	return NULL;
}

/* The same of a ring that is on. Apart, since that is rare; it saves no registers either. */
static noinline RT_TASK *give_noted(struct rt_rq *rq, RT_TASK *task, RTIME now)
{
	RT_TASK *prev = rq->curr;

	note_switch(rq, task, now);
	return give(rq, prev, task, now);
}

/* @task was found, and rq->curr is accounted for. */
static noinline RT_TASK *pick_with_budgets(struct rt_rq *rq, RT_TASK *task, RTIME now)
{
	task = pick_among_budgets(rq, task, now);
	task = rq->events.slot ? give_noted(rq, task, now) : give(rq, rq->curr, task, now);
	if (task && task->budget)
		rq_budget_arm(rq, now);
	return task;
}

/* Not 0: the task that runs has a budget, or @task. */
static __always_inline u64 budgets_of(const struct rt_rq *rq, const RT_TASK *task)
{
	u64 budgets = rq->budget_timer.node.place;

	if (likely(task))
		budgets |= (u64)task->budget;
	return budgets;
}

/* The same where there may be budgets, or a ring that is on. */
static noinline RT_TASK *pick_in_full(struct rt_rq *rq, RT_TASK *task, RTIME now, u64 budgets)
{
	if (unlikely(budgets))
		return pick_with_budgets(rq, task, now);
	return rq->events.slot ? give_noted(rq, task, now) : give(rq, rq->curr, task, now);
}

static noinline RT_TASK *pick_by_policy(struct rt_rq *rq, RTIME now)
{
	RT_TASK *task = checked_pick(rq);

	rq_account(rq, now);
	return pick_in_full(rq, task, now, budgets_of(rq, task));
}

/* What is rare goes on in a call that comes last: so this saves no registers. */
rt_hot RT_TASK *core_pick(struct rt_rq *rq, RTIME now)
{
	RT_TASK *task, *prev = rq->curr;
	u64 budgets;

	core_assert_locked(rq);
	if (unlikely(!rq_built_in(rq)))
		return pick_by_policy(rq, now);
	/* The built-in policy is under no verdict. */
	task = rq_first(rq);
	budgets = budgets_of(rq, task);
	rq_account(rq, now);
	/* The bits of both: one jump. */
	if (unlikely(budgets | (uintptr_t)rq->events.slot))
		return pick_in_full(rq, task, now, budgets);
	return give(rq, prev, task, now);
}

rt_path RT_TASK *core_pick_released(struct rt_rq *rq, RTIME now)
{
	RT_TASK *task;
	u64 budgets;

	core_assert_locked(rq);
	if (unlikely(!rq_built_in(rq) || rq->curr || !rq->ready.count))
		return core_pick(rq, now);
	task = rq_first(rq);
	rq->since = now;
	budgets = rq->budget_timer.node.place | (u64)task->budget;
	if (unlikely(budgets | (uintptr_t)rq->events.slot))
		return pick_in_full(rq, task, now, budgets);
	return give_task(rq, NULL, task, now);
}

const RT_TASK *core_admits(struct rt_rq *rq, const struct rt_sched_ops *ops)
{
	int slow = 0;

	core_assert_locked(rq);
	if (ops->admit == admit_all)
		return NULL;
	for (const RT_TASK *task = rq->tasks; task; task = task->next) {
		u64 began = CORE_TICKS();

		if (task->state == CORE_DEAD)
			continue;
		if (ops->admit(rq, task, task->period, task->relative_deadline))
			return task;
		slow = CORE_TICKS() - began > rq->policy_ticks ? slow + 1 : 0;
		if (slow == CORE_SLOW_OPS)
			return task;
	}
	return NULL;
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

/*
 * The built-in policy: by priority; equal ones first come, first served. What rq.h asks inline is
 * the same as release, enqueue, dequeue, pick and preempts here.
 */

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
