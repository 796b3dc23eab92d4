// SPDX-License-Identifier: GPL-2.0
/*
 * tactus_rm: the rate-monotonic policy (thesis, 3.3; Liu & Layland, JACM 20(1), 1973).
 *
 * The shorter a task's period, the higher its rank. Equal periods go by explicit priority,
 * then first come, first served. Tasks without a period come behind all that have one,
 * by explicit priority. With explicit=1 the priorities alone decide.
 */
#include <rt/sched.h>

static bool explicit;
module_param(explicit, bool, 0444);
MODULE_PARM_DESC(explicit, "order by explicit priority, not by period (default 0)");

/* Key: no period (1 bit), period in ns (43), priority (20). See RT_PERIOD_MAX_NS. */
#define PRIORITY_BITS 20
#define NO_PERIOD (1ULL << 63)

static unsigned long long rank(const RT_TASK *task)
{
	if (explicit)
		return task->priority;
	if (!task->period)
		return NO_PERIOD | task->priority;
	return (unsigned long long)task->period << PRIORITY_BITS | task->priority;
}

static void rm_enqueue(struct rt_rq *rq, RT_TASK *task)
{
	rt_rq_add(rq, task, rank(task));
}

static bool rm_preempts(struct rt_rq *rq, const RT_TASK *task, const RT_TASK *curr)
{
	return rank(task) < rank(curr);
}

static const struct rt_sched_ops rm = {
	.owner = THIS_MODULE,
	.name = "rm",
	.enqueue = rm_enqueue,
	.preempts = rm_preempts,
};

rt_sched_module(rm);
MODULE_DESCRIPTION("Tactus: rate-monotonic scheduling policy");
MODULE_LICENSE("GPL");
