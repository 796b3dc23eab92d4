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

#include <asm/processor-flags.h>

#include <rt/context.h>
#include "pipeline/pipeline.h"
#include "sched/core.h"
#include "exec/hardlock.h"

/**
 * struct rt_cpu - one CPU
 * @lock: of all of it
 * @rq: tasks and timers
 * @inband: where Linux left off, while a task runs
 * @prev: the task that was just switched from, until that is complete
 * @firing: the users' timer whose function runs now
 * @expiring: the timer's pass is not over; it will arm the timer
 * @present: has tasks and timers
 * @slow_picks: how often in a row the policy took too long to pick
 * @fp_away, @fp_owner, @fp_linux, @fp_barred: floating point; see fp.c
 */
struct rt_cpu {
	struct hardlock lock;
	struct rt_rq rq;
	struct rt_frame inband;
	RT_TASK *prev;
	struct rt_timer *firing;
	bool expiring;
	bool present;
	bool fp_away, fp_barred;
	u8 slow_picks;
	RT_TASK *fp_owner;
	void *fp_linux;
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
ssize_t rt_timing_show(char *buf);

/** rt_events_read - lines of RT_EVENT_LINE bytes, CPU after CPU, oldest first; whole lines only */
#define RT_EVENT_LINE 51
ssize_t rt_events_read(char *buf, loff_t offset, size_t count);
ssize_t rt_policy_show(char *buf);

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

/* exec/reap.c: RT code's deletions, and modules that leave tasks behind. */
int rt_reap_init(void);
void rt_reap_exit(void);
void rt_reap_later(RT_TASK *task);
void rt_reap_forget(RT_TASK *task);

/*
 * exec/qos.c: keeps CPUs out of deep idle states while there are periodic tasks. To be told after
 * a task has gone, rt_exec_mutex held; and, from any context, after one became periodic.
 */
void rt_idle_init(void);
void rt_idle_exit(void);
void rt_idle_look(void);
void rt_idle_look_later(void);

/* exec/printk.c */
int rt_printk_init(void);
void rt_printk_exit(void);

/* exec/fp.c; the last two under the CPU's lock, hardware interrupts off. */
#define RT_FP_ALIGN_BYTES 64
extern unsigned int rt_fp_bytes;	/* of a task's fp_area */
void rt_fp_measure(void);

extern bool rt_fp_trap;

/* @next is a task that uses floating point, or NULL for Linux, and not in the registers yet. */
void rt_fp_exchange(struct rt_cpu *cpu, RT_TASK *next);

/* Make floating point instructions fault, or not. */
static __always_inline void rt_fp_bar(struct rt_cpu *cpu, bool on)
{
	unsigned long cr0;

	if (cpu->fp_barred == on)
		return;
	cpu->fp_barred = on;
	if (!on) {
		asm volatile("clts" : : : "memory");
		return;
	}
	asm volatile("mov %%cr0, %0" : "=r" (cr0));
	asm volatile("mov %0, %%cr0" : : "r" (cr0 | X86_CR0_TS) : "memory");
}

/** rt_fp_switch - @next (NULL: Linux) runs from now on. Context: its CPU. */
static __always_inline void rt_fp_switch(struct rt_cpu *cpu, RT_TASK *next)
{
	if (next && !next->uses_fp) {
		rt_fp_bar(cpu, rt_fp_trap);
		return;
	}
	rt_fp_bar(cpu, false);
	if (unlikely(next ? next != cpu->fp_owner : cpu->fp_away))
		rt_fp_exchange(cpu, next);
}

/** rt_fp_forget - @task's registers are not needed any more. Context: any CPU. */
void rt_fp_forget(struct rt_cpu *cpu, const RT_TASK *task);

/* exec/objects.c: the lock of all objects, before any CPU's; a wait that has lasted too long */
void rt_sync_lock(void);
void rt_sync_unlock(void);
void rt_sync_timeout(RT_TASK *task);

/* exec/life.c; rt_exec_mutex held. */
void rt_task_free(RT_TASK *task);

/** rt_task_end - the calling task is dead; does not return. Context: RT task. */
void rt_task_end(RT_TASK *task);

/* exec/fault.c */
bool rt_exec_fault(struct pl_fault *fault);
void rt_fault_init(void);
void rt_fault_exit(void);

/* exec/timer.c: is it running, on any CPU? */
bool rt_timer_is_firing(const struct rt_timer *timer);

/* exec/timer.c: forget timers of a module that is unloaded. */
void rt_timers_sweep(struct module *module);

/* exec/admit.c; rt_exec_mutex held, but for the first. */
enum rt_admission { RT_ADMISSION_OFF, RT_ADMISSION_WARN, RT_ADMISSION_ENFORCE };
extern enum rt_admission rt_admission;

/* What a task is admitted by, ns. */
struct rt_figures {
	RTIME period, deadline, budget;
};

static inline struct rt_figures rt_figures_of(const RT_TASK *task)
{
	return (struct rt_figures) { task->period, task->relative_deadline, task->budget };
}

/** rt_admission_init - read the parameters; 0 or -EINVAL after a line in the log */
int rt_admission_init(void);

/**
 * rt_admit - would the tasks of @cpu fit under @ops?
 * @changed: the one whose figures are to be @new, or NULL
 *
 * Context: Linux process; may sleep.
 * Return: 0, also if they do not but may nevertheless; -ENOSPC. The log says why.
 */
int rt_admit(struct rt_cpu *cpu, const struct rt_sched_ops *ops, const RT_TASK *changed,
	     const struct rt_figures *new);

/* exec/registry.c */
void rt_sched_sweep(struct module *module);
void rt_sched_report(void);
void rt_sched_init(void);

/** rt_sched_join - give an idle CPU to the active policy. Context: Linux, rt_exec_mutex held. */
void rt_sched_join(struct rt_cpu *cpu);

void rt_sched_exit(void);

/* exec/switch.S */
void rt_switch(struct rt_frame *from, struct rt_frame *to);
extern char rt_task_entry[];

static inline struct rt_cpu *rt_cpu_of(int cpu)
{
	return per_cpu_ptr(&rt_cpus, cpu);
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

#endif
