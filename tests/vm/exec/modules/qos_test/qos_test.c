// SPDX-License-Identifier: GPL-2.0-only
/* RT code that no release belongs to: a line with an RT handler, or a task that nobody starts. */
#include <linux/module.h>
#include <rt/irq.h>
#include <rt/task.h>

static unsigned int irq;
module_param(irq, uint, 0444);
MODULE_PARM_DESC(irq, "line to have a handler for (default 0: none)");

static bool task;
module_param(task, bool, 0444);
MODULE_PARM_DESC(task, "make a task");

static RT_TASK waiting_task;

static void handler(void)
{
}

static void never(int unused)
{
}

static int __init qos_test_init(void)
{
	if (irq)
		return request_RTirq(irq, handler);
	return task ? rt_task_init(&waiting_task, never, 0, 4096, 1) : 0;
}

static void __exit qos_test_exit(void)
{
	if (irq)
		free_RTirq(irq);
	else if (task)
		rt_task_delete(&waiting_task);
}

module_init(qos_test_init);
module_exit(qos_test_exit);
MODULE_DESCRIPTION("RT code without releases");
MODULE_LICENSE("GPL");
