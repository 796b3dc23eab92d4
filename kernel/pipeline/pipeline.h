/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pipeline as the executive sees it: a clock, one one-shot event per CPU, an
 * IPI, and the way into the out-of-band stage. Private to tactus.ko.
 */
#ifndef _TACTUS_PIPELINE_H
#define _TACTUS_PIPELINE_H

#include <linux/types.h>

/**
 * struct pl_client - the executive's entries into the out-of-band stage
 * @timer: the CPU's one-shot event is due
 * @ipi: another CPU called pl_ipi()
 * @resched: last call before an out-of-band interrupt returns; may switch stacks
 *	to an RT task and comes back when that (or Linux) is resumed
 *
 * All are called out-of-band, hardware interrupts off, on the CPU concerned.
 */
struct pl_client {
	void (*timer)(void);
	void (*ipi)(void);
	void (*resched)(void);
};

/* Hardware interrupt flag. Context: any. These are the only cli and sti of the executive. */
static __always_inline unsigned long pl_hard_save(void)
{
	unsigned long flags;

	asm volatile("pushfq; popq %0; cli" : "=r" (flags) : : "memory");
	return flags;
}

static __always_inline void pl_hard_restore(unsigned long flags)
{
	if (flags & (1UL << 9))
		asm volatile("sti" : : : "memory");
}

static __always_inline bool pl_hard_disabled(void)
{
	unsigned long flags;

	asm volatile("pushfq; popq %0" : "=r" (flags) : : "memory");
	return !(flags & (1UL << 9));
}

/** pl_clock - TSC-based time, ns. Context: any. */
u64 pl_clock(void);

/**
 * pl_timer_arm - set this CPU's next out-of-band event
 * @when: ns of pl_clock(); U64_MAX for none; the past means at once
 *
 * Context: any, hardware interrupts off.
 */
void pl_timer_arm(u64 when);

/**
 * pl_ipi - have pl_client.ipi called on another CPU
 *
 * Context: any.
 */
void pl_ipi(int cpu);

/** pl_oob - is this CPU in the out-of-band stage? Context: any. */
bool pl_oob(void);

/** pl_in_irq - is an RT interrupt handler on this CPU's stack? Context: any. */
bool pl_in_irq(void);

/**
 * pl_run_oob - from Linux, run @fn(@arg) out-of-band on this CPU, then
 * pl_client.resched(), then go back in-band and replay what came meanwhile
 *
 * @fn runs with hardware interrupts off; it may be NULL (reschedule only).
 * From out-of-band code it is just the call of @fn, with hardware interrupts off.
 *
 * Context: any but NMI.
 */
void pl_run_oob(void (*fn)(void *arg), void *arg);

#endif
