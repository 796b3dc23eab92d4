// SPDX-License-Identifier: GPL-2.0-only
/* Suspension, wake-ups and deletion, from every state and side. */
#include <linux/preempt.h>
#include <linux/smp.h>

#include "task_test.h"

/* ---- suspension ---- */

void test_wakeup_starts(void)
{
	forget();
	EXPECT(rt_task_init(&tasks[0], each_wakeup, 1, STACK, 1), 0);
	EXPECT(rt_task_set_cpu(&tasks[0], 0), 0);
	for (int i = 1; i <= 20; i++) {
		EXPECT(rt_task_wakeup(&tasks[0]), 0);
		EXPECT(UNTIL(READ_ONCE(ran) == i), true);
	}
	EXPECT(tasks[0].releases, 20);
	EXPECT(rt_task_set_cpu(&tasks[0], 0), -EBUSY);
	EXPECT(rt_task_delete(&tasks[0]), 0);
}

static void wakes_itself(int data)
{
	RTIME before;

	rt_task_wakeup(rt_task_self());
	rt_task_wakeup(rt_task_self());
	before = rt_get_time();
	results[0] = rt_task_suspend(rt_task_self());	/* the wake-up was kept */
	moments[0] = rt_get_time() - before;
	note(data);
	results[1] = rt_task_suspend(rt_task_self());	/* but one only */
	note(data);
}

void test_wakeup_before_suspend(void)
{
	forget();
	EXPECT(rt_task_init(&tasks[0], wakes_itself, 1, STACK, 1), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 1), true);
	msleep(5);
	EXPECT(ran, 1);
	EXPECT(results[0], 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 2), true);
	EXPECT(results[1], 0);
	rt_task_delete(&tasks[0]);
}

void test_suspend_periodic(void)
{
	RT_TASK *t = &tasks[0];
	RTIME start;
	int then;

	forget();
	EXPECT(rt_task_init(t, each_release, 1, STACK, 1), 0);
	start = rt_get_time();
	EXPECT(rt_task_make_periodic(t, start, MS), 0);
	EXPECT(UNTIL(READ_ONCE(ran) >= 5), true);
	EXPECT(rt_task_suspend(t), 0);
	EXPECT(rt_task_suspend(t), 0);
	then = READ_ONCE(ran);
	msleep(20);
	EXPECT(ran, then);
	EXPECT(rt_task_wakeup(t), 0);
	EXPECT(UNTIL(READ_ONCE(ran) >= then + 5), true);
	EXPECT(t->skipped >= 10, true);
	EXPECT((t->release - start) % MS, 0);
	EXPECT(rt_task_suspend(t), 0);
	EXPECT((t->next_release - start) / MS, t->releases + t->skipped);
	EXPECT(rt_task_delete(t), 0);
}

/* ---- deletion ---- */

void test_delete_by_state(void)
{
	int then;

	forget();
	/* Never started. */
	EXPECT(rt_task_init(&tasks[0], each_release, 1, STACK, 1), 0);
	EXPECT(rt_task_delete(&tasks[0]), 0);
	/* Waiting for its first release. */
	EXPECT(rt_task_init(&tasks[0], each_release, 1, STACK, 1), 0);
	EXPECT(rt_task_make_periodic(&tasks[0], rt_get_time() + 2 * MS, MS), 0);
	EXPECT(rt_task_delete(&tasks[0]), 0);
	msleep(5);
	EXPECT(ran, 0);
	/* Waiting inside rt_task_wait(). */
	EXPECT(rt_task_init(&tasks[0], each_release, 1, STACK, 1), 0);
	EXPECT(rt_task_make_periodic(&tasks[0], rt_get_time(), MS), 0);
	EXPECT(UNTIL(READ_ONCE(ran) > 3), true);
	EXPECT(rt_task_delete(&tasks[0]), 0);
	then = ran;
	msleep(5);
	EXPECT(ran, then);
	/* Suspended. */
	EXPECT(rt_task_init(&tasks[0], each_wakeup, 1, STACK, 1), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == then + 1), true);
	EXPECT(rt_task_delete(&tasks[0]), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), -EINVAL);
}

static void deletes_other(int data)
{
	results[0] = rt_task_delete(&tasks[1]);
	results[1] = rt_task_delete(&tasks[1]);
	results[2] = rt_task_wakeup(&tasks[1]);
	note(data);
	rt_task_delete(rt_task_self());
	note(99);		/* must not come here */
}

void test_delete_from_rt(void)
{
	forget();
	EXPECT(rt_task_init(&tasks[1], each_release, 2, STACK, 2), 0);
	EXPECT(rt_task_make_periodic(&tasks[1], rt_get_time() + 1000 * MS, MS), 0);
	EXPECT(rt_task_init(&tasks[0], deletes_other, 1, STACK, 1), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 1), true);
	EXPECT(results[0], 0);
	EXPECT(results[1], -EINVAL);
	EXPECT(results[2], -EINVAL);
	/* Linux frees both before long, without being asked. */
	EXPECT(UNTIL(!READ_ONCE(tasks[0].magic) && !READ_ONCE(tasks[1].magic)), true);
	EXPECT(rt_task_delete(&tasks[0]), -EINVAL);
	EXPECT(ran, 1);
	/* Init again at once after a deletion by RT code, many times. */
	for (int i = 0; i < 50; i++) {
		EXPECT(rt_task_init(&tasks[0], once, 1, STACK, 1), 0);
		EXPECT(rt_task_set_cpu(&tasks[0], 0), 0);
		EXPECT(rt_task_wakeup(&tasks[0]), 0);
		EXPECT(UNTIL(READ_ONCE(ran) == i + 2), true);
	}
	rt_task_delete(&tasks[0]);
	EXPECT(rt_task_delete(&tasks[0]), -EINVAL);
}

static void delete_in_timer(struct rt_timer *timer)
{
	results[0] = rt_task_delete(&tasks[0]);
	note(2);
}

/* A task that never yields, ended by an RT interrupt on top of it. */
void test_delete_running_from_timer(void)
{
	struct rt_timer timer = { .fn = delete_in_timer };

	forget();
	EXPECT(rt_task_init(&tasks[0], for_ever, 1, STACK, 1), 0);
	preempt_disable();	/* the timer goes where the task is, or Linux would not come back */
	if (tasks[0].cpu == smp_processor_id()) {
		EXPECT(rt_timer_start(&timer, rt_get_time() + 2 * MS), 0);
		EXPECT(rt_task_wakeup(&tasks[0]), 0);
		EXPECT(results[0], 0);
	}
	preempt_enable();
	rt_task_delete(&tasks[0]);
	rt_timer_cancel(&timer);
	EXPECT(rt_task_delete(&tasks[0]), -EINVAL);
}
