/* SPDX-License-Identifier: GPL-2.0-only */
/* The ends of a task. */
#ifndef _TACTUS_EXEC_LIFE_H
#define _TACTUS_EXEC_LIFE_H

#include <rt/task.h>

/**
 * rt_task_make - rt_task_init() of a task that has its name already
 * @task: as there
 * @fn: likewise
 * @data: likewise
 * @stack_size: likewise, bytes
 * @priority: likewise
 * @name: of graphic ASCII characters; NULL: @fn's, which takes thousands of instructions to find
 *
 * Context: Linux process; may sleep.
 * Return: what rt_task_init() does.
 */
int rt_task_make(RT_TASK *task, void (*fn)(int data), int data, int stack_size, int priority,
		 const char *name);

/** rt_task_free - nobody uses @task any more. Context: Linux process, rt_exec_mutex held. */
void rt_task_free(RT_TASK *task);

/** rt_task_end - the calling task is dead; does not return. Context: RT task. */
void rt_task_end(RT_TASK *task);

#endif
