// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a machine that tactus has never met could do to it, planted on one CPU.
 *
 * Things that do not arrive; loaded before tactus, some of whose functions are replaced:
 *	what=shot	the timer is never set for RT
 *	what=tick	nor for Linux
 *	what=ipi	RT interrupts from other CPUs are not sent
 *	what=replay	what is logged for irq_work is forgotten
 *	what=asked	as soon as an NMI has asked for Linux to be unstalled, somebody asks for
 *			another RT interrupt, as another CPU may just then
 *
 * Linux stalled, by a thread of that CPU, when "stall_ms" is written to:
 *	what=stall	it keeps interrupts off for so long
 *	what=lost	it enables them by an instruction of its own that nobody has found, and
 *			spins for so long
 */
#include <linux/clockchips.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <asm/irq_vectors.h>
#include <rt/time.h>
#include "pipeline/pipeline.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "../instead.h"

static char *what = "stall";
module_param(what, charp, 0444);
static int cpu;
module_param(cpu, int, 0444);

/* ---- what is called instead of tactus's functions ---- */

static void shot(u64 when);
static int tick(unsigned long ticks, struct clock_event_device *dev);
static void ipi(int to);
static RTIME replay(void);
static void unstall(void);
static void sent(int to);

static struct arrival {
	const char *what;
	struct instead instead;
} arrivals[] = {
	{ "shot", { "tactus", "tactus:pl_oneshot_arm", shot } },
	{ "tick", { "tactus", "tactus:client_next_event", tick } },
	{ "ipi", { "tactus", "tactus:pl_line_ipi", ipi } },
	{ "replay", { "tactus", "tactus:rt_get_time", replay } },
	{ "asked", { "tactus", "tactus:pl_line_unstall", unstall } },
	{ "asked", { "tactus", "tactus:pl_line_ipi", sent } },
};

enum { SHOT, TICK, IPI, REPLAY, UNSTALL, SENT };

static void shot(u64 when)
{
	void (*arm)(u64 when) = arrivals[SHOT].instead.real;

	if (raw_smp_processor_id() != cpu)
		arm(when);
}

static int tick(unsigned long ticks, struct clock_event_device *dev)
{
	int (*next_event)(unsigned long ticks, struct clock_event_device *dev) =
		arrivals[TICK].instead.real;

	return raw_smp_processor_id() == cpu ? 0 : next_event(ticks, dev);
}

static void ipi(int to)
{
	void (*send)(int to) = arrivals[IPI].instead.real;

	if (to != cpu)
		send(to);
}

/* Whoever waits looks at the clock. */
static RTIME replay(void)
{
	RTIME (*get_time)(void) = arrivals[REPLAY].instead.real;
	unsigned long flags = pl_hard_save();

	if (raw_smp_processor_id() == cpu && !pl_vif())
		pl_unlog(IRQ_WORK_VECTOR);
	pl_hard_restore(flags);
	return get_time();
}

/* Context: any. */
static void sent(int to)
{
	void (*send)(int to) = arrivals[SENT].instead.real;

	send(to);
}

/* Context: NMI. */
static void unstall(void)
{
	void (*ask)(void) = arrivals[UNSTALL].instead.real;

	ask();
	if (raw_smp_processor_id() == cpu)
		sent(cpu);
}

/* ---- Linux stalled ---- */

static struct task_struct *thread;
static unsigned int stall_ms;

static noinline void boot_fault_spin(unsigned int ms)
{
	u64 end = ktime_get_mono_fast_ns() + ms * (u64)NSEC_PER_MSEC;

	/* Not udelay(): its "pause" makes an emulated CPU leave its fast path at each turn. */
	do
		asm volatile(".fill 400, 1, 0x90");
	while (ktime_get_mono_fast_ns() < end);
}

static noinline void boot_fault_stall(unsigned int ms)
{
	local_irq_disable();
	if (!strcmp(what, "lost"))
		/* No slot: the nop behind it is missing. */
		asm volatile("sti" : : : "memory");
	boot_fault_spin(ms);
	local_irq_enable();
}

static int stalling(void *unused)
{
	while (!kthread_should_stop()) {
		unsigned int ms = xchg(&stall_ms, 0);

		if (ms)
			boot_fault_stall(ms);
		schedule_timeout_interruptible(HZ / 100);
	}
	return 0;
}

module_param(stall_ms, uint, 0644);

static int __init boot_fault_init(void)
{
	bool found = false;

	for (int i = 0; i < ARRAY_SIZE(arrivals); i++) {
		if (strcmp(what, arrivals[i].what))
			continue;
		instead_init(&arrivals[i].instead);	/* cannot fail */
		found = true;
	}
	if (found)
		return 0;
	if (strcmp(what, "stall") && strcmp(what, "lost"))
		return -EINVAL;
	thread = kthread_create(stalling, NULL, "boot_fault");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	kthread_bind(thread, cpu);
	wake_up_process(thread);
	return 0;
}

static void __exit boot_fault_exit(void)
{
	for (int i = 0; i < ARRAY_SIZE(arrivals); i++)
		if (!strcmp(what, arrivals[i].what))
			instead_exit(&arrivals[i].instead);
	if (thread)
		kthread_stop(thread);
}

module_init(boot_fault_init);
module_exit(boot_fault_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What a machine that tactus has never met could do to it");
