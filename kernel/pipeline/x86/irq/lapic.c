// SPDX-License-Identifier: GPL-2.0-only
/*
 * The local APIC's timer. Linux has chosen its mode and set it up; here only the moment
 * of the interrupt and its vector are written.
 *
 * A count-down's rate is measured anew. Linux measured it once, early at boot, against the rate
 * that it believed the TSC to have then; the TSC's is refined later, and the timer's is not. RT's
 * clock is the TSC, and each wait would be off by the difference.
 */
#include <linux/clockchips.h>
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <asm/apic.h>
#include "compat/hrtimer.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/irq/count_rate.h"
#include "pipeline/x86/irq/deadline.h"
#include "pipeline/x86/client.h"
#include "pipeline/x86/irq/lapic.h"
#include "pipeline/x86/patch/symbols.h"

/*
 * Arming a count-down is taken to last for so long at most. An interrupt that comes early by as
 * much is not too early yet where its handler reads the clock; a write of the APIC that ends in a
 * hypervisor takes longer, and nobody knows when in it the count-down begins.
 */
#define ARMING_MOST_NS 100ULL
#define ARMINGS 8

#define STRETCHES 33
#define STRETCH_NS 500000
#define LOOKS_NS 10000		/* the end of a stretch, which is looked for without a break */
#define STRETCH_TRIES (8 * STRETCHES)
#define EDGE_NS 100000		/* a count lasts for less: 128 of a bus clock of 2 MHz */
#define LINUX_PPM 20000		/* that Linux's figure may be off; it accepts 1 % for the TSC's */

static struct clock_event_device __percpu *events;
static bool by_deadline;
static u64 rate;	/* of the count-down; one for all CPUs, as to Linux */

/* ---- a count-down ---- */

/* From the reading of the clock to the begin of the count-down, at least. */
static DEFINE_PER_CPU(u32, arming_ns);

static void count_arm(u64 wait_ns)
{
	u32 gone = this_cpu_read(arming_ns);

	/* Rounded up: an interrupt that comes early would only have to be armed again. */
	wait_ns = likely(wait_ns > gone) ? wait_ns - gone : 0;
	pl_apic->write(APIC_TMICT, (u32)(wait_ns * rate >> PL_RATE_SHIFT) + 1);
}

static void count_disarm(void)
{
	pl_apic->write(APIC_TMICT, 0);
}

static u64 count_left_ns(void)
{
	return ((u64)pl_apic->read(APIC_TMCCT) << PL_RATE_SHIFT) / rate;
}

volatile u32 *pl_lapic_register(u32 reg)
{
	if ((unsigned long)pl_apic->write != pl_symbol_try("native_apic_mem_write"))
		return NULL;
	return (volatile u32 *)(APIC_BASE + reg);
}

/* As count_arm(), or by one store. */
static void start(const struct pl_countdown *down, u64 now)
{
	if (down->at)
		pl_countdown_start(down, now + PL_COUNT_LONGEST_NS, now);
	else
		count_arm(PL_COUNT_LONGEST_NS);
}

/* The least time from one reading of the clock to the next, with or without an arming between. */
static u32 least_ns(const struct pl_countdown *down)
{
	u64 least = U64_MAX, before;

	for (int i = 0; i < ARMINGS; i++) {
		before = pl_tsc_clock();
		if (down)
			start(down, before);
		least = min(least, pl_tsc_clock() - before);
	}
	return min(least, ARMING_MOST_NS);
}

void pl_lapic_countdown(struct pl_countdown *down)
{
	u32 reading, both;

	*down = (struct pl_countdown) {};
	if (by_deadline)
		return;
	*down = (struct pl_countdown) { .at = pl_lapic_register(APIC_TMICT), .rate = rate };
	this_cpu_write(arming_ns, 0);
	reading = least_ns(NULL);
	both = least_ns(down);
	down->gone = both - min(both, reading);
	this_cpu_write(arming_ns, down->gone);
}

static const struct pl_shot count_shot = { "lapic", PL_COUNT_LONGEST_NS, count_arm, count_disarm };

/* ---- the count-down's rate. Context: Linux process, pre-emption off. ---- */

struct edge {
	u64 ns;		/* of pl_tsc_clock() */
	u32 count, start;
};

/* Wait until the count changes: with slow counts that is known far better than the count is. */
static bool find_edge(struct edge *edge)
{
	unsigned long flags = pl_hard_save();
	u64 end = pl_tsc_clock() + EDGE_NS;
	u32 before = pl_apic->read(APIC_TMCCT);

	do {
		edge->ns = pl_tsc_clock();
		edge->count = pl_apic->read(APIC_TMCCT);
	} while (before && edge->count == before && edge->ns < end);
	edge->start = pl_apic->read(APIC_TMICT);
	pl_hard_restore(flags);
	return edge->count && edge->count < before;
}

/* Return: the rate over one stretch of time; 0 if the timer ended or was started anew in it. */
static u64 stretch(void)
{
	struct edge first, last;

	if (!find_edge(&first))
		return 0;
	while (pl_tsc_clock() - first.ns < STRETCH_NS - LOOKS_NS)
		pl_dally();
	while (pl_tsc_clock() - first.ns < STRETCH_NS)
		cpu_relax();
	if (!find_edge(&last) || last.start != first.start || last.count >= first.count)
		return 0;
	return pl_rate(first.count - last.count, last.ns - first.ns);
}

static enum hrtimer_restart never(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

/* As stretch(), while Linux has something to count down for: it may have stopped its tick. */
static u64 counting_stretch(void)
{
	static struct hrtimer timer;	/* one load at a time */
	u64 found;

	compat_hrtimer_setup(&timer, never, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	preempt_disable();
	hrtimer_start(&timer, ns_to_ktime(8 * STRETCH_NS), HRTIMER_MODE_REL_PINNED_HARD);
	found = stretch();
	hrtimer_cancel(&timer);
	preempt_enable();
	return found;
}

static u64 measured_rate(void)
{
	unsigned int count = 0;
	u64 rates[STRETCHES];

	for (unsigned int tries = 0; tries < STRETCH_TRIES && count < STRETCHES; tries++) {
		rates[count] = counting_stretch();
		count += rates[count] != 0;
		cond_resched();
	}
	return count == STRETCHES ? pl_rate_mean(rates, count) : 0;
}

int pl_lapic_find_rate(void)
{
	const struct clock_event_device *dev = raw_cpu_ptr(events);
	u64 by_linux = ((u64)dev->mult << PL_RATE_SHIFT) >> dev->shift;
	s64 ppm;

	if (by_deadline)
		return 0;
	rate = measured_rate();
	if (!rate) {
		pr_warn("the APIC timer's rate cannot be measured (a busy hypervisor?): Linux's figure is used\n");
		rate = by_linux;
	}
	ppm = pl_rate_differs(rate, by_linux);
	if (abs(ppm) > LINUX_PPM) {
		pr_err("refused: the APIC's timer runs %lld ppm off the rate that Linux has for it; nothing was changed\n",
		       ppm);
		return -EOPNOTSUPP;
	}
	pr_info("the APIC's timer runs %lld ppm off the rate that Linux has for it\n", ppm);
	return 0;
}

/* ---- a deadline: the TSC's value at which to interrupt; arithmetic in deadline.c ---- */

static const struct pl_shot deadline_shot = {
	"tsc-deadline", PL_DEADLINE_LONGEST_NS, pl_deadline_arm, pl_deadline_disarm
};

/* ---- either ---- */

u64 pl_lapic_left_ns(void)
{
	return by_deadline ? pl_deadline_left_ns() : count_left_ns();
}

void pl_lapic_use_vector(u8 vector)
{
	u32 lvtt = pl_apic->read(APIC_LVTT);

	/*
	 * Unmasked: Linux masks a timer that it has stopped, as on an idle nohz_full CPU, and its
	 * own functions, which would unmask it, do not run while the timer is ours.
	 */
	pl_apic->write(APIC_LVTT, (lvtt & ~(APIC_VECTOR_MASK | APIC_LVT_MASKED)) | vector);
}

struct clock_event_device *pl_lapic_events(int cpu)
{
	return per_cpu_ptr(events, cpu);
}

const struct pl_shot *pl_lapic_find(void)
{
	events = (void __percpu __force *)pl_symbol("lapic_events");
	if (!events)
		return NULL;
	by_deadline = (pl_apic->read(APIC_LVTT) & APIC_LVT_TIMER_TSCDEADLINE) ==
		      APIC_LVT_TIMER_TSCDEADLINE;
	return by_deadline ? &deadline_shot : &count_shot;
}
