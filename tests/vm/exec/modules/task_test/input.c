// SPDX-License-Identifier: GPL-2.0-only
/* Arguments and contexts that each call must refuse. */
#include <linux/limits.h>
#include <linux/mm.h>

#include "task_test.h"

void test_init_arguments(void)
{
	RT_TASK *t = &tasks[0];

	EXPECT(rt_task_init(NULL, once, 0, STACK, 1), -EINVAL);
	EXPECT(rt_task_init(t, NULL, 0, STACK, 1), -EINVAL);
	EXPECT(rt_task_init(t, once, 0, -1, 1), -EINVAL);
	EXPECT(rt_task_init(t, once, 0, 0, 1), -EINVAL);
	EXPECT(rt_task_init(t, once, 0, RT_STACK_MIN_BYTES - 1, 1), -EINVAL);
	EXPECT(rt_task_init(t, once, 0, RT_STACK_MAX_BYTES + 1, 1), -EINVAL);
	EXPECT(rt_task_init(t, once, 0, INT_MAX, 1), -EINVAL);
	EXPECT(rt_task_init(t, once, 0, INT_MIN, 1), -EINVAL);
	EXPECT(rt_task_init(t, once, 0, STACK, 0), -EINVAL);
	EXPECT(rt_task_init(t, once, 0, STACK, -1), -EINVAL);
	EXPECT(rt_task_init(t, once, 0, STACK, RT_LOWEST_PRIORITY + 1), -EINVAL);
	EXPECT(memchr_inv(t, 0, sizeof(*t)) == NULL, true);
	EXPECT(rt_task_init(t, once, 0, RT_STACK_MIN_BYTES, 1), 0);
	EXPECT(rt_task_init(t, once, 0, STACK, 1), -EBUSY);
	EXPECT(rt_task_delete(t), 0);
	EXPECT(rt_task_init(t, once, 0, RT_STACK_MAX_BYTES, RT_LOWEST_PRIORITY), 0);
	EXPECT(rt_task_delete(t), 0);
	/* Not zeroed before: as memory from kmalloc() may be. */
	memset(t, 0xa5, sizeof(*t));
	EXPECT(rt_task_delete(t), -EINVAL);
	EXPECT(rt_task_init(t, once, 0, STACK, 1), 0);
	EXPECT(rt_task_delete(t), 0);
}

void test_no_such_task(void)
{
	static RT_TASK zero, garbage, copy;

	memset(&garbage, 0x5a, sizeof(garbage));
	EXPECT(rt_task_init(&tasks[0], once, 0, STACK, 1), 0);
	copy = tasks[0];
	RT_TASK *bad[] = { NULL, &zero, &garbage, &copy };

	for (int i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT(rt_task_make_periodic(bad[i], 0, MS), -EINVAL);
		EXPECT(rt_task_suspend(bad[i]), -EINVAL);
		EXPECT(rt_task_wakeup(bad[i]), -EINVAL);
		EXPECT(rt_task_set_cpu(bad[i], 0), -EINVAL);
		EXPECT(rt_task_set_name(bad[i], "x"), -EINVAL);
		EXPECT(rt_task_set_deadline(bad[i], MS), -EINVAL);
		EXPECT(rt_task_set_budget(bad[i], MS, RT_BUDGET_COUNT), -EINVAL);
		EXPECT(rt_task_delete(bad[i]), -EINVAL);
	}
	EXPECT(rt_task_delete(&tasks[0]), 0);
	EXPECT(rt_task_delete(&tasks[0]), -EINVAL);
	EXPECT(rt_task_wakeup(&tasks[0]), -EINVAL);
	EXPECT(rt_task_make_periodic(&tasks[0], 0, MS), -EINVAL);
}

void test_period_arguments(void)
{
	RT_TASK *t = &tasks[0];

	forget();
	EXPECT(rt_task_init(t, each_release, 1, STACK, 1), 0);
	EXPECT(rt_task_make_periodic(t, rt_get_time(), 0), -EINVAL);
	EXPECT(rt_task_make_periodic(t, rt_get_time(), -MS), -EINVAL);
	EXPECT(rt_task_make_periodic(t, rt_get_time(), RT_PERIOD_MIN_NS - 1), -EINVAL);
	EXPECT(rt_task_make_periodic(t, rt_get_time(), RT_PERIOD_MAX_NS + 1), -EINVAL);
	EXPECT(rt_task_make_periodic(t, rt_get_time(), LLONG_MAX), -EINVAL);
	EXPECT(rt_task_make_periodic(t, -1, MS), -EINVAL);
	EXPECT(rt_task_make_periodic(t, LLONG_MIN, MS), -EINVAL);
	EXPECT(rt_task_make_periodic(t, LLONG_MAX, MS), -EINVAL);
	EXPECT(rt_task_make_periodic(t, LLONG_MAX - MS + 1, MS), -EINVAL);
	msleep(5);
	EXPECT(ran, 0);
	EXPECT(rt_task_set_deadline(t, -1), -EINVAL);
	EXPECT(rt_task_set_deadline(t, RT_PERIOD_MAX_NS + 1), -EINVAL);
	EXPECT(rt_task_set_deadline(t, RT_PERIOD_MAX_NS), 0);
	EXPECT(rt_task_set_deadline(t, 0), 0);
	EXPECT(rt_task_set_budget(t, -1, RT_BUDGET_COUNT), -EINVAL);
	EXPECT(rt_task_set_budget(t, RT_PERIOD_MAX_NS + 1, RT_BUDGET_COUNT), -EINVAL);
	EXPECT(rt_task_set_budget(t, MS, -1), -EINVAL);
	EXPECT(rt_task_set_budget(t, MS, RT_BUDGET_STOP + 1), -EINVAL);
	EXPECT(rt_task_make_periodic(t, LLONG_MAX - MS, MS), 0);
	msleep(5);
	EXPECT(ran, 0);
	EXPECT(rt_task_delete(t), 0);
}

void test_names(void)
{
	EXPECT(rt_task_init(&tasks[0], once, 0, STACK, 1), 0);
	EXPECT(strcmp(tasks[0].name, "once"), 0);
	EXPECT(rt_task_set_name(&tasks[0], NULL), -EINVAL);
	EXPECT(rt_task_set_name(&tasks[0], ""), -EINVAL);
	EXPECT(rt_task_set_name(&tasks[0], "a b"), -EINVAL);
	EXPECT(rt_task_set_name(&tasks[0], "a\n"), -EINVAL);
	EXPECT(strcmp(tasks[0].name, "once"), 0);
	EXPECT(rt_task_set_name(&tasks[0], "a_name_longer_than_fits"), 0);
	EXPECT(strcmp(tasks[0].name, "a_name_longer_t"), 0);
	EXPECT(rt_task_delete(&tasks[0]), 0);
}

static RT_TASK other;
static const struct rt_sched_ops no_ops;

static void misuse(int data)
{
	results[0] = rt_context();
	results[1] = rt_task_init(&other, once, 0, STACK, 1);
	results[2] = rt_task_wait();
	results[3] = rt_task_set_cpu(&tasks[0], 0);
	results[4] = rt_task_set_name(&tasks[0], "x");
	results[5] = rt_sched_register(&no_ops);
	results[6] = rt_task_self() == &tasks[0];
	results[7] = rt_task_make_periodic(&tasks[0], -1, MS);
	results[8] = rt_task_suspend(NULL);
	note(1);
}

static void misuse_in_timer(struct rt_timer *timer)
{
	results[9] = rt_context();
	results[10] = rt_task_wait();
	results[11] = rt_task_init(&other, once, 0, STACK, 1);
	note(2);
}

void test_context(void)
{
	struct rt_timer timer = { .fn = misuse_in_timer };

	forget();
	EXPECT(rt_context(), RT_CONTEXT_LINUX);
	EXPECT(rt_task_wait(), -EPERM);
	EXPECT(rt_task_self() == NULL, true);
	EXPECT(rt_sched_register(NULL), -EINVAL);
	EXPECT(rt_sched_register(&no_ops), -EINVAL);
	rt_sched_unregister(NULL);
	rt_sched_unregister(&no_ops);
	EXPECT(rt_task_init(&tasks[0], misuse, 0, STACK, 1), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(ran == 1), true);
	EXPECT(rt_timer_start(&timer, rt_get_time() + MS), 0);
	EXPECT(UNTIL(ran == 2), true);
	EXPECT(rt_timer_cancel(&timer), 0);
	EXPECT(results[0], RT_CONTEXT_TASK);
	EXPECT(results[1], -EPERM);
	EXPECT(results[2], -EPERM);
	EXPECT(results[3], -EPERM);
	EXPECT(results[4], -EPERM);
	EXPECT(results[5], -EPERM);
	EXPECT(results[6], 1);
	EXPECT(results[7], -EINVAL);
	EXPECT(results[8], -EINVAL);
	EXPECT(results[9], RT_CONTEXT_IRQ);
	EXPECT(results[10], -EPERM);
	EXPECT(results[11], -EPERM);
	EXPECT(rt_context(), RT_CONTEXT_LINUX);
	/* It ended by itself; whether Linux has got to it by now is open. */
	rt_task_delete(&tasks[0]);
	EXPECT(rt_task_delete(&tasks[0]), -EINVAL);
}

void test_too_many_tasks(void)
{
	RT_TASK *many = kvcalloc(RT_MAX_TASKS + 1, sizeof(*many), GFP_KERNEL);
	int made = 0, error = 0;

	EXPECT(!many, false);
	if (!many)
		return;
	while (made <= RT_MAX_TASKS) {
		error = rt_task_init(&many[made], once, 0, RT_STACK_MIN_BYTES, 1);
		if (error)
			break;
		made++;
	}
	EXPECT(error, -ENOSPC);
	/* On one CPU; others may be used where there are more, if we were moved about. */
	EXPECT(made >= RT_MAX_TASKS, true);
	while (made--)
		EXPECT(rt_task_delete(&many[made]), 0);
	kvfree(many);
}
