/* SPDX-License-Identifier: GPL-2.0-only */
/* The rings of events, one a CPU, and /sys/kernel/tactus/trace/ that governs them. */
#ifndef _TACTUS_EXEC_TRACE_H
#define _TACTUS_EXEC_TRACE_H

#include <linux/types.h>
#include <rt/task.h>

struct kobject;
struct rt_cpu;

/**
 * rt_trace_cpu_comes - a ring for a CPU, if there are rings
 * @cpu: the CPU, which is not locked
 *
 * Context: Linux process; may sleep.
 * Return: 0, -ENOMEM.
 */
int rt_trace_cpu_comes(struct rt_cpu *cpu);

/** rt_trace_cpu_leaves - the reverse; nothing is noted for @cpu any more. Context: as above. */
void rt_trace_cpu_leaves(struct rt_cpu *cpu);

/** rt_trace_pause - nothing is noted until it is said again. Context: Linux process. */
void rt_trace_pause(bool pause);

/**
 * rt_trace_task_leaves - keep the name of a task for its events
 * @task: which is not among its CPU's any more
 *
 * Context: Linux process; rt_exec_mutex held.
 */
void rt_trace_task_leaves(const RT_TASK *task);

/** rt_events_read - lines of RT_EVENT_LINE bytes, CPU after CPU, oldest first */
#define RT_EVENT_LINE 100
ssize_t rt_events_read(char *buf, loff_t offset, size_t count);

/**
 * rt_trace_init - make the folder trace
 * @parent: where; it goes with that
 *
 * Context: Linux process; may sleep.
 * Return: 0, -ENOMEM.
 */
int rt_trace_init(struct kobject *parent);

/** rt_trace_exit - take it away. Context: as above. */
void rt_trace_exit(void);

#endif
