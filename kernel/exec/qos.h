/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps CPUs out of deep idle states while there is RT code. Call rt_idle_look(), rt_exec_mutex
 * held, after a task has come or gone. Call rt_idle_look_later(), from any context, after a user's
 * timer was started while @rt_idle_bounded, read under the lock of its CPU, was false.
 */
#ifndef _TACTUS_EXEC_QOS_H
#define _TACTUS_EXEC_QOS_H

#include <linux/types.h>

extern bool rt_idle_bounded;	/* there was RT code at the last look */

void rt_idle_init(void);
void rt_idle_exit(void);
void rt_idle_look(void);
void rt_idle_look_later(void);

#endif
