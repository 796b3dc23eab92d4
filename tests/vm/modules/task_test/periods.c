// SPDX-License-Identifier: GPL-2.0
/* Release moments: exact counts, starts, overruns, sleeping in a job. */
#include "task_test.h"

static void exact(int data)
{
	do {
		if (count < ARRAY_SIZE(moments))
			moments[count] = rt_get_time();
		WRITE_ONCE(count, count + 1);
	} while (count < data && rt_task_wait() != -EPERM);
	rt_task_suspend(rt_task_self());
}

void test_exact_releases(void)
{
	RT_TASK *t = &tasks[0];
	RTIME start, period = MS / 2;
	int early = 0, late = 0;

	forget();
	EXPECT(rt_task_init(t, exact, 400, STACK, 1), 0);
	start = rt_get_time() + 2 * MS;
	EXPECT(rt_task_make_periodic(t, start, period), 0);
	EXPECT(UNTIL(READ_ONCE(count) >= 400), true);
	for (int k = 0; k < 400; k++) {
		early += moments[k] < start + k * period;
		late += moments[k] >= start + (k + 1) * period;
	}
	EXPECT(early, 0);
	/* Never a period late, unless the host of the virtual machine held it up. */
	EXPECT(late <= t->overruns, true);
	EXPECT(t->releases, 400);
	EXPECT(t->release, start + 399 * period);
	msleep(10);
	EXPECT(count, 400);
	EXPECT(rt_task_delete(t), 0);
}

void test_start_now(void)
{
	RT_TASK *t = &tasks[0];
	RTIME start;

	forget();
	EXPECT(rt_task_init(t, each_release, 1, STACK, 1), 0);
	start = rt_get_time();
	EXPECT(rt_task_make_periodic(t, start, 1000 * MS), 0);
	/* It was more urgent than the process that called. */
	EXPECT(t->cpu != raw_smp_processor_id() || ran == 1, true);
	EXPECT(UNTIL(READ_ONCE(ran) == 1), true);
	EXPECT(t->release, start);
	EXPECT(t->next_release, start + 1000 * MS);
	EXPECT(rt_task_delete(t), 0);
}

/* A start long ago: one release at once, the next on the grid. */
void test_start_in_the_past(void)
{
	RT_TASK *t = &tasks[0];
	RTIME now;

	forget();
	EXPECT(rt_task_init(t, each_release, 1, STACK, 1), 0);
	now = rt_get_time();
	EXPECT(rt_task_make_periodic(t, 7, 3000 * MS), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 1), true);
	EXPECT((t->release - 7) % (3000 * MS), 0);
	EXPECT(t->release <= now, true);
	EXPECT(t->releases, 1);
	EXPECT(rt_task_delete(t), 0);
}

static void overrun(int data)
{
	RTIME start = tasks[0].release;

	/* The first job takes three and a half periods. */
	while (rt_get_time() < start + 7 * MS / 2)
		;
	for (int i = 0; i < 6; i++) {
		results[i] = rt_task_wait();
		moments[i] = tasks[0].release - start;
		WRITE_ONCE(count, i + 1);
	}
	rt_task_suspend(&tasks[0]);
}

void test_overrun(void)
{
	RT_TASK *t = &tasks[0];

	forget();
	EXPECT(rt_task_init(t, overrun, 0, STACK, 1), 0);
	EXPECT(rt_task_make_periodic(t, rt_get_time(), MS), 0);
	EXPECT(UNTIL(READ_ONCE(count) == 6), true);
	for (int i = 0; i < 6; i++) {
		EXPECT(moments[i], (i + 1) * MS);
		EXPECT(results[i], i < 3 ? -ETIMEDOUT : 0);
	}
	EXPECT(t->overruns, 3);
	EXPECT(t->releases, 7);
	EXPECT(rt_task_delete(t), 0);
}

static void makes_itself_periodic(int data)
{
	results[0] = rt_task_wait();
	results[1] = rt_task_make_periodic(rt_task_self(), rt_get_time(), 2 * MS);
	for (int i = 0; i < 4; i++) {
		results[2 + i] = rt_task_wait();
		note(data);
	}
}

void test_makes_itself_periodic(void)
{
	forget();
	EXPECT(rt_task_init(&tasks[0], makes_itself_periodic, 1, STACK, 1), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 4), true);
	EXPECT(results[0], -EPERM);
	for (int i = 1; i < 6; i++)
		EXPECT(results[i], 0);
	msleep(5);
	EXPECT(ran, 4);
	rt_task_delete(&tasks[0]);
}

static void sleeper(int data)
{
	RTIME start = rt_get_time();

	results[0] = rt_task_sleep_until(-1);
	results[1] = rt_task_sleep_until(start - 5);
	results[2] = rt_task_sleep_until(start + 3 * MS);
	moments[0] = rt_get_time() - start;
	results[3] = rt_task_sleep_until(start + 4 * MS);
	moments[1] = rt_get_time() - start;
	note(data);
	rt_task_sleep_until(RT_NO_DEADLINE - 1);
	note(99);
}

void test_sleep(void)
{
	forget();
	EXPECT(rt_task_sleep_until(0), -EPERM);
	EXPECT(rt_task_init(&tasks[0], sleeper, 1, STACK, 1), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 1), true);
	EXPECT(results[0], -EINVAL);
	for (int i = 1; i < 4; i++)
		EXPECT(results[i], 0);
	EXPECT(moments[0] >= 3 * MS && moments[0] < 3 * MS + MS / 100, true);
	EXPECT(moments[1] >= 4 * MS && moments[1] < 4 * MS + MS / 100, true);
	/* Deleted in its sleep. */
	EXPECT(rt_task_delete(&tasks[0]), 0);
	EXPECT(ran, 1);
}
