// SPDX-License-Identifier: GPL-2.0-only
/* RT timers. */
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/slab.h>

#include "task_test.h"

struct rt_timer timers[8];

void note_timer(struct rt_timer *timer)
{
	if (count < ARRAY_SIZE(moments))
		moments[count] = rt_get_time() - timer->expires;
	count++;
	note(timer - timers);
}

void test_timer_order(void)
{
	RTIME base;

	forget();
	preempt_disable();
	base = rt_get_time() + 2 * MS;
	for (int i = 0; i < 6; i++) {
		timers[i] = (struct rt_timer) { .fn = note_timer };
		/* 5 and 4 first, then 3, 2, 1, 0; 4 and 5 at the same moment. */
		EXPECT(rt_timer_start(&timers[i], i < 4 ? base + (4 - i) * MS : base), 0);
	}
	/* Moved, not doubled. */
	EXPECT(rt_timer_start(&timers[0], base + 9 * MS), 0);
	EXPECT(rt_timer_start(&timers[0], base + 5 * MS), 0);
	EXPECT(rt_timer_cancel(&timers[2]), 1);
	EXPECT(rt_timer_cancel(&timers[2]), 0);
	preempt_enable();
	EXPECT(UNTIL(READ_ONCE(ran) == 5), true);
	msleep(5);
	EXPECT(ran, 5);
	EXPECT(order[0], 4);
	EXPECT(order[1], 5);
	EXPECT(order[2], 3);
	EXPECT(order[3], 1);
	EXPECT(order[4], 0);
	for (int i = 0; i < 5; i++)
		EXPECT(moments[i] >= 0, true);
	EXPECT(timers[0].expires, base + 5 * MS);
}

void test_timer_arguments(void)
{
	struct rt_timer none = {};

	timers[0] = (struct rt_timer) { .fn = no_timer };
	EXPECT(rt_timer_start(NULL, 0), -EINVAL);
	EXPECT(rt_timer_start(&none, 0), -EINVAL);
	EXPECT(rt_timer_start(&timers[0], -1), -EINVAL);
	EXPECT(rt_timer_cancel(NULL), -EINVAL);
	EXPECT(rt_timer_cancel(&none), 0);
	EXPECT(rt_timer_cancel(&timers[0]), 0);
}

void again_in_the_past(struct rt_timer *timer)
{
	count++;
	rt_timer_start(timer, 1);
}

/* A function that always starts its timer for the past locks out neither tasks nor Linux. */
void test_timer_flood(void)
{
	forget();
	timers[0] = (struct rt_timer) { .fn = again_in_the_past };
	timers[1] = (struct rt_timer) { .fn = again_in_the_past };
	EXPECT(rt_timer_start(&timers[0], 1), 0);
	EXPECT(rt_timer_start(&timers[1], 1), 0);
	EXPECT(rt_task_init(&tasks[0], each_release, 1, STACK, 1), 0);
	EXPECT(rt_task_make_periodic(&tasks[0], rt_get_time(), MS), 0);
	msleep(20);
	EXPECT(READ_ONCE(ran) >= 10, true);
	EXPECT(rt_task_delete(&tasks[0]), 0);
	EXPECT(rt_timer_cancel(&timers[0]), 1);
	EXPECT(rt_timer_cancel(&timers[1]), 1);
	EXPECT(count > 100, true);
	count = 0;
	msleep(5);
	EXPECT(count, 0);
}

void test_timer_limit(void)
{
	struct rt_timer *many = kvcalloc(RT_MAX_TIMERS + 1, sizeof(*many), GFP_KERNEL);
	RTIME far = rt_get_time() + 1000000 * MS;
	int i, refused;

	EXPECT(!many, false);
	if (!many)
		return;
	preempt_disable();
	for (i = 0; i <= RT_MAX_TIMERS; i++)
		many[i].fn = no_timer;
	for (i = 0; i < RT_MAX_TIMERS; i++)
		if (rt_timer_start(&many[i], far - i))
			break;
	EXPECT(i, RT_MAX_TIMERS);
	refused = rt_timer_start(&many[RT_MAX_TIMERS], far);
	EXPECT(refused, -ENOSPC);
	EXPECT(rt_timer_cancel(&many[RT_MAX_TIMERS]), 0);
	/* One that is queued can be moved. */
	EXPECT(rt_timer_start(&many[5], far + 5), 0);
	preempt_enable();
	/* Tasks do not count. */
	forget();
	EXPECT(rt_task_init(&tasks[0], each_release, 1, STACK, 1), 0);
	EXPECT(rt_task_make_periodic(&tasks[0], rt_get_time(), MS), 0);
	EXPECT(UNTIL(READ_ONCE(ran) >= 5), true);
	EXPECT(rt_task_delete(&tasks[0]), 0);
	for (i = 0; i < RT_MAX_TIMERS; i++)
		EXPECT(rt_timer_cancel(&many[i]), 1);
	kvfree(many);
}
