/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls on tasks: a call from Linux or RT code on any CPU becomes one function that runs
 * out-of-band on the caller's CPU under the lock of the task's CPU, and then a reschedule where
 * something changed: here on the way out, elsewhere by IPI.
 */
#ifndef _TACTUS_CALL_H
#define _TACTUS_CALL_H

#include "exec/cpu.h"
#include "exec/resched.h"
#include "exec/tick.h"

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

/*
 * rt_call_lock - begin a call on @task without indirections, for those that are made often: lock
 * @cpu, which is this one, if that is its CPU
 *
 * Context: hardware interrupts off; @task is one.
 * Return: is it? If not, nothing is locked, and rt_call() is to make the call.
 */
static __always_inline bool rt_call_lock(struct rt_cpu *cpu, const RT_TASK *task)
{
	hardlock(&cpu->lock);
	/* A task changes CPU under both locks. */
	if (likely(task->cpu == cpu->rq.cpu && task->state != CORE_DEAD))
		return true;
	hardunlock(&cpu->lock);
	return false;
}

/*
 * rt_call_end - the call is made by RT code: switch to whoever is to run, or set the timer; unlock
 *
 * Context: out-of-band, and as above, but the lock is held.
 */
static __always_inline void rt_call_end(struct rt_cpu *cpu)
{
	/* An RT interrupt reschedules when it returns. */
	if (rt_exec_may_choose(cpu) && !pl_in_irq()) {
		rt_exec_switch(cpu);
	} else {
		rt_exec_arm(cpu);
		hardunlock(&cpu->lock);
	}
}

/* rt_call_end_oob - the same in what Linux has run out-of-band: a reschedule follows */
static __always_inline void rt_call_end_oob(struct rt_cpu *cpu)
{
	/* Switched off, nobody reschedules. */
	if (rt_exec_may_choose(cpu) && pl_oob())
		rt_exec_choose(cpu, pl_clock());
	else
		rt_exec_arm(cpu);
	hardunlock(&cpu->lock);
}

/** rt_call_oob - rt_call() for code that is out-of-band, interrupts off, on a task that there is */
void rt_call_oob(void *call);

#endif
