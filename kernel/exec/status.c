// SPDX-License-Identifier: GPL-2.0-only
/* The files "tasks" and "timing" of /sys/kernel/tactus/. */
#include <linux/export.h>
#include <linux/math64.h>

#include "compat/table.h"
#include "exec/cpu.h"
#include "exec/status.h"

/* A row's figures, as they were at one moment. */
struct row {
	const char *state;
	int priority;
	RTIME period, max_late;
	u64 releases, overruns;
};

struct timing {
	RTIME period, deadline, budget, max_exec;
	u64 misses;
};

static struct row snapshot(struct rt_cpu *cpu, const RT_TASK *task)
{
	unsigned long flags = rt_cpu_lock(cpu);
	struct row row;

	row = (struct row) {
		.state = core_state_name(&cpu->rq, task),
		.priority = task->priority,
		.period = task->period,
		.max_late = task->max_late,
		.releases = task->releases,
		.overruns = task->overruns,
	};
	rt_cpu_unlock(cpu, flags);
	return row;
}

void rt_tasks_show(struct rt_table *table)
{
	int i;

	rt_table_head(table, "name\tcpu\tpriority\tperiod_ns\tstate\treleases\toverruns\tmax_late_ns\n");
	mutex_lock(&rt_exec_mutex);
	for_each_possible_cpu(i) {
		struct rt_cpu *cpu = rt_cpu_of(i);

		for (const RT_TASK *task = cpu->rq.tasks; task; task = task->next) {
			struct row row = snapshot(cpu, task);

			rt_table_row(table, "%s\t%d\t%d\t%lld\t%s\t%llu\t%llu\t%lld",
				     task->name, i, row.priority, row.period, row.state,
				     row.releases, row.overruns, row.max_late);
		}
	}
	mutex_unlock(&rt_exec_mutex);
}

/* What a job in progress has used, and whether it is late, counts already. */
static struct timing timing_of(struct rt_cpu *cpu, const RT_TASK *task)
{
	unsigned long flags = rt_cpu_lock(cpu);
	bool in_job = task->state == CORE_READY || task->state == CORE_BLOCKED;
	struct timing t;

	t = (struct timing) {
		.period = task->period, .deadline = task->relative_deadline,
		.budget = task->budget, .max_exec = max(task->max_exec, task->job_exec),
		.misses = task->misses + (in_job && task->due < (RTIME)pl_clock()),
	};
	rt_cpu_unlock(cpu, flags);
	return t;
}

void rt_timing_show(struct rt_table *table)
{
	int i;

	rt_table_head(table, "name\tcpu\tpriority\tperiod_ns\tdeadline_ns\tbudget_ns\tmax_exec_ns\tmisses\n");
	mutex_lock(&rt_exec_mutex);
	for_each_possible_cpu(i)
		for (const RT_TASK *task = rt_cpu_of(i)->rq.tasks; task; task = task->next) {
			struct timing t = timing_of(rt_cpu_of(i), task);

			/* A task that dies meanwhile may be shown. */
			if (data_race(task->state) != CORE_DEAD)
				rt_table_row(table, "%s\t%d\t%d\t%lld\t%lld\t%lld\t%lld\t%llu",
					     task->name, i, task->priority, t.period,
					     t.deadline, t.budget, t.max_exec, t.misses);
		}
	mutex_unlock(&rt_exec_mutex);
}
