// SPDX-License-Identifier: GPL-2.0-only
/* Asks for a CPU's first task when it is loaded, without the lock: no policy may do that. */
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <rt/sched.h>

static int __init unlocked_init(void)
{
	/* As if of CPU 0, and without tasks. */
	struct rt_rq *rq = kzalloc(SZ_16K, GFP_KERNEL);

	if (!rq)
		return -ENOMEM;
	rt_rq_first(rq);
	kfree(rq);
	return 0;
}
module_init(unlocked_init);

static void __exit unlocked_exit(void)
{
}
module_exit(unlocked_exit);

MODULE_LICENSE("GPL");
