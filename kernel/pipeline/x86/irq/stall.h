/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts that wait for Linux for too long. Private to pipeline/x86. */
#ifndef _TACTUS_STALL_H
#define _TACTUS_STALL_H

struct pt_regs;

/**
 * pl_stall_watch - look at each CPU once a second from now on
 *
 * Context: Linux process; may sleep.
 * Return: 0.
 */
int pl_stall_watch(void);

/** pl_stall_ignore - the reverse. Context: Linux process; may sleep. */
void pl_stall_ignore(void);

/** pl_stall_look - look at this CPU now, see pl_hooks.stalled */
void pl_stall_look(const struct pt_regs *regs);

#endif
