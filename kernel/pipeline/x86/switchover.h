/* SPDX-License-Identifier: GPL-2.0-only */
/* The switch-over. Private to pipeline/x86. */
#ifndef _TACTUS_SWITCH_H
#define _TACTUS_SWITCH_H

#include <linux/atomic.h>
#include <linux/types.h>
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/pipeline.h"

extern u64 pl_pause_ns;			/* how long the last switch-over stopped Linux */
/* Interrupts given to Linux at the last switch-off. */
extern atomic_t pl_handed_edge, pl_handed_level;

/*
 * pl_serve_cpu, pl_leave_cpu - take this CPU's timer for RT, and give it back
 *
 * Context: this CPU, hardware interrupts off, Linux stalled.
 */
void pl_serve_cpu(void *unused);
void pl_leave_cpu(void *unused);

/*
 * pl_stalled - call @fn(@arg) with hardware interrupts off and Linux stalled, see pl_stall()
 *
 * Context: any but NMI.
 */
static __always_inline void pl_stalled(void (*fn)(void *arg), void *arg)
{
	unsigned long flags = pl_hard_save();
	u8 vif = pl_stall();

	fn(arg);
	pl_unstall(vif);
	pl_hard_restore(flags);
}

/**
 * pl_hand_over - give this CPU's logged interrupts back to the APIC, for Linux to get natively
 *
 * Context: this CPU, hardware interrupts off: switched off, or dying.
 */
void pl_hand_over(void);

/*
 * pl_switch_over - switch the pipeline on or off on all CPUs
 *
 * Context: Linux process; may sleep; pl_texts_mutex held.
 * Return: 0, or -EBUSY after a line in the log; then nothing was changed.
 */
int pl_switch_over(bool on);

#endif
