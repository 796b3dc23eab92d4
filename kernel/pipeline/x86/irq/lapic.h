/* SPDX-License-Identifier: GPL-2.0-only */
/* The local APIC's timer, one-shot in either of its two modes. Private to pipeline/x86. */
#ifndef _TACTUS_LAPIC_H
#define _TACTUS_LAPIC_H

#include "pipeline/shot.h"

struct clock_event_device;

/**
 * pl_lapic_find - find the timer, and which mode Linux has put it in
 *
 * Context: Linux process; may sleep.
 * Return: the shot, or NULL after a line in the log.
 */
const struct pl_shot *pl_lapic_find(void);

/**
 * pl_lapic_find_rate - measure how fast the timer counts, if it is a count-down, by the TSC
 *
 * Takes some 20 ms.
 *
 * Context: Linux process; may sleep; every CPU's timer is one-shot, the clock is known.
 * Return: 0, or -EOPNOTSUPP after a line in the log: it is far from Linux's figure.
 */
int pl_lapic_find_rate(void);

/*
 * pl_lapic_measure_arming - find out how much later than asked for a count-down begins
 *
 * From then on each wait is shorter by that. Leaves the timer armed.
 *
 * Context: this CPU, hardware interrupts off; the timer is ours, its rate known.
 */
void pl_lapic_measure_arming(void);

/** pl_lapic_events - Linux's clock event device of @cpu. Context: any. */
struct clock_event_device *pl_lapic_events(int cpu);

/**
 * pl_lapic_left_ns - until the interrupt that was asked for last; 0 if it was due or there
 * is none
 *
 * Context: this CPU, hardware interrupts off.
 */
u64 pl_lapic_left_ns(void);

/** pl_lapic_use_vector - unmask the interrupt and have it come on @vector. Context: as above. */
void pl_lapic_use_vector(u8 vector);

#endif
