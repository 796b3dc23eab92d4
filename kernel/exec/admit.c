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
 * What a task keeps mutexes for (rt_task_set_section()) blocks more urgent ones. In hosted mode,
 * where jobs run to their end, whole jobs do. A task that waits inside its jobs may meet a section,
 * or another's job, once more after each wait: of those nobody knows the number, so no test is for
 * both.
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

/* @task with the figures @f, as the tests see it. */
static struct adm_task element(const RT_TASK *task, const struct rt_figures *f,
			       const struct rt_sched_ops *ops)
{
	struct adm_task t = {
		.period = f->period ?: RT_PERIOD_MAX_NS,
		.rank = ops->rank ? ops->rank(task, f->period, f->deadline) : 0,
		.section = f->section,
	};

	t.deadline = f->deadline ?: t.period;
	/* An owner may go on beyond its budget: so it needs its section, in any case. */
	if (f->period && f->budget)
		t.cost = max(f->budget, f->section);
	if (pl_hosted()) {
		t.region = max(t.cost, t.section);
		t.section = 0;
	}
	return t;
}

/*
 * Fill in set[] and who[]: the tasks of @cpu, @changed with its new figures among them. Those
 * without a period or a budget are in it only for what they block. @bare becomes a periodic task
 * without a budget, or NULL. Return: how many.
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
		if (task->state == CORE_DEAD)
			continue;
		if (f.period && !f.budget)
			*bare = task;
		if (!(f.period && f.budget) && !f.section)
			continue;
		who[count] = task;
		suspension[count] = f.period && f.budget ? f.suspension : 0;
		set[count++] = element(task, &f, ops);
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

static const char *then(void)
{
	return rt_admission == RT_ADMISSION_ENFORCE ? "refused" : "admitted all the same";
}

static void say(const struct rt_cpu *cpu, const struct rt_sched_ops *ops,
		const struct adm_verdict *v)
{
	const char *name = v->index < 0 ? "-" : who[v->index]->name;
	unsigned int figure = percent_x100(v->figure), limit = percent_x100(v->limit);

	switch (v->reason) {
	case ADM_UTILISATION:
		pr_warn("CPU %d, policy %s: utilisation %u.%02u %% is above %u.%02u %% (linux_share=%u), task %s has the most: %s\n",
			cpu->rq.cpu, ops->name, figure / 100, figure % 100, limit / 100,
			limit % 100, linux_share, name, then());
		break;
	case ADM_RESPONSE:
		pr_warn("CPU %d, policy %s: task %s would answer within %llu ns, its deadline is %llu ns: %s\n",
			cpu->rq.cpu, ops->name, name, v->figure, v->limit, then());
		break;
	case ADM_DEMAND:
		pr_warn("CPU %d, policy %s: %llu ns are due within %llu ns, a deadline of task %s: %s\n",
			cpu->rq.cpu, ops->name, v->figure, v->limit, name, then());
		break;
	default:
		pr_warn("CPU %d, policy %s: too many steps to decide, task %s: %s\n",
			cpu->rq.cpu, ops->name, name, then());
	}
}

/* A task that waits inside its jobs, where no test knows what that does; NULL: none. */
static const RT_TASK *untested(int count)
{
	bool blocking = pl_hosted();
	const RT_TASK *waits = NULL;

	for (int i = 0; i < count; i++) {
		blocking |= set[i].section != 0;
		if (suspension[i])
			waits = who[i];
	}
	return blocking ? waits : NULL;
}

int rt_admit(struct rt_cpu *cpu, const struct rt_sched_ops *ops, const RT_TASK *changed,
	     const struct rt_figures *new)
{
	u64 share = ADM_ONE - ADM_ONE / 100 * linux_share;
	bool tested = ops->analysis != RT_ANALYSIS_NONE;
	const RT_TASK *bare, *waits;
	struct adm_verdict verdict;
	int count;

	lockdep_assert_held(&rt_exec_mutex);
	if (rt_admission == RT_ADMISSION_OFF)
		return 0;
	count = collect(cpu, ops, changed, new, &bare);
	if (bare && rt_admission == RT_ADMISSION_ENFORCE) {
		pr_warn("CPU %d: task %s is periodic and has no budget: refused\n",
			cpu->rq.cpu, bare->name);
		return -ENOSPC;
	}
	waits = tested ? untested(count) : NULL;
	if (waits) {
		pr_warn("CPU %d: task %s waits inside its jobs, and %s; no test is for both: %s\n",
			cpu->rq.cpu, waits->name, pl_hosted() ? "jobs do not pre-empt one another" :
			"a task has a section", then());
		if (rt_admission == RT_ADMISSION_ENFORCE)
			return -ENOSPC;
		tested = false;
	}
	verdict = adm_any(set, count, share);
	if (verdict.reason == ADM_FITS && tested) {
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
