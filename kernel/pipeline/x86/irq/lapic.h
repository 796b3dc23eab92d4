/* SPDX-License-Identifier: GPL-2.0-only */
/* The local APIC's timer, one-shot in either of its two modes. Private to pipeline/x86. */
#ifndef _TACTUS_LAPIC_H
#define _TACTUS_LAPIC_H

#include "pipeline/shot.h"
#include "pipeline/x86/irq/count_rate.h"

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

/* Well inside 32 bits of timer ticks. */
#define PL_COUNT_LONGEST_NS (1ULL << 30)

/*
 * struct pl_countdown - a count-down that one store starts
 * @at: where; NULL: it is not started so
 * @rate: of the count, << PL_RATE_SHIFT
 * @gone: from the reading of the clock to its begin, at least; ns
 */
struct pl_countdown {
	volatile u32 *at;
	u64 rate;
	u32 gone;
};

/*
 * pl_countdown_start - interrupt at @next; @now has just been read
 *
 * Rounded up: an interrupt that comes early would only have to be armed again.
 *
 * Context: this CPU, hardware interrupts off.
 */
static __always_inline void pl_countdown_start(const struct pl_countdown *down, u64 next, u64 now)
{
	u64 wait = 0;

	now += down->gone;
	if (likely(next > now))
		wait = min(next - now, PL_COUNT_LONGEST_NS);
	*down->at = (u32)(wait * down->rate >> PL_RATE_SHIFT) + 1;
}

/*
 * pl_lapic_countdown - the timer's count-down as @down, if it is one; find out how much later than
 * asked for it begins
 *
 * From then on each wait is shorter by that. Leaves the timer armed.
 *
 * Context: this CPU, hardware interrupts off; the timer is ours, its rate known.
 */
void pl_lapic_countdown(struct pl_countdown *down);

/**
 * pl_lapic_register - where one store does what the APIC driver's write does
 * @reg: to this register
 *
 * Context: any; the APIC driver is known.
 * Return: the register, or NULL: nowhere.
 */
volatile u32 *pl_lapic_register(u32 reg);

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
