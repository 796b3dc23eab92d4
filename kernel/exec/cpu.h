/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The executive's own view of itself: one struct rt_cpu for each CPU.
 *
 * Everything in it is touched with hardware interrupts off and its lock held; only
 * its own CPU switches, and arms the timer. Who changes another CPU's rq sends it an
 * IPI when that matters to it. Linux code that creates, deletes and lists tasks or swaps policies
 * holds rt_exec_mutex; the list of a CPU's tasks changes under both.
 */
#ifndef _TACTUS_EXEC_CPU_H
#define _TACTUS_EXEC_CPU_H

#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "exec/hardlock.h"
#include "pipeline/pipeline.h"
#include "sched/core.h"

/*
 * struct rt_cpu - one CPU
 * @lock: of all of it
 * @prev: while @chosen, whoever still runs
 * @chosen: rq.curr is who is to run, and rt_exec_resched() will switch to it
 * @firing: the users' timer whose function runs now
 * @expiring: the timer's pass is not over; it will arm the timer
 * @present: has tasks and timers
 * @fp_away, @fp_owner, @fp_linux, @fp_barred: floating point; see fp.c
 * @fp_trap: rt_fp_trap
 * @inband: where Linux left off, while a task runs
 * @rq: tasks and timers
 *
 * What a release needs comes first, and all of it lies in the page of the stack that the release is
 * seen to on: see pl_rtstack_make().
 */
struct rt_cpu {
	struct hardlock lock;
	RT_TASK *prev;
	bool expiring, chosen;
	bool present;
	bool fp_away, fp_barred, fp_trap;
	struct rt_frame inband;
	struct rt_rq rq;
	RT_TASK *fp_owner;
	struct rt_timer *firing;
	void *fp_linux;
};

/* Of a cache line, whatever the kernel was built for. */
#define RT_LINE_BYTES 64
/* Where @member lies, in bytes from the beginning of the line of the first. */
#define RT_LINE_AT(member) \
	(RT_LINE_BYTES - PL_CLIENT_LINE_BYTES + offsetof(struct rt_cpu, member))

/* The two parts of what a release touches: the rest of the stack's line and two more, and two. */
static_assert(RT_LINE_AT(rq.few_ready[1]) == 3 * RT_LINE_BYTES);
static_assert(!(RT_LINE_AT(rq.events.slot) % RT_LINE_BYTES));
static_assert(RT_LINE_AT(rq.few_timers[2]) - RT_LINE_AT(rq.events.slot) == 2 * RT_LINE_BYTES);

/* This CPU's: one load, of a line that is wanted anyway. Context: rt_exec_init() was called. */
static __always_inline struct rt_cpu *rt_cpu_here(void)
{
	return this_cpu_read(pl_cpu.client);
}

/*
 * The task whose code calls, NULL: it is nobody's. Interrupts may be on: those of RT write rq.curr
 * and have written the same again when the caller goes on.
 */
static __always_inline RT_TASK *rt_cpu_task(void)
{
	return READ_ONCE(rt_cpu_here()->rq.curr);
}

extern struct mutex rt_exec_mutex;

static inline struct rt_cpu *rt_cpu_of(int cpu)
{
	return per_cpu(pl_cpu, cpu).client;
}

/* Interrupts off, @cpu locked; returns what rt_cpu_unlock() wants. */
static inline unsigned long rt_cpu_lock(struct rt_cpu *cpu)
{
	unsigned long flags = pl_hard_save();

	hardlock(&cpu->lock);
	return flags;
}

static inline void rt_cpu_unlock(struct rt_cpu *cpu, unsigned long flags)
{
	hardunlock(&cpu->lock);
	pl_hard_restore(flags);
}

/**
 * rt_exec_set_gravity - what lies between the one-shot device and what it is for, at least
 * @gravity: ns, of every CPU; none while RT code runs by Linux's interrupts
 *
 * Context: Linux process; may sleep.
 */
void rt_exec_set_gravity(struct timerq_gravity gravity);

/** rt_exec_gravity - what was last set. Context: any. */
struct timerq_gravity rt_exec_gravity(void);

/* The pipeline calls these. */
extern const struct pl_client rt_client;

/**
 * rt_exec_init - allocate; before the pipeline is switched on
 *
 * Context: Linux process; may sleep.
 * Return: 0, -ENOMEM.
 */
int rt_exec_init(void);

/**
 * rt_exec_exit - the reverse; after the pipeline is switched off, nothing is in use
 *
 * Context: Linux process; may sleep.
 */
void rt_exec_exit(void);

#endif
