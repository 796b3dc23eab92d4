// SPDX-License-Identifier: GPL-2.0-only
/*
 * Periodic tasks to order, on CPU 0.
 *
 * Writing "NAME COST PERIOD DEADLINE BUDGET PRIORITY" to the parameter add makes one, that needs
 * COST of CPU time in each job: times in ns, DEADLINE 0 is the period, BUDGET 0 none, PERIOD 0 makes
 * one that never runs. The write fails as the call that fails does. All start at one moment, a while after start is written, and
 * end span_ms later, if that is given.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/preempt.h>

#include <rt/task.h>

#define MAX_TASKS 256
#define CALIBRATION 1000000UL
#define START_NS 2000000

static struct {
	RT_TASK task;
	long long cost, period;
	unsigned long spins;
} sets[MAX_TASKS];
static int count;
static RTIME end;

static unsigned int span_ms;
module_param(span_ms, uint, 0444);
MODULE_PARM_DESC(span_ms, "end all tasks so long after their start; 0: never");

static noinline void spin(unsigned long n)
{
	asm volatile("1: dec %0; jnz 1b" : "+r" (n));
}

static unsigned long spins_of(long long ns)
{
	static long long took;

	if (!took) {
		preempt_disable();
		took = rt_get_time();
		spin(CALIBRATION);
		took = rt_get_time() - took;
		preempt_enable();
	}
	return ns * CALIBRATION / took;
}

static void work(int i)
{
	do
		if (sets[i].spins)
			spin(sets[i].spins);
	while (rt_task_wait() != -EPERM && (!end || rt_get_time() < end));
}

static int add(const char *text, const struct kernel_param *param)
{
	long long deadline, budget;
	char name[RT_TASK_NAME_BYTES];
	int priority, error;

	if (count == MAX_TASKS || sscanf(text, "%15s %lld %lld %lld %lld %d", name, &sets[count].cost,
				   &sets[count].period, &deadline, &budget, &priority) != 6)
		return -EINVAL;
	sets[count].spins = spins_of(sets[count].cost);
	error = rt_task_init(&sets[count].task, work, count, 4096, priority);
	if (error)
		return error;
	error = rt_task_set_cpu(&sets[count].task, 0) ?: rt_task_set_name(&sets[count].task, name) ?:
		rt_task_set_deadline(&sets[count].task, deadline) ?:
		rt_task_set_budget(&sets[count].task, budget, RT_BUDGET_COUNT);
	if (!error && sets[count].period)
		error = rt_task_make_periodic(&sets[count].task,
					      rt_get_time() + 3600 * RT_TICKS_PER_SEC,
					      sets[count].period);
	if (error)
		rt_task_delete(&sets[count].task);
	else
		count++;
	return error;
}

static const struct kernel_param_ops add_ops = { .set = add };
module_param_cb(add, &add_ops, NULL, 0200);

static int start(const char *text, const struct kernel_param *param)
{
	RTIME moment = rt_get_time() + START_NS;
	int error = 0;

	end = span_ms ? moment + span_ms * 1000000LL : 0;
	for (int i = 0; i < count && !error; i++)
		if (sets[i].period)
			error = rt_task_make_periodic(&sets[i].task, moment, sets[i].period);
	return error;
}

static const struct kernel_param_ops start_ops = { .set = start };
module_param_cb(start, &start_ops, NULL, 0200);

/* "NAME BUDGET" */
static int budget(const char *text, const struct kernel_param *param)
{
	char name[RT_TASK_NAME_BYTES];
	long long ns;

	if (sscanf(text, "%15s %lld", name, &ns) != 2)
		return -EINVAL;
	for (int i = 0; i < count; i++)
		if (!strcmp(sets[i].task.name, name))
			return rt_task_set_budget(&sets[i].task, ns, RT_BUDGET_COUNT);
	return -ENOENT;
}

static const struct kernel_param_ops budget_ops = { .set = budget };
module_param_cb(budget, &budget_ops, NULL, 0200);

/* "NAME NS", for @set. */
static int declare(const char *text, int (*set)(RT_TASK *task, RTIME ns))
{
	char name[RT_TASK_NAME_BYTES];
	long long ns;

	if (sscanf(text, "%15s %lld", name, &ns) != 2)
		return -EINVAL;
	for (int i = 0; i < count; i++)
		if (!strcmp(sets[i].task.name, name))
			return set(&sets[i].task, ns);
	return -ENOENT;
}

static int suspension(const char *text, const struct kernel_param *param)
{
	return declare(text, rt_task_set_suspension);
}

static const struct kernel_param_ops suspension_ops = { .set = suspension };
module_param_cb(suspension, &suspension_ops, NULL, 0200);

static int section(const char *text, const struct kernel_param *param)
{
	return declare(text, rt_task_set_section);
}

static const struct kernel_param_ops section_ops = { .set = section };
module_param_cb(section, &section_ops, NULL, 0200);

/* One line a task: name releases misses overruns budget_overruns max_exec exec max_late */
static int show(char *buf, const struct kernel_param *param)
{
	int used = 0;

	for (int i = 0; i < count; i++) {
		RT_TASK *t = &sets[i].task;

		used += sysfs_emit_at(buf, used, "%s %llu %llu %llu %llu %lld %lld %lld\n", t->name,
				      t->releases, t->misses, t->overruns, t->budget_overruns,
				      t->max_exec, t->exec, t->max_late);
	}
	return used;
}

static const struct kernel_param_ops show_ops = { .get = show };
module_param_cb(results, &show_ops, NULL, 0400);

static RT_TASK stranger;
static int from_rt[3];
module_param_array(from_rt, int, NULL, 0444);

static void misuse(int unused)
{
	from_rt[0] = rt_task_make_periodic(&stranger, rt_get_time(), 1000000);
	from_rt[1] = rt_task_set_deadline(&stranger, 1000000);
	from_rt[2] = rt_task_set_budget(&stranger, 1000000, RT_BUDGET_COUNT);
}

static int __init taskset_init(void)
{
	int error = rt_task_init(&stranger, misuse, 0, 4096, 1) ?: rt_task_wakeup(&stranger);

	msleep(10);
	rt_task_delete(&stranger);
	return error;
}

static void __exit taskset_exit(void)
{
	while (count)
		rt_task_delete(&sets[--count].task);
}

module_init(taskset_init);
module_exit(taskset_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Periodic tasks to order");
