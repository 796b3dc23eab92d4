// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes, when it is loaded, the kind of trouble that the bench has to notice.
 *
 * what=warn | oops | bug | panic | hang (interrupts off, for ever) | refuse | none
 *
 * and what only a kernel with checkers in it notices:
 *
 * what=beyond (reads past the end of an allocation) | order (takes two locks in both orders) |
 *	sleep (with preemption off) | shift (by more than a type has) | leak (forgets an allocation)
 */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/processor.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static char *what = "none";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "kind of trouble");

static volatile int amount = 40;
static volatile int sink;

static void beyond(void)
{
	volatile char *bytes = kmalloc(40, GFP_KERNEL);

	if (bytes)
		sink = bytes[amount];
	kfree((void *)bytes);
}

static void order(void)
{
	static DEFINE_SPINLOCK(a);
	static DEFINE_SPINLOCK(b);

	spin_lock(&a);
	spin_lock(&b);
	spin_unlock(&b);
	spin_unlock(&a);
	spin_lock(&b);
	spin_lock(&a);
	spin_unlock(&a);
	spin_unlock(&b);
}

static void sleep_in_the_wrong_place(void)
{
	preempt_disable();
	might_sleep();
	preempt_enable();
}

static void leak(void)
{
	for (int i = 0; i < 10; i++)
		kmalloc(1000, GFP_KERNEL);
}

static int __init trouble_init(void)
{
	if (!strcmp(what, "warn"))
		WARN(1, "trouble: as asked for\n");
	else if (!strcmp(what, "oops"))
		WRITE_ONCE(*(volatile int *)NULL, 1);
	else if (!strcmp(what, "bug"))
		BUG();
	else if (!strcmp(what, "panic"))
		panic("trouble: as asked for");
	else if (!strcmp(what, "hang")) {
		local_irq_disable();
		for (;;)
			cpu_relax();
	} else if (!strcmp(what, "beyond"))
		beyond();
	else if (!strcmp(what, "order"))
		order();
	else if (!strcmp(what, "sleep"))
		sleep_in_the_wrong_place();
	else if (!strcmp(what, "shift"))
		sink = 1 << amount;
	else if (!strcmp(what, "leak"))
		leak();
	else if (!strcmp(what, "refuse"))
		return -EBUSY;
	else if (strcmp(what, "none"))
		return -EINVAL;
	return 0;
}
module_init(trouble_init);

static void __exit trouble_exit(void)
{
}
module_exit(trouble_exit);

MODULE_DESCRIPTION("Trouble for the bench's own tests");
MODULE_LICENSE("GPL");
