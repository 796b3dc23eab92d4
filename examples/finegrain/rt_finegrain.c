// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fine-grain scheduling (H. Massalin, Synthesis, 1992; the thesis's chapter 6 wishes for it): of
 * the ready tasks that runs which has the most to do, and that is how many bytes wait in the
 * FIFO it serves. No priorities, no periods: the data set the pace.
 *
 * The README tells how it came to be.
 */
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <rt/fifo.h>
#include <rt/sched.h>

#include "finegrain.h"

#define MAX_TASKS 32

/* Which FIFO a task serves. Written by Linux before the task starts. */
static struct {
	const RT_TASK *task;
	unsigned int fifo;
} serves[MAX_TASKS];
static int nr_serves;

/* The ready tasks of each CPU, in the order in which they became ready. Under the CPU's lock. */
static struct ready {
	RT_TASK *task[RT_MAX_TASKS];
	int count;
} *ready;

int finegrain_serves(RT_TASK *task, unsigned int fifo)
{
	int i;

	if (!task)
		return -EINVAL;
	for (i = 0; i < nr_serves && serves[i].task != task; i++)
		;
	if (i == MAX_TASKS)
		return -ENOSPC;
	serves[i].task = task;
	serves[i].fifo = fifo;
	if (i == nr_serves)
		WRITE_ONCE(nr_serves, i + 1);
	return 0;
}
EXPORT_SYMBOL_GPL(finegrain_serves);

/* Bytes that wait for @task. rtf_used() is wait-free, so it may be asked here. */
static int work_of(const RT_TASK *task)
{
	for (int i = 0; i < READ_ONCE(nr_serves); i++)
		if (serves[i].task == task)
			return rtf_used(serves[i].fifo);
	return -1;	/* behind all that serve one, and those whose FIFO is gone */
}

static void finegrain_enqueue(struct rt_rq *rq, RT_TASK *task)
{
	struct ready *r = &ready[rt_rq_cpu(rq)];

	r->task[r->count++] = task;
}

static void finegrain_dequeue(struct rt_rq *rq, RT_TASK *task)
{
	struct ready *r = &ready[rt_rq_cpu(rq)];
	int i = 0;

	while (i < r->count && r->task[i] != task)
		i++;
	if (i == r->count)
		return;
	for (r->count--; i < r->count; i++)
		r->task[i] = r->task[i + 1];
}

static RT_TASK *finegrain_pick(struct rt_rq *rq)
{
	const struct ready *r = &ready[rt_rq_cpu(rq)];
	RT_TASK *best = NULL;
	int most = 0;

	for (int i = 0; i < r->count; i++) {
		int work = work_of(r->task[i]);

		if (!best || work > most) {
			best = r->task[i];
			most = work;
		}
	}
	return best;
}

static int finegrain_init(void)
{
	ready = kvcalloc(nr_cpu_ids, sizeof(*ready), GFP_KERNEL);
	return ready ? 0 : -ENOMEM;
}

static void finegrain_exit(void)
{
	kvfree(ready);
}

static const struct rt_sched_ops finegrain = {
	.owner = THIS_MODULE,
	.name = "finegrain",
	.init = finegrain_init,
	.exit = finegrain_exit,
	.enqueue = finegrain_enqueue,
	.dequeue = finegrain_dequeue,
	.pick = finegrain_pick,
};

rt_sched_module(finegrain);
MODULE_DESCRIPTION("A scheduling policy: the task whose FIFO is fullest runs");
MODULE_LICENSE("GPL");
