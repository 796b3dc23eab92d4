/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps CPUs out of deep idle states while there are periodic tasks. Call rt_idle_look() after a
 * task has gone, rt_exec_mutex held, and rt_idle_look_later(), from any context, after one became
 * periodic.
 */
#ifndef _TACTUS_EXEC_QOS_H
#define _TACTUS_EXEC_QOS_H

void rt_idle_init(void);
void rt_idle_exit(void);
void rt_idle_look(void);
void rt_idle_look_later(void);

#endif
