// SPDX-License-Identifier: GPL-2.0-only
/*
 * What registers Linux's timer interrupt is shown when a soft sti replays it.
 *
 * While it is loaded: interrupts off until a timer has expired, then on again. sp_off is how far
 * the interrupted stack pointer, as get_irq_regs() has it, is from the one there was.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <asm/irq_regs.h>
#include "compat/hrtimer.h"

static unsigned long here, shown;
static long sp_off = -1;
module_param(sp_off, long, 0444);

static enum hrtimer_restart look(struct hrtimer *timer)
{
	const struct pt_regs *regs = get_irq_regs();

	shown = regs ? regs->sp : 0;
	return HRTIMER_NORESTART;
}

static int __init soft_sti_init(void)
{
	struct hrtimer timer;

	compat_hrtimer_setup(&timer, look, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	local_irq_disable();
	hrtimer_start(&timer, ns_to_ktime(100000), HRTIMER_MODE_REL_HARD);
	udelay(1000);
	asm volatile("mov %%rsp, %0" : "=r" (here));
	local_irq_enable();
	hrtimer_cancel(&timer);
	sp_off = here - shown;
	return 0;
}

static void __exit soft_sti_exit(void)
{
}

module_init(soft_sti_init);
module_exit(soft_sti_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("The registers of a replayed interrupt");
