// SPDX-License-Identifier: GPL-2.0
/*
 * One one-shot timer, two users (thesis, 3.4): the earlier of RT's next event and
 * Linux's is programmed. When Linux's is due its interrupt is simulated by logging
 * the tick's vector.
 *
 * Linux's side is taken over by swapping the callbacks of its clock event device;
 * while taken, nobody else writes the timer's registers.
 *
 * Per CPU, touched by that CPU with hardware interrupts off.
 */
#define pr_fmt(fmt) "tactus: " fmt

#include <linux/clockchips.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/tsc.h>
#include "compat/compat.h"
#include "pipeline/core.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/install.h"
#include "pipeline/x86/lapic.h"
#include "pipeline/x86/symbols.h"

#define NEVER U64_MAX
#define NS_SHIFT 32
/* The longest shot, ns: well inside 32 bits of timer ticks; a longer wait takes several. */
#define LONGEST_NS (1ULL << 30)

struct lapic {
	u64 rt_next, linux_next;	/* ns of pl_clock(), or NEVER */
	bool handling;			/* inside pl_lapic_due(): it programs at its end */
	struct clock_event_device saved;
};

static DEFINE_PER_CPU(struct lapic, lapic) = { .rt_next = NEVER, .linux_next = NEVER };
static struct clock_event_device __percpu *events;
static u64 ns_per_tsc;		/* << NS_SHIFT */

/* Context: any. */
u64 pl_clock(void)
{
	return mul_u64_u64_shr(rdtsc(), ns_per_tsc, NS_SHIFT);
}

static void program(struct lapic *t)
{
	const struct clock_event_device *dev = this_cpu_ptr(events);
	u64 next = min(t->rt_next, t->linux_next), now, wait;

	if (next == NEVER) {
		pl_apic->write(APIC_TMICT, 0);
		return;
	}
	now = pl_clock();
	wait = next > now ? min(next - now, LONGEST_NS) : 0;
	/* Rounded up: an interrupt that comes early would only have to be armed again. */
	pl_apic->write(APIC_TMICT, (u32)((wait * dev->mult) >> dev->shift) + 1);
}

/* Context: any, hardware interrupts off. */
void pl_timer_arm(u64 when)
{
	struct lapic *t = this_cpu_ptr(&lapic);

	if (t->rt_next == when)
		return;
	t->rt_next = when;
	if (!t->handling)
		program(t);
}

bool pl_lapic_due(void)
{
	struct lapic *t = this_cpu_ptr(&lapic);
	u64 now = pl_clock();
	bool linux_due;

	t->handling = true;
	if (t->rt_next <= now) {
		t->rt_next = NEVER;
		pl_client->timer();
		now = pl_clock();
	}
	t->handling = false;
	linux_due = t->linux_next <= now;
	if (linux_due)
		t->linux_next = NEVER;
	program(t);
	return linux_due;
}

/* ---- Linux's clock event device, while it is our client. Context: Linux. ---- */

static void set_linux_next(u64 when)
{
	unsigned long flags = pl_hard_save();
	struct lapic *t = this_cpu_ptr(&lapic);

	t->linux_next = when;
	program(t);
	pl_hard_restore(flags);
}

static int client_next_event(unsigned long ticks, struct clock_event_device *dev)
{
	set_linux_next(pl_clock() + div_u64((u64)ticks << dev->shift, dev->mult));
	return 0;
}

static int client_shutdown(struct clock_event_device *dev)
{
	set_linux_next(NEVER);
	return 0;
}

static int client_oneshot(struct clock_event_device *dev)
{
	return 0;
}

/* ---- take-over ---- */

int pl_lapic_find(void)
{
	events = (void __percpu __force *)pl_symbol("lapic_events");
	if (!events)
		return -EOPNOTSUPP;
	if (!tsc_khz) {
		pr_err("refused: the TSC's frequency is not known; nothing was changed\n");
		return -EOPNOTSUPP;
	}
	ns_per_tsc = div64_u64(1000000ULL << NS_SHIFT, tsc_khz);
	return 0;
}

bool pl_lapic_ready(int cpu)
{
	struct clock_event_device *dev = per_cpu_ptr(events, cpu);

	return (clockevent_state_oneshot(dev) || clockevent_state_oneshot_stopped(dev)) &&
	       dev->set_next_event && dev->mult && dev->shift <= 32 &&
	       !boot_cpu_has(X86_FEATURE_TSC_DEADLINE_TIMER);
}

void pl_lapic_use_vector(u8 vector)
{
	pl_apic->write(APIC_LVTT, (pl_apic->read(APIC_LVTT) & ~APIC_VECTOR_MASK) | vector);
}

void pl_lapic_take(void)
{
	struct clock_event_device *dev = this_cpu_ptr(events);
	struct lapic *t = this_cpu_ptr(&lapic);
	u32 left = pl_apic->read(APIC_TMCCT);

	t->saved = *dev;
	t->rt_next = NEVER;
	/* What is left of Linux's shot; if it has just ended, or there is none, tick at once. */
	t->linux_next = pl_clock() + div_u64((u64)left << dev->shift, dev->mult);
	dev->features &= ~COMPAT_CLOCKEVENT_BYPASS;
	dev->set_next_event = client_next_event;
	dev->set_state_shutdown = client_shutdown;
	dev->set_state_oneshot_stopped = client_shutdown;
	dev->set_state_oneshot = client_oneshot;
	pl_lapic_use_vector(pl_core.oob_vector);
	program(t);
}

void pl_lapic_release(void)
{
	struct clock_event_device *dev = this_cpu_ptr(events);
	struct lapic *t = this_cpu_ptr(&lapic);

	dev->features = t->saved.features;
	dev->set_next_event = t->saved.set_next_event;
	dev->set_state_shutdown = t->saved.set_state_shutdown;
	dev->set_state_oneshot_stopped = t->saved.set_state_oneshot_stopped;
	dev->set_state_oneshot = t->saved.set_state_oneshot;
	t->rt_next = NEVER;
	program(t);
}
