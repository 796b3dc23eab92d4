// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fake: a cpuidle driver that idles like mwait as an interrupt-break, which the
 * emulator does not have. Called with interrupts off, it sleeps until an interrupt
 * arrives, and leaves it pending if they are hard off.
 *
 * window_us widens the time between its last look at the work and its falling asleep,
 * in which an interrupt must not be lost. reopen opens interrupts for a moment before that, as no
 * driver does that tactus knows.
 *
 * Writing to "more" is what ACPI does when the power supply changes: it fills in the table of states
 * anew, and there is one more.
 */
#include <linux/cpuidle.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched.h>

static char *name = "intel_idle";
module_param(name, charp, 0444);
MODULE_PARM_DESC(name, "the driver's name");
static int window_us = 20;
module_param(window_us, int, 0444);
static bool reopen;
module_param(reopen, bool, 0444);

static unsigned long entered, deeper;
module_param(entered, ulong, 0444);
module_param(deeper, ulong, 0444);
MODULE_PARM_DESC(deeper, "how often the second state was entered");

static int fake_enter(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index)
{
	unsigned long flags;

	entered++;
	deeper += index;
	if (reopen) {
		local_irq_enable();
		local_irq_disable();
	}
	if (need_resched())
		return index;
	udelay(window_us);
	asm volatile("pushfq; popq %0" : "=r" (flags));
	if (flags & X86_EFLAGS_IF)
		asm volatile("hlt" : : : "memory");
	else
		asm volatile("sti; hlt; cli" : : : "memory");
	return index;
}

static struct cpuidle_driver fake_driver = {
	.owner = THIS_MODULE,
	.states = { {
		.name = "FAKE",
		.desc = "like mwait",
		.exit_latency = 1,
		.target_residency = 1,
		.enter = fake_enter,
	} },
	.state_count = 1,
};

static int add_state(const char *value, const struct kernel_param *param)
{
	cpuidle_pause_and_lock();
	fake_driver.states[0].enter = fake_enter;
	fake_driver.states[1] = fake_driver.states[0];
	fake_driver.state_count = 2;
	cpuidle_resume_and_unlock();
	return 0;
}

static const struct kernel_param_ops more_ops = { .set = add_state };
module_param_cb(more, &more_ops, NULL, 0200);

static int __init fake_init(void)
{
	fake_driver.name = name;
	return cpuidle_register(&fake_driver, NULL);
}

static void __exit fake_exit(void)
{
	cpuidle_unregister(&fake_driver);
}

module_init(fake_init);
module_exit(fake_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A fake cpuidle driver for the lost wake-up test");
