// SPDX-License-Identifier: GPL-2.0-only
/* Messages, budgets, the watchdog. */
#include <linux/irqflags.h>

#include "task_test.h"

/* ---- messages ---- */

static void talker(int data)
{
	/* Inside a section of Linux with interrupts off, where it cannot print. */
	for (int i = 0; i < data; i++)
		results[i % 8] = rt_printk(KERN_NOTICE "task_test says %d\n", i);
	results[8] = rt_printk("%s", test_name);
	note(1);
}

void test_printk(void)
{
	unsigned long flags;

	forget();
	EXPECT(rt_printk("task_test in Linux\n"), 19);
	EXPECT(rt_task_init(&tasks[0], talker, 8, STACK, 1), 0);
	EXPECT(rt_task_set_cpu(&tasks[0], 0), 0);
	local_irq_save(flags);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	local_irq_restore(flags);
	EXPECT(UNTIL(READ_ONCE(ran) == 1), true);
	for (int i = 0; i < 8; i++)
		EXPECT(results[i], strlen(KERN_NOTICE "task_test says 1\n"));
	EXPECT(results[8], strlen("printk"));
	rt_task_delete(&tasks[0]);

	/* More than fits. */
	EXPECT(rt_task_init(&tasks[0], talker, 5000, STACK, 1), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 2), true);
	EXPECT(results[0], -ENOSPC);
	EXPECT(results[8], -ENOSPC);
	rt_task_delete(&tasks[0]);
}

/* ---- CPU time ---- */

static void busy_jobs(int us)
{
	for (;;) {
		RTIME until = rt_get_time() + us * 1000LL;

		note(1);
		while (rt_get_time() < until)
			;
		note(2);
		if (rt_task_wait() == -EPERM)
			return;
	}
}

/* Jobs of so much CPU time: what is between two looks at the clock that are far apart was another's. */
static void thirsty_jobs(int us)
{
	do {
		RTIME had = 0, before = rt_get_time(), now;

		note(1);
		for (; had < us * 1000LL; before = now) {
			now = rt_get_time();
			if (now - before < 20000)
				had += now - before;
		}
	} while (rt_task_wait() != -EPERM);
}

/* Jobs of 400 us every 1 ms, by a task whose budget is 100 us. */
static void run_over_budget(void (*jobs)(int), enum rt_budget_action action, int releases)
{
	forget();
	EXPECT(rt_task_init(&tasks[0], jobs, 400, STACK, 1), 0);
	EXPECT(rt_task_set_budget(&tasks[0], 100000, action), 0);
	EXPECT(rt_task_make_periodic(&tasks[0], rt_get_time() + MS, MS), 0);
	EXPECT(UNTIL(tasks[0].releases >= releases), true);
	EXPECT(rt_task_suspend(&tasks[0]), 0);
}

void test_budget_count(void)
{
	run_over_budget(busy_jobs, RT_BUDGET_COUNT, 10);
	EXPECT(tasks[0].budget_overruns, tasks[0].releases);
	EXPECT(tasks[0].overruns, 0);
	EXPECT(tasks[0].max_exec >= 400000 && tasks[0].max_exec < 410000, true);
	delete_all();
}

/* 10 % of the CPU, give or take one budget, whatever its jobs need. */
void test_budget_throttle(void)
{
	static const int needs[] = { 400, 190, 110 };
	RTIME start, until;

	for (int i = 0; i < 3; i++) {
		forget();
		EXPECT(rt_task_init(&tasks[0], thirsty_jobs, needs[i], STACK, 1), 0);
		EXPECT(rt_task_set_budget(&tasks[0], 100000, RT_BUDGET_THROTTLE), 0);
		start = rt_get_time() + MS;
		EXPECT(rt_task_make_periodic(&tasks[0], start, MS), 0);
		msleep(100);
		EXPECT(rt_task_suspend(&tasks[0]), 0);
		until = rt_get_time();
		EXPECT(tasks[0].exec * 10 <= until - start + MS, true);
		EXPECT(tasks[0].exec * 10 >= until - start - MS, true);
		EXPECT(tasks[0].budget_overruns >= 90, true);
		delete_all();
	}
}

static void wake_stopped(struct rt_timer *timer)
{
	results[0] = rt_task_wakeup(&tasks[0]);
	note(2);
}

/* Stopped, it goes on when a Linux process says so, and then with a new budget. */
void test_budget_stop(void)
{
	run_over_budget(thirsty_jobs, RT_BUDGET_STOP, 1);
	EXPECT(tasks[0].budget_overruns, 1);
	EXPECT(tasks[0].stopped, 1);
	EXPECT(ran, 1);
	/* The line in the log is on its account. */
	EXPECT(tasks[0].exec >= 100000 && tasks[0].exec < 103000, true);
	/* What its interrupt would do. */
	timers[0].fn = wake_stopped;
	EXPECT(rt_timer_start(&timers[0], rt_get_time() + MS), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 2), true);
	EXPECT(results[0], 0);
	msleep(3);
	EXPECT(tasks[0].stopped, 1);
	EXPECT(tasks[0].budget_overruns, 1);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(tasks[0].budget_overruns) == 2), true);
	EXPECT(tasks[0].stopped, 1);
	EXPECT(tasks[0].exec >= 200000 && tasks[0].exec < 206000, true);
	delete_all();
}

/* A task that never yields is stopped after 100 ms; one beside it that does, is not. */
void test_watchdog(void)
{
	RTIME start;

	forget();
	EXPECT(rt_task_init(&tasks[1], each_release, 5, STACK, 1), 0);
	EXPECT(rt_task_set_cpu(&tasks[1], 0), 0);
	EXPECT(rt_task_make_periodic(&tasks[1], rt_get_time() + MS, MS), 0);
	EXPECT(rt_task_init(&tasks[0], for_ever, 1, STACK, 2), 0);
	EXPECT(rt_task_set_cpu(&tasks[0], 0), 0);
	EXPECT(rt_task_set_name(&tasks[0], "hog"), 0);
	start = rt_get_time();
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(tasks[0].stopped)), true);
	EXPECT(rt_get_time() - start < 110 * MS, true);
	EXPECT(tasks[0].exec > 90 * MS && tasks[0].exec < 101 * MS, true);
	EXPECT(tasks[1].stopped, 0);
	EXPECT(tasks[1].overruns, 0);
	/* Let go on, it is stopped again. */
	start = tasks[0].exec;
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(tasks[0].stopped)), true);
	EXPECT(tasks[0].exec - start > 90 * MS && tasks[0].exec - start < 101 * MS, true);
	EXPECT(rt_task_delete(&tasks[0]), 0);
	delete_all();
}
