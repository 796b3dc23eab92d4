// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a machine that tactus has never met could do to it, planted on one CPU.
 *
 * Things that do not arrive; loaded before tactus, whose functions are not let run there:
 *	what=shot	the timer is never set for RT
 *	what=tick	nor for Linux
 *	what=ipi	RT interrupts from other CPUs are not sent
 *	what=replay	what is logged for irq_work is forgotten
 *
 * Linux stalled, by a thread of that CPU, when "stall_ms" is written to:
 *	what=stall	it keeps interrupts off for so long
 *	what=lost	it enables them by an instruction of its own that nobody has found, and
 *			spins for so long
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <asm/irq_vectors.h>
#include "pipeline/pipeline.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "../on_call.h"

static char *what = "stall";
module_param(what, charp, 0444);
static int cpu;
module_param(cpu, int, 0444);

/* ---- functions that are not let run ---- */

/* Runs instead of the probed function. */
static notrace noinline int nothing(void)
{
	return 0;
}

static int skip(struct pt_regs *regs)
{
	regs->ip = (unsigned long)nothing;
	return 1;
}

static int skip_here(struct kprobe *probe, struct pt_regs *regs)
{
	return raw_smp_processor_id() == cpu ? skip(regs) : 0;
}
NOKPROBE_SYMBOL(skip_here);

static int skip_for(struct kprobe *probe, struct pt_regs *regs)
{
	return regs->di == cpu ? skip(regs) : 0;
}
NOKPROBE_SYMBOL(skip_for);

/* Whoever waits looks at the clock. */
static int forget(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long flags = pl_hard_save();
	struct pl_cpu *here = this_cpu_ptr(&pl_cpu);

	if (raw_smp_processor_id() == cpu && !this_cpu_read(pl_vif)) {
		pl_vecset_del(&here->pending, IRQ_WORK_VECTOR);
		this_cpu_write(pl_any, !pl_vecset_empty(&here->pending));
	}
	pl_hard_restore(flags);
	return 0;
}
NOKPROBE_SYMBOL(forget);

DEFINE_ON_CALL(not_here, skip_here);
DEFINE_ON_CALL(not_for, skip_for);
DEFINE_ON_CALL(forgetful, forget);

static const struct {
	const char *what, *function;
	struct on_call *watch;
} arrivals[] = {
	{ "shot", "tactus:pl_oneshot_arm", &not_here },
	{ "tick", "tactus:client_next_event", &not_here },
	{ "ipi", "tactus:pl_line_ipi", &not_for },
	{ "replay", "tactus:rt_get_time", &forgetful },
};

/* ---- Linux stalled ---- */

static struct task_struct *thread;
static unsigned int stall_ms;

static noinline void boot_fault_spin(unsigned int ms)
{
	/* udelay() and not mdelay(): one call after the other. */
	while (ms--)
		for (int i = 0; i < 10; i++)
			udelay(100);
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
	for (int i = 0; i < ARRAY_SIZE(arrivals); i++) {
		int err;

		if (strcmp(what, arrivals[i].what))
			continue;
		err = on_call_init(arrivals[i].watch);
		return err ?: on_call_set(arrivals[i].watch, arrivals[i].function);
	}
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
			on_call_exit(arrivals[i].watch);
	if (thread)
		kthread_stop(thread);
}

module_init(boot_fault_init);
module_exit(boot_fault_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What a machine that tactus has never met could do to it");
