// SPDX-License-Identifier: GPL-2.0
/* The file "tasks" of /sys/kernel/tactus/. */
#include <linux/sysfs.h>

#include "task/exec.h"

/* A row's figures, as they were at one moment. */
struct row {
	const char *state;
	int priority;
	RTIME period, max_late;
	u64 releases, overruns;
};

static struct row snapshot(struct rt_cpu *cpu, const RT_TASK *task)
{
	unsigned long flags = pl_hard_save();
	struct row row;

	hardlock(&cpu->lock);
	row = (struct row) {
		.state = core_state_name(&cpu->rq, task),
		.priority = task->priority,
		.period = task->period,
		.max_late = task->max_late,
		.releases = task->releases,
		.overruns = task->overruns,
	};
	hardunlock(&cpu->lock);
	pl_hard_restore(flags);
	return row;
}

ssize_t rt_tasks_show(char *buf)
{
	ssize_t used;
	int i;

	used = sysfs_emit(buf, "name\tcpu\tpriority\tperiod_ns\tstate\treleases\toverruns\tmax_late_ns\n");
	mutex_lock(&rt_exec_mutex);
	for_each_possible_cpu(i) {
		struct rt_cpu *cpu = rt_cpu_of(i);

		for (const RT_TASK *task = cpu->rq.tasks; task; task = task->next) {
			struct row row = snapshot(cpu, task);

			used += sysfs_emit_at(buf, used, "%s\t%d\t%d\t%lld\t%s\t%llu\t%llu\t%lld\n",
					      task->name, i, row.priority, row.period, row.state,
					      row.releases, row.overruns, row.max_late);
		}
	}
	mutex_unlock(&rt_exec_mutex);
	return used;
}
