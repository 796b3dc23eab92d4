/* SPDX-License-Identifier: GPL-2.0-only */
/* The lock of all objects, taken before any CPU's; and a wait that has lasted too long. */
#ifndef _TACTUS_EXEC_OBJECTS_H
#define _TACTUS_EXEC_OBJECTS_H

#include <rt/task.h>

void rt_sync_lock(void);
void rt_sync_unlock(void);
void rt_sync_timeout(RT_TASK *task);

/*
 * rt_sync_cancel - @task, which does not run any more, waits for nothing any more
 * @result: of its call, if it waited still
 *
 * Context: Linux process.
 * Return: what its last call of <rt/sync.h> came to.
 */
int rt_sync_cancel(RT_TASK *task, int result);

/** rt_mtx_abandon - what the calling task owns goes on with -EOWNERDEAD. Context: RT task. */
void rt_mtx_abandon(void);

#endif
