/* SPDX-License-Identifier: GPL-2.0-only */
/* Which task has the CPU, and the switch to it. */
#ifndef _TACTUS_EXEC_RESCHED_H
#define _TACTUS_EXEC_RESCHED_H

#include <rt/task.h>
#include "pipeline/pipeline.h"

/** rt_exec_resched - let the right task run; returns when the caller may go on
 *
 * Context: out-of-band, hardware interrupts off.
 */
void rt_exec_resched(void);

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

/** rt_exec_note_lateness - the running task's job has just begun */
static __always_inline void rt_exec_note_lateness(RT_TASK *task)
{
	/* Read afresh: this is what decides how late the job is. */
	RTIME late = pl_clock() - task->release;

	if (late > task->max_late)
		task->max_late = late;
}

/* switch.S: @to goes on where it left off; @from is what comes back. */
void rt_switch(struct rt_frame *from, struct rt_frame *to);
extern char rt_task_entry[];

#endif
