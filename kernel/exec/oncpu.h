/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls on tasks: a call from Linux or RT code on any CPU becomes one function that runs
 * out-of-band on the caller's CPU under the lock of the task's CPU, and then a reschedule where
 * something changed: here on the way out, elsewhere by IPI.
 */
#ifndef _TACTUS_CALL_H
#define _TACTUS_CALL_H

#include "exec/cpu.h"

/* A live task has its own address, turned by this, in magic; garbage and copies do not. */
#define RT_TASK_MAGIC 0x7461637475732121ULL

static inline bool rt_is_task(const RT_TASK *task)
{
	return task && READ_ONCE(task->magic) == ((unsigned long)task ^ RT_TASK_MAGIC);
}

/* One call on one task. */
struct rt_call {
	RT_TASK *task;
	int (*fn)(struct rt_rq *rq, struct rt_call *call);
	RTIME start, period;	/* or another duration */
	int action;
	bool self;		/* by the task's own code */
	bool later;		/* by RT code: Linux is to free it */
	bool by_linux;		/* by a Linux process */
	int error;
};

/*
 * rt_call - have @call made; 0, what its function says, or -EINVAL: no such task
 *
 * Context: any but NMI.
 */
int rt_call(struct rt_call *call);

/** rt_call_oob - the same for code that is out-of-band, interrupts off, on a task that there is */
void rt_call_oob(void *call);

#endif
