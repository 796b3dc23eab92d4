/* SPDX-License-Identifier: GPL-2.0-only */
/* Tasks with a half in ring 3: what tactus_user needs of the executive, and nobody else. */
#ifndef _TACTUS_EXEC_RING3_H
#define _TACTUS_EXEC_RING3_H

#include <rt/task.h>
#include "pipeline/ring3.h"

struct rt_post;

/** rt_ring3_reason - a word for RT_END_*. Context: any. */
const char *rt_ring3_reason(unsigned int reason);

/**
 * rt_ring3_attach - @task is to go on in ring 3 as the calling thread
 * @task: initialised, never started
 * @ring3: its half there; the stack's top, FS, GS, keys are filled in here
 * @over: posted when the executive ends the task: stopped, or faulted
 *
 * The thread's floating point registers become the task's.
 *
 * Context: Linux process.
 */
void rt_ring3_attach(RT_TASK *task, struct pl_ring3 *ring3, struct rt_post *over);

/**
 * rt_ring3_detach - the calling thread goes on as @task left off
 * @task: what rt_ring3_attach() made of it; it does not run any more, and Linux has run on
 *	its CPU since
 *
 * Context: Linux process.
 */
void rt_ring3_detach(RT_TASK *task);

/**
 * rt_ring3_demoted - note a demotion in the trace
 * @task: which the thread is no more
 * @reason: RT_END_*
 * @number: of the system call, or of the exception's vector
 * @ip: the instruction
 *
 * Context: any but NMI.
 */
void rt_ring3_demoted(const RT_TASK *task, unsigned int reason, u64 number, u64 ip);

/** rt_ring3_wait - as rt_task_wait(). Context: RT task, hardware interrupts off. */
int rt_ring3_wait(void);

/** rt_ring3_regs - where @task's registers of ring 3 are. Context: any. */
struct pt_regs *rt_ring3_regs(const RT_TASK *task);

/** rt_ring3_top - the end of these. Context: any. */
void *rt_ring3_top(const RT_TASK *task);

#endif
