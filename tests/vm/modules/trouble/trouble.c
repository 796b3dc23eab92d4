// SPDX-License-Identifier: GPL-2.0
/*
 * Makes, when it is loaded, the kind of trouble that the bench has to notice.
 *
 * what=warn | oops | bug | panic | hang (interrupts off, for ever) | refuse | none
 */
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/processor.h>

static char *what = "none";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "kind of trouble");

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
	} else if (!strcmp(what, "refuse"))
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
