// SPDX-License-Identifier: GPL-2.0-only
/* An RT task on CPU 1 that puts into FIFO 0 what it gets from it. See ../../fifo_duel.c. */
#include <linux/module.h>
#include <rt/fifo.h>
#include <rt/task.h>
#include <rt/time.h>

#define FIFO 0
#define SIZE_BYTES 600		/* often full, often empty */
#define LOOK_NS 3000

static RT_TASK task;

static void echo(int unused)
{
	static u8 bytes[64];
	int n = 0;

	do {
		if (n <= 0)
			n = rtf_get_some(FIFO, bytes, sizeof(bytes));
		if (n > 0 && rtf_put(FIFO, bytes, n) == n)
			n = 0;
	} while (!rt_task_sleep_until(rt_get_time() + LOOK_NS));
}

static int __init echo_init(void)
{
	int err = rtf_create(FIFO, SIZE_BYTES);

	if (err)
		return err;
	err = rt_task_init(&task, echo, 0, 4096, 1);
	if (err)
		goto err_task;
	err = rt_task_set_cpu(&task, 1) ?: rt_task_wakeup(&task);
	if (err)
		goto err_start;
	return 0;
err_start:
	rt_task_delete(&task);
err_task:
	rtf_destroy(FIFO);
	return err;
}

static void __exit echo_exit(void)
{
	rt_task_delete(&task);
	rtf_destroy(FIFO);
}

module_init(echo_init);
module_exit(echo_exit);
MODULE_DESCRIPTION("FIFO 0, both ways through an RT task on CPU 1");
MODULE_LICENSE("GPL");
