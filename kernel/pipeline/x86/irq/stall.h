/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts that wait for Linux for too long. Private to pipeline/x86. */
#ifndef _TACTUS_STALL_H
#define _TACTUS_STALL_H

/**
 * pl_stall_watch - look at each CPU once a second from now on
 *
 * Context: Linux process; may sleep.
 * Return: 0.
 */
int pl_stall_watch(void);

/** pl_stall_ignore - the reverse. Context: Linux process; may sleep. */
void pl_stall_ignore(void);

/** pl_stall_look - look at this CPU now. Context: RT interrupt. */
void pl_stall_look(void);

#endif
