// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work for the policy: three tasks, a, b and c, each of which takes 64 bytes at a time from a FIFO
 * of its own, numbers 0 to 2, until nothing is left. Fill the FIFOs, then
 *
 *	echo 1 > /sys/module/rt_drain/parameters/go
 *	cat /sys/module/rt_drain/parameters/order
 *
 * The order is that of the jobs, as letters. Between two jobs a task stands aside, so that the
 * policy chooses anew.
 */
#include <linux/delay.h>
#include <linux/module.h>

#include <rt/fifo.h>
#include <rt/sched.h>

#include "finegrain.h"

#define TASKS 3
#define FIFO_BYTES 4096
#define JOB_BYTES 64

static RT_TASK tasks[TASKS];
static struct rt_timer starter;

static char order[TASKS * FIFO_BYTES / JOB_BYTES + 1];
static unsigned int done, fifos;
module_param_string(order, order, sizeof(order), 0444);

static void drain(int number)
{
	char bytes[JOB_BYTES];

	while (rtf_get(number, bytes, sizeof(bytes)) > 0) {
		if (done < sizeof(order) - 1)
			order[done++] = 'a' + number;
		/*
		 * A wake-up that is kept ends the suspension at once: a job ends, the next begins.
		 */
		rt_task_wakeup(rt_task_self());
		rt_task_suspend(rt_task_self());
	}
}

/* All at one moment, so that the policy has a choice from the first job on. */
static void start_all(struct rt_timer *timer)
{
	for (int i = 0; i < TASKS; i++)
		rt_task_wakeup(&tasks[i]);
}

static int go(const char *text, const struct kernel_param *param)
{
	int (*serves)(RT_TASK *task, unsigned int fifo) = symbol_get(finegrain_serves);
	int error = 0;

	memset(order, 0, sizeof(order));
	done = 0;
	for (int i = 0; i < TASKS && !error; i++) {
		rt_task_delete(&tasks[i]);
		error = rt_task_init(&tasks[i], drain, i, 4096, 1 + i) ?:
			rt_task_set_cpu(&tasks[i], 0);
		if (!error && serves)
			error = serves(&tasks[i], i);
	}
	if (serves)
		symbol_put(finegrain_serves);
	if (!error) {
		starter.fn = start_all;
		error = rt_timer_start(&starter, rt_get_time() + RT_TICKS_PER_SEC / 1000);
	}
	msleep(50);
	return error;
}

static const struct kernel_param_ops go_ops = { .set = go };
module_param_cb(go, &go_ops, NULL, 0200);

static void drain_exit(void)
{
	rt_timer_cancel(&starter);
	for (int i = 0; i < TASKS; i++)
		rt_task_delete(&tasks[i]);
	while (fifos)
		rtf_destroy(--fifos);
}

static int __init drain_init(void)
{
	int error = 0;

	while (fifos < TASKS && !error) {
		error = rtf_create(fifos, FIFO_BYTES);
		fifos += !error;
	}
	if (error)
		drain_exit();
	return error;
}

module_init(drain_init);
module_exit(drain_exit);
MODULE_DESCRIPTION("Three tasks that empty FIFOs");
MODULE_LICENSE("GPL");
