// SPDX-License-Identifier: GPL-2.0-only
/*
 * A simulated pendulum, held upright by an RT task a thousand times a second: pendulum.h. Each
 * job is a record in /dev/rtf/servo.
 */
#include <linux/module.h>
#include <rt/fifo.h>
#include <rt/task.h>

#include "control.h"

#define FIFO_JOBS 4000

static RT_TASK task;
static RTIME start;
static int fifo;

static void hold(int unused)
{
	struct servo_record record;

	rt_use_fp(1);
	do {
		control_job(rt_get_time() - start, task.release - start, &record);
		rtf_put(fifo, &record, sizeof(record));
	} while (rt_task_wait() != -EPERM);
}

static int __init servo_init(void)
{
	int err;

	fifo = rtf_create_named(THIS_MODULE, "servo", FIFO_JOBS * sizeof(struct servo_record));
	if (fifo < 0)
		return fifo;
	err = rtf_set_record(fifo, sizeof(struct servo_record));
	if (err)
		goto err_destroy;
	err = rt_task_init(&task, hold, 0, 8192, 1);
	if (err)
		goto err_destroy;
	rt_task_set_name(&task, "servo");
	start = rt_get_time() + SERVO_PERIOD_NS;
	err = rt_task_make_periodic(&task, start, SERVO_PERIOD_NS);
	if (err)
		goto err_delete;
	return 0;

err_delete:
	rt_task_delete(&task);
err_destroy:
	rtf_destroy(fifo);
	return err;
}

static void __exit servo_exit(void)
{
	rt_task_delete(&task);
	rtf_destroy(fifo);
}

module_init(servo_init);
module_exit(servo_exit);
MODULE_DESCRIPTION("Holds a simulated pendulum at 1 kHz");
MODULE_LICENSE("GPL");
