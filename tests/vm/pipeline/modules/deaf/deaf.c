// SPDX-License-Identifier: GPL-2.0-only
/*
 * One CPU that does not answer Linux any more, from a moment after this module is loaded:
 *	what=timer	an RT timer function turns hardware interrupts off and spins
 *	what=task	so does an RT task
 *	what=eoi	an RT interrupt is not acknowledged, and keeps all others waiting
 *	what=stalled	Linux enables interrupts by an instruction that nobody has found, and waits
 *			for one
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/apic.h>
#include <rt/sched.h>
#include <rt/task.h>
#include <rt/timer.h>
#include "compat/hrtimer.h"
#include "pipeline/x86/resident/tactus_core.h"

#define TASK_PRIORITY 1

static char *what = "timer";
module_param(what, charp, 0444);
static int cpu;
module_param(cpu, int, 0444);
static uint ms = 100;
module_param(ms, uint, 0444);
MODULE_PARM_DESC(ms, "when");

static struct task_struct *thread;
static struct rt_timer timer;
static struct hrtimer linux_timer;
static RT_TASK task;
static bool spin = true;
static bool come;	/* Linux's interrupt */

/* To be found by name in the log. */
static noinline void deaf_spin(void)
{
	asm volatile("cli" : : : "memory");
	/* No pause: an emulator would go round by its main loop each time. Long blocks are cheap. */
	while (READ_ONCE(spin))
		asm volatile(".fill 400, 1, 0x90");
}

static void spin_in_timer(struct rt_timer *unused)
{
	deaf_spin();
}

static void spin_in_task(int unused)
{
	deaf_spin();
}

/* ---- an EOI that gets lost ---- */

static void *eoi;
static volatile u32 *eoi_at;

static bool rt_in_service(void)
{
	u32 vector = pl_core.oob_vector;

	return pl_core.apic_read(APIC_ISR + vector / 32 * 0x10) & BIT(vector % 32);
}

static notrace void lose_one(COMPAT_EOI_ARGS)
{
	if (raw_smp_processor_id() == cpu && rt_in_service()) {
		/* Only this one; and Linux is given back what stands there. */
		pl_core.eoi = eoi;
		__this_cpu_write(pl_cpu.eoi_at, eoi_at);
	} else {
		compat_eoi_call(eoi);
	}
}

static void lose_the_next(struct rt_timer *unused)
{
	eoi = pl_core.eoi;
	eoi_at = __this_cpu_read(pl_cpu.eoi_at);
	pl_core.eoi = lose_one;
	__this_cpu_write(pl_cpu.eoi_at, NULL);	/* Else it is a store, without a call. */
}

/* ---- Linux that waits in vain ---- */

static enum hrtimer_restart comes(struct hrtimer *unused)
{
	WRITE_ONCE(come, true);
	return HRTIMER_NORESTART;
}

static void wait_stalled(void)
{
	compat_hrtimer_setup(&linux_timer, comes, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&linux_timer, ms_to_ktime(ms), HRTIMER_MODE_REL_PINNED_HARD);
	local_irq_disable();
	/* No slot: the nop behind it is missing. */
	asm volatile("sti" : : : "memory");
	while (!READ_ONCE(come))
		asm volatile(".fill 400, 1, 0x90");
	local_irq_enable();
}

/* ---- on that CPU ---- */

static int begin(void *unused)
{
	RTIME soon = rt_get_time() + ms * (RTIME)NSEC_PER_MSEC;

	if (!strcmp(what, "timer") || !strcmp(what, "eoi")) {
		timer.fn = strcmp(what, "eoi") ? spin_in_timer : lose_the_next;
		rt_timer_start(&timer, soon);
	} else if (!strcmp(what, "task")) {
		if (!rt_task_init(&task, spin_in_task, 0, 8192, TASK_PRIORITY) &&
		    !rt_task_set_cpu(&task, cpu))
			rt_task_make_periodic(&task, soon, NSEC_PER_SEC);
	} else {
		wait_stalled();
	}
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 100);
	return 0;
}

static int __init deaf_init(void)
{
	thread = kthread_create(begin, NULL, "deaf");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	kthread_bind(thread, cpu);
	wake_up_process(thread);
	return 0;
}

static void __exit deaf_exit(void)
{
	kthread_stop(thread);
	rt_timer_cancel(&timer);
	if (task.name[0])
		rt_task_delete(&task);
}

module_init(deaf_init);
module_exit(deaf_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("One CPU that does not answer Linux any more");
