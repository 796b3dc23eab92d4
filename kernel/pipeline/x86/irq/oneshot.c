// SPDX-License-Identifier: GPL-2.0-only
/*
 * One one-shot timer, two users (thesis, 3.4): the earlier of RT's next event and
 * Linux's is programmed. When Linux's is due its interrupt is simulated by logging
 * the tick's vector.
 *
 * Linux's side is taken over by swapping the callbacks of its clock event device, which
 * is the local APIC's; while taken, nobody else writes the timer's registers. The timer
 * itself is the APIC's as well, or one that was lent: see shot.h.
 *
 * Per CPU, touched by that CPU with hardware interrupts off.
 */
#include <linux/clockchips.h>
#include <linux/delay.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <asm/irq_vectors.h>
#include "compat/compat.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/control.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/irq/deadline.h"
#include "pipeline/x86/client.h"
#include "pipeline/x86/irq/lapic.h"
#include "pipeline/x86/irq/oneshot.h"
#include "pipeline/x86/switchover.h"

#define NEVER U64_MAX
#define TICK_WAIT_MS 5000
#define TICK_POLL_MS 10

/*
 * struct oneshot - one CPU's timer
 * @rt_next, @linux_next: ns of pl_clock(), or NEVER
 * @down: the APIC's count-down, while it is the timer and one store starts it
 * @self: itself
 * @shot: the timer, while taken
 * @owed: Linux's event was due, and Linux has not yet said when the next one is
 * @due: Linux is to be told of that one
 * @saved: Linux's clock event device as it was
 */
struct oneshot {
	u64 rt_next, linux_next;
	struct pl_countdown down;
	bool owed, due;
	struct oneshot *self;
	const struct pl_shot *shot;
	struct clock_event_device saved;
} ____cacheline_aligned;

static DEFINE_PER_CPU_ALIGNED(struct oneshot, oneshot) = { .rt_next = NEVER, .linux_next = NEVER };

/* This CPU's, by one load of a line that is wanted anyway. Context: it was found. */
static __always_inline struct oneshot *here(void)
{
	return this_cpu_read(oneshot.self);
}

static const struct pl_shot *lapic, *lent;	/* @lent: NULL if none is */

static void no_timer(u64 now)
{
}

/* pl_client.timer(). A static call, since each release is one. */
DEFINE_STATIC_CALL(oneshot_client, no_timer);

void pl_oneshot_serve(void (*timer)(u64 now))
{
	static_call_update(oneshot_client, timer);
}

const char *pl_timer_name(void)
{
	return (lent ?: lapic)->name;
}

/* ---- two users ---- */

/*
 * What is rare on the path of each job is a call that comes last, and returns what its caller is
 * to: so that saves no registers, and few of its bytes are never executed.
 */

/* Not by one store. Return: @now. */
static noinline u64 program_shot(struct oneshot *t, u64 next, u64 now)
{
	if (next == NEVER)
		t->shot->disarm();
	else
		t->shot->arm(next > now ? min(next - now, t->shot->longest_ns) : 0);
	return now;
}

/*
 * @now has just been read: a wait that begins later than that ends later, too.
 *
 * Return: @now.
 */
static __always_inline u64 program_from(struct oneshot *t, u64 now)
{
	u64 next = min(t->rt_next, t->linux_next);

	if (unlikely(!t->down.at || next == NEVER))
		return program_shot(t, next, now);
	pl_countdown_start(&t->down, next, now);
	return now;
}

rt_hot static void program(struct oneshot *t)
{
	program_from(t, pl_tsc_clock());
}

rt_hot void pl_oneshot_arm(u64 when)
{
	struct oneshot *t = here();

	if (t->rt_next == when)
		return;
	t->rt_next = when;
	/* Not served, the timer is Linux's. */
	if (__this_cpu_read(pl_cpu.served))
		program(t);
}

void pl_oneshot_pause(void)
{
	lapic->disarm();
}

void pl_oneshot_resume(void)
{
	program(here());
}

/* Linux will say when next. If it does not, there is a shot for the stall detector. */
static noinline u64 linux_is_due(struct oneshot *t, u64 now)
{
	t->due = !t->owed;
	t->owed = true;
	t->linux_next = now + NSEC_PER_SEC;
	return program_from(t, now);
}

/* After a shot: set the timer. Return: the clock. */
static __always_inline u64 shoot_again(struct oneshot *t)
{
	u64 now = pl_tsc_clock();

	if (unlikely(t->linux_next <= now))
		return linux_is_due(t, now);
	return program_from(t, now);
}

rt_path u64 pl_oneshot_done(u64 when)
{
	struct oneshot *t = here();

	t->rt_next = when;
	return shoot_again(t);
}

/* Linux's event, or early. */
static noinline bool not_for_rt(struct oneshot *t)
{
	shoot_again(t);
	return t->due;
}

rt_path bool pl_oneshot_due(void)
{
	struct oneshot *t = here();
	u64 now = pl_tsc_clock();

	t->due = false;
	if (unlikely(t->rt_next > now))
		return not_for_rt(t);
	static_call(oneshot_client)(now);
	return t->due;
}

/* ---- a timer that is lent ---- */

void pl_shot_due(void)
{
	if (pl_oneshot_due())
		pl_log(LOCAL_TIMER_VECTOR);
}

/* Context: this CPU, an interrupt of Linux's. */
static void exchange(void *unused)
{
	unsigned long flags = pl_hard_save();
	struct oneshot *t = here();

	t->shot->disarm();
	t->shot = lent ?: lapic;
	t->down = (struct pl_countdown) {};
	if (!lent)
		pl_lapic_countdown(&t->down);
	program(t);
	pl_hard_restore(flags);
}

int pl_shot_lend(int cpu, const struct pl_shot *shot)
{
	lent = shot;
	return smp_call_function_single(cpu, exchange, NULL, 1);
}

bool pl_oneshot_lent(int cpu)
{
	return per_cpu(oneshot, cpu).shot != lapic;
}

/* ---- Linux's clock event device, while it is our client. Context: Linux. ---- */

static void set_linux_next(u64 when)
{
	unsigned long flags = pl_hard_save();
	struct oneshot *t = here();

	t->linux_next = when;
	t->owed = false;
	program(t);
	pl_hard_restore(flags);
}

static int client_next_event(unsigned long ticks, struct clock_event_device *dev)
{
	/* Linux's ticks, the way it made them of ns. */
	set_linux_next(pl_tsc_clock() + div_u64((u64)ticks << dev->shift, dev->mult));
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

int pl_oneshot_find(const char *name)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(oneshot.self, cpu) = per_cpu_ptr(&oneshot, cpu);
	lapic = pl_lapic_find();
	if (!lapic)
		return -EOPNOTSUPP;
	if (strcmp(name, "auto") && strcmp(name, lapic->name)) {
		pr_err("refused: timer=%s, but Linux runs the APIC's timer as %s; nothing was changed\n",
		       name, lapic->name);
		return -EOPNOTSUPP;
	}
	return 0;
}

bool pl_oneshot_ready(int cpu)
{
	struct clock_event_device *dev = pl_lapic_events(cpu);

	return (clockevent_state_oneshot(dev) || clockevent_state_oneshot_stopped(dev)) &&
	       dev->set_next_event && dev->mult && dev->shift <= 32;
}

bool pl_tick_wait(int cpu)
{
	for (int waited = 0; !pl_oneshot_ready(cpu); waited += TICK_POLL_MS) {
		if (waited >= TICK_WAIT_MS)
			return false;
		msleep(TICK_POLL_MS);
	}
	return true;
}

void pl_oneshot_use_vector(void *vector)
{
	pl_lapic_use_vector((unsigned long)vector);
}

void pl_oneshot_take(void)
{
	struct clock_event_device *dev = pl_lapic_events(smp_processor_id());
	struct oneshot *t = here();

	t->saved = *dev;
	t->rt_next = NEVER;
	t->owed = false;
	/* What is left of Linux's shot; if it has just ended, or there is none, tick at once. */
	t->linux_next = pl_tsc_clock() + pl_lapic_left_ns();
	dev->features &= ~COMPAT_CLOCKEVENT_BYPASS;
	dev->set_next_event = client_next_event;
	dev->set_state_shutdown = client_shutdown;
	dev->set_state_oneshot_stopped = client_shutdown;
	dev->set_state_oneshot = client_oneshot;
	pl_lapic_use_vector(pl_core.oob_vector);
	t->shot = lapic;
	pl_lapic_countdown(&t->down);
	program(t);
}

void pl_oneshot_release(void)
{
	struct clock_event_device *dev = pl_lapic_events(smp_processor_id());
	struct oneshot *t = here();

	dev->features = t->saved.features;
	dev->set_next_event = t->saved.set_next_event;
	dev->set_state_shutdown = t->saved.set_state_shutdown;
	dev->set_state_oneshot_stopped = t->saved.set_state_oneshot_stopped;
	dev->set_state_oneshot = t->saved.set_state_oneshot;
	t->rt_next = NEVER;
	/* A CPU that came after pl_remove() had seen to those there were still has ours. */
	pl_lapic_use_vector(LOCAL_TIMER_VECTOR);
	/* Whatever became of Linux's last event, Linux is to look at its timers afresh. */
	if (!clockevent_state_oneshot_stopped(dev))
		t->linux_next = 0;
	program(t);
}
