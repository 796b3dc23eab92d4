/* SPDX-License-Identifier: GPL-2.0-only */
/* Admission, asked of the tasks there are. rt_exec_mutex is held, but for rt_admission_init(). */
#ifndef _TACTUS_EXEC_ADMIT_H
#define _TACTUS_EXEC_ADMIT_H

#include "exec/cpu.h"

enum rt_admission { RT_ADMISSION_OFF, RT_ADMISSION_WARN, RT_ADMISSION_ENFORCE };
extern enum rt_admission rt_admission;

/* What a task is admitted by, ns. */
struct rt_figures {
	RTIME period, deadline, budget, suspension, section;
};

static inline struct rt_figures rt_figures_of(const RT_TASK *task)
{
	return (struct rt_figures) {
		task->period, task->relative_deadline, task->budget, task->suspension,
		task->section,
	};
}

/** rt_admission_init - read the parameters; 0 or -EINVAL after a line in the log */
int rt_admission_init(void);

/*
 * rt_admit - would the tasks of @cpu fit under @ops?
 * @changed: the one whose figures are to be @new, or NULL
 *
 * Context: Linux process; may sleep.
 * Return: 0, also if they do not but may nevertheless; -ENOSPC. The log says why.
 */
int rt_admit(struct rt_cpu *cpu, const struct rt_sched_ops *ops, const RT_TASK *changed,
	     const struct rt_figures *new);

#endif
