/* SPDX-License-Identifier: GPL-2.0-only */
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
 * pl_idle_add - add the places from which the CPU is put to sleep to the kernel's slots
 *
 * Context: Linux process; may sleep; pl_texts_mutex held, pl_kernel_text scanned.
 * Return: 0, -ENOMEM, or -EOPNOTSUPP after a line in the log.
 */
int pl_idle_add(void);

/** pl_idle_recheck - a module came up: warn if it has brought a cpuidle driver that is not known */
void pl_idle_recheck(void);

#endif
