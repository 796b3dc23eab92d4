// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admission: the tests of admission.c on the tasks there are.
 *
 * A job's cost is its task's budget, since that is what the executive can hold it to. Periodic
 * tasks without a budget, and tasks without a period, are not in the sums. With admission=enforce a
 * periodic task must have one.
 *
 * What a task waits for inside its jobs (rt_task_set_suspension()) counts as if it computed
 * meanwhile, but not in what is left for Linux: safe, though more than needed (Chen et al., Many
 * suspensions, many problems, Real-Time Systems 55, 2019).
 *
 * In hosted mode jobs run to their end, of which no test here knows: there the sum is all.
 *
 * The tests take their time, so they run in Linux processes, over a copy that is made under
 * the CPU's lock. rt_exec_mutex is held from the test until what was tested is so: with
 * admission=enforce nobody else changes a task's figures.
 */
#include <linux/module.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "sched/admission.h"
#include "exec/admit.h"
#include "exec/cpu.h"

/* A tenth of a second of a Linux process at most; enough for 1024 tasks of the usual kind. */
#define STEPS (1L << 22)

static char *admission = "warn";
module_param(admission, charp, 0444);
MODULE_PARM_DESC(admission, "of periodic tasks by their budgets: off, warn (default), enforce");

static unsigned int linux_share = 5;
module_param(linux_share, uint, 0444);
MODULE_PARM_DESC(linux_share, "per cent of each CPU that admission keeps for Linux (default 5)");

enum rt_admission rt_admission;

/* Protected by rt_exec_mutex. */
static struct adm_task set[RT_MAX_TASKS];
static const RT_TASK *who[RT_MAX_TASKS];
static RTIME suspension[RT_MAX_TASKS];

int rt_admission_init(void)
{
	if (!strcmp(admission, "off")) {
		rt_admission = RT_ADMISSION_OFF;
	} else if (!strcmp(admission, "warn")) {
		rt_admission = RT_ADMISSION_WARN;
	} else if (!strcmp(admission, "enforce")) {
		rt_admission = RT_ADMISSION_ENFORCE;
	} else {
		pr_err("refused: admission=%s is unknown; it must be off, warn or enforce\n",
		       admission);
		return -EINVAL;
	}
	if (linux_share < 100)
		return 0;
	pr_err("refused: linux_share=%u leaves nothing for tasks; it must be below 100\n",
	       linux_share);
	return -EINVAL;
}

/*
 * Fill in set[] and who[]: the tasks of @cpu, @changed with its new figures among them. @bare
 * becomes a task without a budget, or NULL. Return: how many.
 */
static int collect(struct rt_cpu *cpu, const struct rt_sched_ops *ops, const RT_TASK *changed,
		   const struct rt_figures *new, const RT_TASK **bare)
{
	unsigned long flags = rt_cpu_lock(cpu);
	int count = 0;

	*bare = NULL;
	for (const RT_TASK *task = cpu->rq.tasks; task; task = task->next) {
		struct rt_figures f = rt_figures_of(task);

		if (task == changed)
			f = *new;
		if (task->state == CORE_DEAD || !f.period)
			continue;
		if (!f.budget) {
			*bare = task;
			continue;
		}
		who[count] = task;
		suspension[count] = f.suspension;
		set[count++] = (struct adm_task) {
			.cost = f.budget, .period = f.period, .deadline = f.deadline ?: f.period,
			.rank = ops->rank ? ops->rank(task, f.period, f.deadline) : 0,
		};
	}
	rt_cpu_unlock(cpu, flags);
	return count;
}

static int by_rank(const void *a, const void *b)
{
	const struct adm_task *one = a, *other = b;

	return one->rank < other->rank ? -1 : one->rank > other->rank;
}

/* Of two elements of set[], with all that belongs to them. */
static void swap_tasks(void *a, void *b, int size)
{
	int i = (struct adm_task *)a - set, j = (struct adm_task *)b - set;

	swap(set[i], set[j]);
	swap(who[i], who[j]);
	swap(suspension[i], suspension[j]);
}

/* What is waited for is like computing, to those who are less urgent. Return: is there any? */
static bool add_suspensions(int count)
{
	bool any = false;

	for (int i = 0; i < count; i++) {
		set[i].cost += suspension[i];
		any |= suspension[i] != 0;
	}
	return any;
}

/* 97.14 of a hundred, as 9714. */
static unsigned int percent_x100(u64 share)
{
	return share / (ADM_ONE / 10000);
}

static void say(const struct rt_cpu *cpu, const struct rt_sched_ops *ops,
		const struct adm_verdict *v)
{
	const char *name = v->index < 0 ? "-" : who[v->index]->name;
	const char *then =
		rt_admission == RT_ADMISSION_ENFORCE ? "refused" : "admitted all the same";
	unsigned int figure = percent_x100(v->figure), limit = percent_x100(v->limit);

	switch (v->reason) {
	case ADM_UTILISATION:
		pr_warn("CPU %d, policy %s: utilisation %u.%02u %% is above %u.%02u %% (linux_share=%u), task %s has the most: %s\n",
			cpu->rq.cpu, ops->name, figure / 100, figure % 100, limit / 100,
			limit % 100, linux_share, name, then);
		break;
	case ADM_RESPONSE:
		pr_warn("CPU %d, policy %s: task %s would answer within %llu ns, its deadline is %llu ns: %s\n",
			cpu->rq.cpu, ops->name, name, v->figure, v->limit, then);
		break;
	case ADM_DEMAND:
		pr_warn("CPU %d, policy %s: %llu ns are due within %llu ns, a deadline of task %s: %s\n",
			cpu->rq.cpu, ops->name, v->figure, v->limit, name, then);
		break;
	default:
		pr_warn("CPU %d, policy %s: too many steps to decide, task %s: %s\n",
			cpu->rq.cpu, ops->name, name, then);
	}
}

int rt_admission_check_hosted(void)
{
	if (rt_admission != RT_ADMISSION_ENFORCE)
		return 0;
	pr_err("refused: admission=enforce is not for mode hosted, where jobs do not pre-empt one another\n");
	return -EINVAL;
}

int rt_admit(struct rt_cpu *cpu, const struct rt_sched_ops *ops, const RT_TASK *changed,
	     const struct rt_figures *new)
{
	u64 share = ADM_ONE - ADM_ONE / 100 * linux_share;
	struct adm_verdict verdict;
	const RT_TASK *bare;
	int count;

	if (rt_admission == RT_ADMISSION_OFF)
		return 0;
	count = collect(cpu, ops, changed, new, &bare);
	if (bare && rt_admission == RT_ADMISSION_ENFORCE) {
		pr_warn("CPU %d: task %s is periodic and has no budget: refused\n",
			cpu->rq.cpu, bare->name);
		return -ENOSPC;
	}
	verdict = adm_any(set, count, share);
	if (verdict.reason == ADM_FITS && ops->analysis != RT_ANALYSIS_NONE && !pl_hosted()) {
		if (add_suspensions(count))
			share = ADM_ONE;
		sort(set, count, sizeof(set[0]), by_rank, swap_tasks);
		verdict = ops->analysis == RT_ANALYSIS_FIXED ?
			adm_fixed(set, count, share, STEPS) : adm_edf(set, count, share, STEPS);
	}
	if (verdict.reason == ADM_FITS)
		return 0;
	say(cpu, ops, &verdict);
	return rt_admission == RT_ADMISSION_ENFORCE ? -ENOSPC : 0;
}
