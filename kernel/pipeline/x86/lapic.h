/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The local APIC's one-shot timer: RT events in front, Linux's tick as its client.
 * Private to pipeline/x86.
 */
#ifndef _TACTUS_LAPIC_H
#define _TACTUS_LAPIC_H

#include <linux/types.h>

/**
 * pl_lapic_find - find the timer and check that it can be shared
 *
 * Context: Linux process; may sleep.
 * Return: 0, or -EOPNOTSUPP after a line in the log.
 */
int pl_lapic_find(void);

/**
 * pl_lapic_take, pl_lapic_release - on this CPU, make Linux's tick our client, and back
 *
 * Context: inside the switch-over, hardware interrupts off.
 */
void pl_lapic_take(void);
void pl_lapic_release(void);

/**
 * pl_lapic_use_vector - have this CPU's timer interrupt come on @vector
 *
 * Context: Linux, hardware interrupts off; the pipeline is on.
 */
void pl_lapic_use_vector(u8 vector);

/**
 * pl_lapic_due - the out-of-band vector arrived; calls pl_client.timer() if RT's event is due
 *
 * Context: RT interrupt.
 * Return: whether Linux's event is due.
 */
bool pl_lapic_due(void);

/** pl_timer_name - which one-shot device is in use, for the status */
const char *pl_timer_name(void);

/** pl_lapic_ready - is Linux's tick on every CPU in a state that can be taken over? */
bool pl_lapic_ready(int cpu);

#endif
