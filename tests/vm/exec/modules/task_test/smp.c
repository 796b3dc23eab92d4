// SPDX-License-Identifier: GPL-2.0-only
/* Tasks and timers of another CPU. */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "task_test.h"

void test_remote(void)
{
	RT_TASK *t = &tasks[0];
	int then;

	forget();
	EXPECT(rt_task_init(t, each_wakeup, 1, STACK, 1), 0);
	EXPECT(rt_task_set_cpu(t, -1), -EINVAL);
	EXPECT(rt_task_set_cpu(t, nr_cpu_ids), -EINVAL);
	EXPECT(rt_task_set_cpu(t, 1), 0);
	EXPECT(t->cpu, 1);
	for (int i = 1; i <= 50; i++) {
		EXPECT(rt_task_wakeup(t), 0);
		EXPECT(UNTIL(READ_ONCE(ran) == i), true);
	}
	EXPECT(rt_task_delete(t), 0);

	/* Periods of a remote task: its CPU must set its own timer. */
	EXPECT(rt_task_init(t, each_release, 1, STACK, 1), 0);
	EXPECT(rt_task_set_cpu(t, 1), 0);
	then = ran;
	EXPECT(rt_task_make_periodic(t, rt_get_time() + MS, MS), 0);
	EXPECT(UNTIL(READ_ONCE(ran) >= then + 20), true);
	EXPECT(rt_task_suspend(t), 0);
	msleep(2);
	then = READ_ONCE(ran);
	msleep(10);
	EXPECT(READ_ONCE(ran), then);
	EXPECT(rt_task_wakeup(t), 0);
	EXPECT(UNTIL(READ_ONCE(ran) > then), true);
	EXPECT(rt_task_delete(t), 0);
	then = READ_ONCE(ran);
	msleep(10);
	EXPECT(READ_ONCE(ran), then);
}

static long pinned_remote(void *unused)
{
	int then;

	/* Deleted while it runs and never yields. */
	EXPECT(rt_task_init(&tasks[0], for_ever, 1, STACK, 1), 0);
	EXPECT(rt_task_set_cpu(&tasks[0], 1), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) > 1000), true);
	EXPECT(rt_task_set_cpu(&tasks[0], 0), -EBUSY);
	EXPECT(rt_task_delete(&tasks[0]), 0);
	then = READ_ONCE(ran);
	msleep(5);
	EXPECT(READ_ONCE(ran), then);

	/* Suspended and resumed while it runs. */
	EXPECT(rt_task_init(&tasks[0], for_ever, 1, STACK, 1), 0);
	EXPECT(rt_task_set_cpu(&tasks[0], 1), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) > then + 1000), true);
	EXPECT(rt_task_suspend(&tasks[0]), 0);
	msleep(2);
	then = READ_ONCE(ran);
	msleep(5);
	EXPECT(READ_ONCE(ran), then);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) > then + 1000), true);
	EXPECT(rt_task_delete(&tasks[0]), 0);
	return 0;
}

/* Run on CPU 0, or the task that never yields would be on top of this. */
void test_remote_running(void)
{
	forget();
	work_on_cpu(0, pinned_remote, NULL);
}

static long start_timer_here(void *timer)
{
	return rt_timer_start(timer, rt_get_time() + 1000000 * MS);
}

static long start_timer_soon(void *timer)
{
	return rt_timer_start(timer, rt_get_time() + MS);
}

static long cancel_timer(void *timer)
{
	return rt_timer_cancel(timer);
}

static void slow_timer(struct rt_timer *timer)
{
	RTIME until = rt_get_time() + 30 * MS;

	WRITE_ONCE(results[0], 1);
	while (rt_get_time() < until)
		;
	WRITE_ONCE(results[0], 2);
}

/* Cancel waits for a function that runs on the other CPU. */
static long pinned_cancel(void *unused)
{
	int left = 1000000;

	while (READ_ONCE(results[0]) != 1 && --left)
		cpu_relax();
	EXPECT(rt_timer_cancel(&timers[0]), 0);
	EXPECT(READ_ONCE(results[0]), 2);
	return 0;
}

void test_remote_timer_cancel(void)
{
	for (int i = 0; i < 5; i++) {
		forget();
		timers[0] = (struct rt_timer) { .fn = slow_timer };
		EXPECT(work_on_cpu(1, start_timer_soon, &timers[0]), 0);
		work_on_cpu(0, pinned_cancel, NULL);
	}
}

void test_remote_timer(void)
{
	forget();
	timers[0] = (struct rt_timer) { .fn = note_timer };
	EXPECT(work_on_cpu(1, start_timer_here, &timers[0]), 0);
	EXPECT(timers[0].cpu, 1);
	EXPECT(work_on_cpu(0, start_timer_soon, &timers[0]), 0);
	EXPECT(timers[0].cpu, 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 1), true);
	EXPECT(work_on_cpu(1, start_timer_here, &timers[0]), 0);
	EXPECT(work_on_cpu(0, cancel_timer, &timers[0]), 1);
	EXPECT(work_on_cpu(1, cancel_timer, &timers[0]), 0);
	/* Cancel defeats a function that always starts its timer again. */
	timers[1] = (struct rt_timer) { .fn = again_in_the_past };
	for (int i = 0; i < 50; i++) {
		int then;

		EXPECT(work_on_cpu(1, start_timer_soon, &timers[1]), 0);
		usleep_range(1000, 1500);
		EXPECT(work_on_cpu(0, cancel_timer, &timers[1]) >= 0, true);
		then = READ_ONCE(count);
		udelay(50);
		EXPECT(READ_ONCE(count), then);
	}
}

static void ping(int data)
{
	/* Two tasks on two CPUs wake each other. */
	for (int i = 0; i < 200; i++) {
		note(data);
		rt_task_wakeup(&tasks[!data]);
		rt_task_suspend(rt_task_self());
	}
	rt_task_wakeup(&tasks[!data]);
}

void test_remote_ping_pong(void)
{
	forget();
	for (int i = 0; i < 2; i++) {
		EXPECT(rt_task_init(&tasks[i], ping, i, STACK, 1), 0);
		EXPECT(rt_task_set_cpu(&tasks[i], i), 0);
	}
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(tasks[0].state) == 0 && READ_ONCE(tasks[1].state) == 0), true);
	delete_all();
}

static long churn(void *seed)
{
	RT_TASK *task = kzalloc(sizeof(*task), GFP_KERNEL);

	if (!task)
		return -ENOMEM;
	for (int i = 0; i < 300; i++) {
		if (rt_task_init(task, i % 3 ? each_release : once, 1, STACK, 1 + i % 5))
			break;
		rt_task_set_cpu(task, (i / 2 + (long)seed) % 2);
		if (i % 3)
			rt_task_make_periodic(task, rt_get_time(), MS / 4);
		else
			rt_task_wakeup(task);
		if (i % 4 == 0)
			usleep_range(50, 100);
		if (i % 5 == 0)
			rt_task_suspend(task);
		if (i % 7 == 0)
			rt_task_wakeup(task);
		rt_task_delete(task);
	}
	kfree(task);
	return 0;
}

static int churn_thread(void *done)
{
	churn((void *)1);
	complete(done);
	return 0;
}

void test_remote_churn(void)
{
	DECLARE_COMPLETION_ONSTACK(done);

	forget();
	kthread_run(churn_thread, &done, "churn");
	EXPECT(churn((void *)0), 0);
	wait_for_completion(&done);
}
