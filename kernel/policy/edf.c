// SPDX-License-Identifier: GPL-2.0-only
/*
 * tactus_edf: the earliest deadline first (thesis, 3.3; Liu & Layland, JACM 20(1), 1973).
 *
 * The job whose deadline is nearest runs; equal ones first come, first served. Tasks without a
 * deadline come behind all that have one, by explicit priority.
 */
#include <rt/sched.h>

#define NO_DEADLINE (1ULL << 63)

static unsigned long long edf_key(const RT_TASK *task)
{
	if (task->deadline == RT_NO_DEADLINE)
		return NO_DEADLINE | task->priority;
	return task->deadline;
}

static void edf_enqueue(struct rt_rq *rq, RT_TASK *task)
{
	rt_rq_add(rq, task, edf_key(task));
}

static bool edf_preempts(struct rt_rq *rq, const RT_TASK *task, const RT_TASK *curr)
{
	return edf_key(task) < edf_key(curr);
}

static const struct rt_sched_ops edf = {
	.owner = THIS_MODULE,
	.name = "edf",
	.analysis = RT_ANALYSIS_EDF,
	.enqueue = edf_enqueue,
	.preempts = edf_preempts,
};

rt_sched_module(edf);
MODULE_DESCRIPTION("Tactus: earliest-deadline-first scheduling policy");
MODULE_LICENSE("GPL");
