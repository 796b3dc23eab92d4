/* SPDX-License-Identifier: GPL-2.0-only */
/* Policies come and go. */
#ifndef _TACTUS_EXEC_REGISTRY_H
#define _TACTUS_EXEC_REGISTRY_H

#include "exec/cpu.h"

struct module;

void rt_sched_sweep(struct module *module);
void rt_sched_report(void);
void rt_sched_init(void);

/** rt_sched_supervise - set the limits for policies of a new @rq, which has the built-in one */
void rt_sched_supervise(struct rt_rq *rq);

/** rt_sched_join - give an idle CPU to the active policy. Context: Linux, rt_exec_mutex held. */
void rt_sched_join(struct rt_cpu *cpu);

void rt_sched_exit(void);

/** rt_policy_show - the active policy, for the status. Context: Linux process; may sleep. */
ssize_t rt_policy_show(char *buf);

#endif
