/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The executive's own view of itself: one struct rt_cpu for each CPU.
 *
 * Everything in it is touched with hardware interrupts off and its lock held; only
 * its own CPU switches, and arms the timer. Who changes another CPU's rq sends it an
 * IPI when that matters to it. Linux code that creates, deletes and lists tasks or swaps policies
 * holds rt_exec_mutex; the list of a CPU's tasks changes under both.
 */
#ifndef _TACTUS_EXEC_H
#define _TACTUS_EXEC_H

#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include <rt/context.h>
#include "pipeline/pipeline.h"
#include "sched/core.h"
#include "sched/hardlock.h"

/**
 * struct rt_cpu - one CPU
 * @lock: of all of it
 * @rq: tasks and timers
 * @inband: where Linux left off, while a task runs
 * @prev: the task that was just switched from, until that is complete
 * @firing: the users' timer whose function runs now
 * @expiring: the timer's pass is not over; it will arm the timer
 * @present: has tasks and timers
 */
struct rt_cpu {
	struct hardlock lock;
	struct rt_rq rq;
	struct rt_frame inband;
	RT_TASK *prev;
	struct rt_timer *firing;
	bool expiring;
	bool present;
} ____cacheline_aligned;

DECLARE_PER_CPU(struct rt_cpu, rt_cpus);
extern struct mutex rt_exec_mutex;

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

/* For /sys/kernel/tactus/. Context: Linux process; may sleep. */
ssize_t rt_tasks_show(char *buf);
ssize_t rt_policy_show(char *buf);

/** rt_exec_resched - let the right task run; returns when the caller may go on
 *
 * Context: out-of-band, hardware interrupts off.
 */
void rt_exec_resched(void);

/** rt_exec_arm - set the timer if the first moment changed
 *
 * Context: hardware interrupts off, @cpu is this one, its lock held.
 */
void rt_exec_arm(struct rt_cpu *cpu);

/**
 * rt_exec_run - have @fn(@arg) called out-of-band, hardware interrupts off, then reschedule
 *
 * Context: any but NMI.
 */
void rt_exec_run(void (*fn)(void *arg), void *arg);

/** rt_exec_note_lateness - the running task's job has just begun */
void rt_exec_note_lateness(RT_TASK *task);

/** rt_exec_poke - another CPU's rq has changed. Context: any, hardware interrupts off. */
void rt_exec_poke(int cpu);

/*
 * rt_assert - in debug builds, warn (once, from Linux) if @cond does not hold
 *
 * Context: any.
 */
#ifdef TACTUS_DEBUG
void rt_assert_failed(const char *where, const char *what);
#define rt_assert(cond)							\
	do {								\
		if (unlikely(!(cond)))					\
			rt_assert_failed(__func__, #cond);		\
	} while (0)
#else
#define rt_assert(cond) do { } while (0)
#endif

/* task/reap.c: RT code's deletions, and modules that leave tasks behind. */
int rt_reap_init(void);
void rt_reap_exit(void);
void rt_reap_later(RT_TASK *task);
void rt_reap_forget(RT_TASK *task);

/* task/printk.c */
int rt_printk_init(void);
void rt_printk_exit(void);

/* task/sync.c: the lock of all objects, before any CPU's; a wait that has lasted too long */
void rt_sync_lock(void);
void rt_sync_unlock(void);
void rt_sync_timeout(RT_TASK *task);

/* task/task.c; rt_exec_mutex held. */
void rt_task_free(RT_TASK *task);

/* timer/timer.c: is it running, on any CPU? */
bool rt_timer_is_firing(const struct rt_timer *timer);

/* timer/timer.c: forget timers of a module that is unloaded. */
void rt_timers_sweep(struct module *module);

/* sched/registry.c */
void rt_sched_sweep(struct module *module);
void rt_sched_report(void);
void rt_sched_init(void);
void rt_sched_exit(void);

/* task/switch.S */
void rt_switch(struct rt_frame *from, struct rt_frame *to);
extern char rt_task_entry[];

static inline struct rt_cpu *rt_cpu_of(int cpu)
{
	return per_cpu_ptr(&rt_cpus, cpu);
}

#endif
