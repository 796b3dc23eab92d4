// SPDX-License-Identifier: GPL-2.0-only
/*
 * The local APIC's timer. Linux has chosen its mode and set it up; here only the moment
 * of the interrupt and its vector are written.
 */
#include <linux/clockchips.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <asm/apic.h>
#include "pipeline/x86/irq/deadline.h"
#include "pipeline/x86/client.h"
#include "pipeline/x86/irq/lapic.h"
#include "pipeline/x86/patch/symbols.h"

/* Well inside 32 bits of timer ticks. */
#define COUNT_LONGEST_NS (1ULL << 30)

static struct clock_event_device __percpu *events;
static bool by_deadline;

/* ---- a count-down ---- */

static void count_arm(u64 wait_ns)
{
	const struct clock_event_device *dev = this_cpu_ptr(events);

	/* Rounded up: an interrupt that comes early would only have to be armed again. */
	pl_apic->write(APIC_TMICT, (u32)((wait_ns * dev->mult) >> dev->shift) + 1);
}

static void count_disarm(void)
{
	pl_apic->write(APIC_TMICT, 0);
}

static u64 count_left_ns(void)
{
	const struct clock_event_device *dev = this_cpu_ptr(events);

	return div_u64((u64)pl_apic->read(APIC_TMCCT) << dev->shift, dev->mult);
}

static const struct pl_shot count_shot = { "lapic", COUNT_LONGEST_NS, count_arm, count_disarm };

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
