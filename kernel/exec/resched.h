/* SPDX-License-Identifier: GPL-2.0-only */
/* Which task has the CPU, and the switch to it. */
#ifndef _TACTUS_EXEC_RESCHED_H
#define _TACTUS_EXEC_RESCHED_H

#include <rt/task.h>
#include <asm/processor.h>
#include "pipeline/pipeline.h"

/* No way is taken to be longer. */
#define RT_GRAVITY_MOST_NS 10000

/** rt_exec_resched - let the right task run; returns when the caller may go on
 *
 * Context: out-of-band, hardware interrupts off.
 */
void rt_exec_resched(void);

struct rt_cpu;

/** rt_exec_switch - choose who is to run, unlock this CPU, and let that task run
 *
 * Context: as above, no interrupt, @cpu is this one and its lock is held.
 */
void rt_exec_switch(struct rt_cpu *cpu);

/** rt_exec_job_done - the same where a job ends, though the task's next may have begun
 *
 * Context: RT task, hardware interrupts off.
 */
void rt_exec_job_done(void);

/*
 * rt_exec_run - have @fn(@arg) called out-of-band, hardware interrupts off, then reschedule
 *
 * Context: any but NMI.
 */
void rt_exec_run(void (*fn)(void *arg), void *arg);

/*
 * rt_exec_late - how late it is for what was due at @when, at least 0
 *
 * With gravity it may still be early by less than that: then until it is not.
 *
 * Context: out-of-band, hardware interrupts off.
 */
static __always_inline RTIME rt_exec_late(RTIME when)
{
	/* Read afresh: this is what decides how late it is. */
	RTIME late = pl_clock() - when;

	while (unlikely(late < 0 && late > -RT_GRAVITY_MOST_NS)) {
		cpu_relax();
		late = pl_clock() - when;
	}
	return late;
}

/** rt_exec_note_lateness - the running task's job is about to begin */
static __always_inline void rt_exec_note_lateness(RT_TASK *task)
{
	RTIME late = rt_exec_late(task->release);

	if (late > task->max_late)
		task->max_late = late;
}

/* switch.S: @to goes on where it left off; @from is what comes back. */
void rt_switch(struct rt_frame *from, struct rt_frame *to);
extern char rt_task_entry[];

#endif
