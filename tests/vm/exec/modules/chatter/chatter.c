// SPDX-License-Identifier: GPL-2.0-only
/* An RT task that calls Linux, which it must not, once in 10 ms. */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/timekeeping.h>
#include <rt/task.h>

static RT_TASK task;

static u64 now_ns;

static noinline void ask(void)
{
	WRITE_ONCE(now_ns, ktime_get());
}

static void body(int word)
{
	do
		ask();
	while (!rt_task_wait());
}

static int __init chatter_init(void)
{
	int err = rt_task_init(&task, body, 0, 8192, 1);

	return err ?: rt_task_make_periodic(&task, rt_get_time(), 10 * NSEC_PER_MSEC);
}
module_init(chatter_init);

static void __exit chatter_exit(void)
{
	rt_task_delete(&task);
}
module_exit(chatter_exit);

MODULE_LICENSE("GPL");
