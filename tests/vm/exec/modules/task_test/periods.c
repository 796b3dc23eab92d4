// SPDX-License-Identifier: GPL-2.0-only
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

/* ---- sporadic tasks ---- */

#define ARRIVALS 40

static int arrivals;

/* Every 300 us, from an RT timer: three times as often as the task may be released. */
static void knock(struct rt_timer *timer)
{
	rt_task_wakeup(&tasks[0]);
	if (++arrivals < ARRIVALS)
		rt_timer_start(timer, timer->expires + 3 * MS / 10);
}

static void each_arrival(int unused)
{
	while (rt_task_wait() != -EPERM)
		moments[count++] = rt_get_time();
}

void test_sporadic(void)
{
	RTIME start;

	forget();
	arrivals = 0;
	timers[0].fn = knock;
	EXPECT(rt_task_init(&tasks[0], each_arrival, 0, STACK, 1), 0);
	EXPECT(rt_task_make_sporadic(&tasks[0], 0), -EINVAL);
	EXPECT(rt_task_make_sporadic(&tasks[0], RT_PERIOD_MAX_NS + 1), -EINVAL);
	EXPECT(rt_task_make_sporadic(&tasks[0], MS), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);	/* the job that calls rt_task_wait() first */
	msleep(3);
	EXPECT(count, 0);
	start = rt_get_time() + MS;
	EXPECT(rt_timer_start(&timers[0], start), 0);
	EXPECT(UNTIL(READ_ONCE(arrivals) == ARRIVALS), true);
	msleep(3);
	/* The first arrival is answered at once, the others at intervals of 1 ms. */
	EXPECT(count, 1 + (ARRIVALS - 1) * 3 / 10 + 1);
	for (int i = 0; i < count; i++)
		EXPECT(moments[i] - start - i * MS >= 0 && moments[i] - start - i * MS < MS / 10, true);
	EXPECT(tasks[0].releases, count + 1);
	EXPECT(tasks[0].skipped, ARRIVALS - count);
	EXPECT(tasks[0].overruns, 0);
	EXPECT(rt_timer_cancel(&timers[0]), 0);
	delete_all();
}

/* ---- clocks ---- */

/* A moment of one clock is the same moment by the other, and there and back is where we were. */
void test_clocks(void)
{
	RTIME now = rt_get_time();
	long long ns = rt_to_monotonic_ns(now), error;

	error = ktime_get_ns() - ns;
	EXPECT(error >= 0 && error < MS / 10, true);
	error = rt_from_monotonic_ns(ns) - now;
	EXPECT(error > -MS / 100 && error < MS / 100, true);
	EXPECT(rt_to_monotonic_ns(now + 1000 * MS) - ns > 999 * MS, true);
	EXPECT(rt_ticks_to_ns(RT_TICKS_PER_SEC), 1000 * MS);
	EXPECT(rt_ns_to_ticks(1000 * MS), RT_TICKS_PER_SEC);
}
