/* SPDX-License-Identifier: GPL-2.0-only */
/* The ends of a task. */
#ifndef _TACTUS_EXEC_LIFE_H
#define _TACTUS_EXEC_LIFE_H

#include <rt/task.h>

/** rt_task_free - nobody uses @task any more. Context: Linux process, rt_exec_mutex held. */
void rt_task_free(RT_TASK *task);

/** rt_task_end - the calling task is dead; does not return. Context: RT task. */
void rt_task_end(RT_TASK *task);

#endif
