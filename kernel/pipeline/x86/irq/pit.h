/* SPDX-License-Identifier: GPL-2.0-only */
/* Channel 0 of the 8254 as a one-shot timer (thesis, 3.4). Private to pipeline/x86. */
#ifndef _TACTUS_PIT_H
#define _TACTUS_PIT_H

#include "pipeline/x86/irq/shot.h"

/**
 * pl_pit_find - check that Linux leaves the 8254 and interrupt 0 to us
 * @cpu: gets the CPU that interrupt 0 comes to
 *
 * Context: Linux process; may sleep.
 * Return: the shot, or NULL after a line in the log.
 */
const struct pl_shot *pl_pit_find(int *cpu);

/*
 * pl_pit_own - have interrupt 0 call @handler while the pipeline is on; pl_pit_disown() ends it
 *
 * Context: Linux process; may sleep.
 * Return: 0, -EBUSY or -ENOMEM.
 */
int pl_pit_own(void (*handler)(void));
void pl_pit_disown(void);

/*
 * pl_pit_take, pl_pit_release - put the channel into interrupt-on-terminal-count mode, and back
 *
 * Context: the CPU that interrupt 0 comes to, hardware interrupts off.
 */
void pl_pit_take(void);
void pl_pit_release(void);

#endif
