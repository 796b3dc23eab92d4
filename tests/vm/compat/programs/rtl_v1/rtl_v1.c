// SPDX-License-Identifier: GPL-2.0-only
/* RTLinux 1's way to hand a task its data: a pointer to the program's own variable, as an int. */
#include <linux/module.h>
#include <linux/kernel.h>
#include <rtl.h>
#include <rtl_sched.h>

MODULE_LICENSE("GPL");

static struct data {
	int in, out;
} data[2] = { { 20 }, { 22 } };

static RT_TASK tasks[2];

static void work(int arg)
{
	struct data *mine = (struct data *)arg;

	mine->out = mine->in + 1;
	rt_task_wait();
}

int init_module(void)
{
	RTIME now = rt_get_time();
	int i;

	for (i = 0; i < 2; i++) {
		rt_task_init(&tasks[i], work, (int)&data[i], 3000, 4);
		rt_task_make_periodic(&tasks[i], now + 100000, 1000000);
	}
	return 0;
}

void cleanup_module(void)
{
	int i;

	for (i = 0; i < 2; i++)
		rt_task_delete(&tasks[i]);
	printk("v1: %d %d\n", data[0].out, data[1].out);
}
