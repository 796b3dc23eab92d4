/* SPDX-License-Identifier: GPL-2.0-only */
/* RT timers, as the rest of the executive needs them. */
#ifndef _TACTUS_EXEC_TIMER_H
#define _TACTUS_EXEC_TIMER_H

#include <rt/timer.h>

struct module;

/** rt_timer_is_firing - does its function run now, on any CPU? Context: any. */
bool rt_timer_is_firing(const struct rt_timer *timer);

/** rt_timers_sweep - forget timers of a module that is unloaded. Context: Linux process. */
void rt_timers_sweep(struct module *module);

#endif
