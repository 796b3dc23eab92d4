/* SPDX-License-Identifier: GPL-2.0 */
/* Idle by mwait and by cpuidle drivers, made safe for a stalled Linux. Private to pipeline/x86. */
#ifndef _TACTUS_IDLE_H
#define _TACTUS_IDLE_H

/**
 * pl_idle_find - check how this machine idles
 *
 * Context: Linux process; may sleep.
 * Return: 0, or -EOPNOTSUPP after a line in the log.
 */
int pl_idle_find(void);

/**
 * pl_idle_wrap, pl_idle_unwrap - put our wrappers around the idle functions, and take
 * them off
 *
 * The wrappers only pass through while the pipeline is off, so wrap before and
 * unwrap after.
 *
 * Context: Linux process; may sleep.
 */
void pl_idle_wrap(void);
void pl_idle_unwrap(void);

/** pl_idle_recheck - a module came up: it may have brought a cpuidle driver */
void pl_idle_recheck(void);

#endif
