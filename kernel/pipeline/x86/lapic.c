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
static u64 ns_per_tsc, tsc_per_ns;	/* << NS_SHIFT */

/**
 * struct shot - the two ways the APIC's timer can be one-shot
 * @name: for the status
 * @arm: interrupt in @wait_ns
 * @disarm: do not interrupt
 * @left_ns: until the interrupt that Linux asked for; 0 if it was due or there is none
 *
 * Context: this CPU, hardware interrupts off.
 */
struct shot {
	const char *name;
	void (*arm)(u64 wait_ns);
	void (*disarm)(void);
	u64 (*left_ns)(void);
};

static const struct shot *shot;

/* Context: any. */
u64 pl_clock(void)
{
	return mul_u64_u64_shr(rdtsc(), ns_per_tsc, NS_SHIFT);
}

/* Ticks of the device in Linux's units, to and from ns, as Linux does it. */
static u64 ticks_to_ns(const struct clock_event_device *dev, u64 ticks)
{
	return div_u64(ticks << dev->shift, dev->mult);
}

/* ---- one-shot by a count-down ---- */

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
	return ticks_to_ns(this_cpu_ptr(events), pl_apic->read(APIC_TMCCT));
}

static const struct shot by_count = { "lapic", count_arm, count_disarm, count_left_ns };

/* ---- one-shot by a deadline: the TSC's value at which to interrupt ---- */

static void deadline_arm(u64 wait_ns)
{
	/*
	 * Relative to now: the two conversion factors are not exact reciprocals, and an
	 * instant, unlike a wait, is long enough for that to show.
	 */
	u64 deadline = rdtsc() + mul_u64_u64_shr(wait_ns, tsc_per_ns, NS_SHIFT);

	/* Without it the write may overtake an earlier one of the APIC's registers. */
	weak_wrmsr_fence();
	native_wrmsr(MSR_IA32_TSC_DEADLINE, (u32)deadline, deadline >> 32);
}

static void deadline_disarm(void)
{
	weak_wrmsr_fence();
	native_wrmsr(MSR_IA32_TSC_DEADLINE, 0, 0);
}

static u64 deadline_left_ns(void)
{
	u64 deadline = native_read_msr(MSR_IA32_TSC_DEADLINE), now = rdtsc();

	return deadline > now ? mul_u64_u64_shr(deadline - now, ns_per_tsc, NS_SHIFT) : 0;
}

static const struct shot by_deadline = {
	"tsc-deadline", deadline_arm, deadline_disarm, deadline_left_ns
};

const char *pl_timer_name(void)
{
	return shot->name;
}

/* ---- two users ---- */

static void program(struct lapic *t)
{
	u64 next = min(t->rt_next, t->linux_next), now;

	if (next == NEVER) {
		shot->disarm();
		return;
	}
	now = pl_clock();
	shot->arm(next > now ? min(next - now, LONGEST_NS) : 0);
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
	set_linux_next(pl_clock() + ticks_to_ns(dev, ticks));
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
	tsc_per_ns = div64_u64((u64)tsc_khz << NS_SHIFT, 1000000);
	/* Linux has chosen; the LVT's mode says how. */
	shot = (pl_apic->read(APIC_LVTT) & APIC_LVT_TIMER_TSCDEADLINE) ==
	       APIC_LVT_TIMER_TSCDEADLINE ? &by_deadline : &by_count;
	return 0;
}

bool pl_lapic_ready(int cpu)
{
	struct clock_event_device *dev = per_cpu_ptr(events, cpu);

	return (clockevent_state_oneshot(dev) || clockevent_state_oneshot_stopped(dev)) &&
	       dev->set_next_event && dev->mult && dev->shift <= 32;
}

void pl_lapic_use_vector(u8 vector)
{
	pl_apic->write(APIC_LVTT, (pl_apic->read(APIC_LVTT) & ~APIC_VECTOR_MASK) | vector);
}

void pl_lapic_take(void)
{
	struct clock_event_device *dev = this_cpu_ptr(events);
	struct lapic *t = this_cpu_ptr(&lapic);

	t->saved = *dev;
	t->rt_next = NEVER;
	/* What is left of Linux's shot; if it has just ended, or there is none, tick at once. */
	t->linux_next = pl_clock() + shot->left_ns();
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
