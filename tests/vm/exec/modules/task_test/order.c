// SPDX-License-Identifier: GPL-2.0-only
/* The order in which tasks run. */
#include "task_test.h"

void starter(int data)
{
	note(0);
	for (int i = 1; i <= data; i++)
		rt_task_wakeup(&tasks[i]);
	note(0);
}

void init_on_one_cpu(int n, void (*fn)(int), const int *priority)
{
	for (int i = 1; i <= n; i++) {
		EXPECT(rt_task_init(&tasks[i], fn, i, STACK, priority[i - 1]), 0);
		EXPECT(rt_task_set_cpu(&tasks[i], 0), 0);
	}
}

void test_priorities(void)
{
	static const int priority[] = { 9, 3, 5, 1 };
	static const int want[] = { 0, 2, 4, 0, 3, 1 };

	forget();
	EXPECT(rt_task_init(&tasks[0], starter, 4, STACK, 4), 0);
	EXPECT(rt_task_set_cpu(&tasks[0], 0), 0);
	init_on_one_cpu(4, once, priority);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 6), true);
	for (int i = 0; i < 6; i++)
		EXPECT(order[i], want[i]);
	delete_all();
}

void test_first_come_first_served(void)
{
	static const int priority[] = { 4, 4, 4, 4, 4 };

	forget();
	EXPECT(rt_task_init(&tasks[0], starter, 5, STACK, 4), 0);
	EXPECT(rt_task_set_cpu(&tasks[0], 0), 0);
	init_on_one_cpu(5, once, priority);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 7), true);
	EXPECT(order[0], 0);
	EXPECT(order[1], 0);
	for (int i = 2; i < 7; i++)
		EXPECT(order[i], i - 1);
	delete_all();
}

/* Equals that a more urgent task pre-empts go on in the order they were in. */
static void preempted_equal(int data)
{
	RTIME until;

	note(data);
	until = rt_get_time() + 5 * MS;
	while (rt_get_time() < until)
		;
	note(data);
}

void test_preemption_keeps_the_place(void)
{
	static const int priority[] = { 4, 4, 1 };
	int urgent = 0;

	forget();
	init_on_one_cpu(2, preempted_equal, priority);
	EXPECT(rt_task_init(&tasks[3], each_release, 3, STACK, 1), 0);
	EXPECT(rt_task_set_cpu(&tasks[3], 0), 0);
	EXPECT(rt_task_init(&tasks[0], starter, 2, STACK, 2), 0);
	EXPECT(rt_task_set_cpu(&tasks[0], 0), 0);
	EXPECT(rt_task_make_periodic(&tasks[3], rt_get_time() + MS, MS), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) > 12), true);
	EXPECT(rt_task_delete(&tasks[3]), 0);
	for (int i = 0, next = 0; i < 12; i++) {
		static const int others[] = { 0, 0, 1, 1, 2, 2 };

		if (order[i] == 3)
			urgent++;
		else if (next < 6)
			EXPECT(order[i], others[next++]);
	}
	EXPECT(urgent >= 4, true);
	delete_all();
}
