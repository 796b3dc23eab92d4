/* SPDX-License-Identifier: GPL-2.0-only */
/* The lock of all objects, taken before any CPU's; and a wait that has lasted too long. */
#ifndef _TACTUS_EXEC_OBJECTS_H
#define _TACTUS_EXEC_OBJECTS_H

#include <rt/task.h>

void rt_sync_lock(void);
void rt_sync_unlock(void);
void rt_sync_timeout(RT_TASK *task);

#endif
