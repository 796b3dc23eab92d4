// SPDX-License-Identifier: GPL-2.0-only
/*
 * tactus_rm: the rate-monotonic policy (thesis, 3.3; Liu & Layland, JACM 20(1), 1973).
 *
 * The shorter a task's period, the higher its rank. Equal ones go by explicit priority,
 * then first come, first served. Tasks without a period come behind all that have one,
 * by explicit priority.
 *
 * order=deadline ranks by the relative deadline instead (deadline monotonic: Leung &
 * Whitehead, 1982), order=priority by the explicit priority alone.
 */
#include <rt/sched.h>

static char *order = "period";
module_param(order, charp, 0444);
MODULE_PARM_DESC(order, "what ranks tasks: period (default), deadline, priority");

static enum { BY_PERIOD, BY_DEADLINE, BY_PRIORITY } by;

/* Key: nothing to rank by (1 bit), duration in ns (43), priority (20). See RT_PERIOD_MAX_NS. */
#define PRIORITY_BITS 20
#define UNRANKED (1ULL << 63)

static unsigned long long rm_rank(const RT_TASK *task, RTIME period, RTIME relative_deadline)
{
	RTIME duration = period;

	if (by == BY_DEADLINE && relative_deadline)
		duration = relative_deadline;
	if (by == BY_PRIORITY || !duration)
		return UNRANKED | task->priority;
	return (unsigned long long)duration << PRIORITY_BITS | task->priority;
}

static unsigned long long rm_key(const RT_TASK *task)
{
	return rm_rank(task, task->period, task->relative_deadline);
}

static int rm_init(void)
{
	if (!strcmp(order, "period"))
		by = BY_PERIOD;
	else if (!strcmp(order, "deadline"))
		by = BY_DEADLINE;
	else if (!strcmp(order, "priority"))
		by = BY_PRIORITY;
	else
		return -EINVAL;
	return 0;
}

static void rm_enqueue(struct rt_rq *rq, RT_TASK *task)
{
	rt_rq_add(rq, task, rm_key(task));
}

static bool rm_preempts(struct rt_rq *rq, const RT_TASK *task, const RT_TASK *curr)
{
	return rm_key(task) < rm_key(curr);
}

static const struct rt_sched_ops rm = {
	.owner = THIS_MODULE,
	.name = "rm",
	.init = rm_init,
	.analysis = RT_ANALYSIS_FIXED,
	.rank = rm_rank,
	.enqueue = rm_enqueue,
	.preempts = rm_preempts,
};

rt_sched_module(rm);
MODULE_DESCRIPTION("Tactus: rate-monotonic scheduling policy");
MODULE_LICENSE("GPL");
