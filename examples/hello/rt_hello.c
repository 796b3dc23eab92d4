// SPDX-License-Identifier: GPL-2.0-only
/*
 * The smallest useful RT module: a periodic RT task that says hello to Linux.
 *
 *	insmod rt_hello.ko && cat /dev/rtf0
 *
 * The task runs twice a second whatever Linux does. It must not call Linux, printk()
 * included; a FIFO carries what it has to say.
 */
#include <linux/module.h>

#include <rt/fifo.h>
#include <rt/task.h>

static unsigned int fifo;
module_param(fifo, uint, 0444);
MODULE_PARM_DESC(fifo, "number of the FIFO to write to (default 0)");

static RT_TASK hello_task;

/* RT code: runs on a stack of its own, between any two instructions of Linux. */
static void hello(int unused)
{
	static const char line[] = "hello, world\n";

	/* When nobody reads, the FIFO fills up, and the line is dropped. */
	do
		rtf_put(fifo, line, sizeof(line) - 1);
	while (rt_task_wait() != -EPERM);
}

static int __init hello_init(void)
{
	int err = rtf_create(fifo, 4096);

	if (err)
		return err;
	err = rt_task_init(&hello_task, hello, 0, 4096, 1);
	if (err)
		goto err_destroy_fifo;
	err = rt_task_make_periodic(&hello_task, rt_get_time(), RT_TICKS_PER_SEC / 2);
	if (err)
		goto err_delete_task;
	return 0;

err_delete_task:
	rt_task_delete(&hello_task);
err_destroy_fifo:
	rtf_destroy(fifo);
	return err;
}

static void __exit hello_exit(void)
{
	rt_task_delete(&hello_task);
	rtf_destroy(fifo);
}

module_init(hello_init);
module_exit(hello_exit);
MODULE_DESCRIPTION("A periodic RT task that says hello through a FIFO");
MODULE_LICENSE("GPL");
