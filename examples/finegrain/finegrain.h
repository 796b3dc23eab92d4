/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _FINEGRAIN_H
#define _FINEGRAIN_H

#include <rt/task.h>

/**
 * finegrain_serves - tell the policy which FIFO a task is there for
 * @task: initialised
 * @fifo: the number of the FIFO that it gets from
 *
 * Before the task starts. It counts until the policy is unloaded, or another task of the same
 * address is passed.
 *
 * Context: Linux process.
 * Return: 0, -EINVAL (no task), -ENOSPC (too many tasks).
 */
int finegrain_serves(RT_TASK *task, unsigned int fifo);

#endif
