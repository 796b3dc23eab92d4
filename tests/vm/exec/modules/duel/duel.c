// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two CPUs do things to the same object, again and again: what a race would break.
 *
 *	insmod duel.ko what=cancel rounds=200
 *
 * Load it on CPU 0. It ends with -EIO, and the log says what was wrong, if something was. Each wait
 * has a limit far above the length of a CPU's turn (schedule.c). tests/vm/explore runs it.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#include <rt/sync.h>
#include <rt/task.h>
#include <rt/time.h>
#include <rt/timer.h>

#define STACK 4096
#define US 1000LL

static char *what = "cancel";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "cancel, delete, wakeup or semaphore");

static int rounds = 200;
module_param(rounds, int, 0444);

static RT_TASK tasks[2];
static struct rt_timer timer;
static int count;

#define UNTIL(limit_ms, condition)					\
({									\
	int left_ = (limit_ms) * 20;					\
									\
	while (!(condition) && --left_)					\
		usleep_range(50, 60);					\
	left_ > 0;							\
})

static int wrong(int round, const char *how)
{
	pr_err("duel: %s: round %d: %s\n", what, round, how);
	return -EIO;
}

static int new_task(RT_TASK *task, void (*fn)(int), int cpu)
{
	return rt_task_init(task, fn, 0, STACK, 1) ?: rt_task_set_cpu(task, cpu);
}

static void note(int unused)
{
	for (;;) {
		WRITE_ONCE(count, READ_ONCE(count) + 1);
		rt_task_suspend(rt_task_self());
	}
}

static void busy(int unused)
{
	for (;;)
		WRITE_ONCE(count, READ_ONCE(count) + 1);
}

/* A timer that always starts anew: its function runs no more when its cancel has returned. */

static void again(struct rt_timer *t)
{
	WRITE_ONCE(count, READ_ONCE(count) + 1);
	rt_timer_start(t, rt_get_time() + 2 * US);
}

static long start_timer(void *t)
{
	return rt_timer_start(t, rt_get_time() + 2 * US);
}

static int cancel(void)
{
	timer = (struct rt_timer) { .fn = again };
	for (int i = 0; i < rounds; i++) {
		int then;

		work_on_cpu(1, start_timer, &timer);
		udelay(i % 50);
		rt_timer_cancel(&timer);
		then = READ_ONCE(count);
		udelay(20);
		if (READ_ONCE(count) != then || rt_timer_cancel(&timer))
			return wrong(i, "the timer went on after it was cancelled");
	}
	return 0;
}

/* A running task's stack is freed, and used again, when its CPU has left it. */
static int delete(void)
{
	for (int i = 0; i < rounds; i++) {
		int then = READ_ONCE(count), err;

		err = new_task(&tasks[0], busy, 1);
		if (err)
			return err;
		rt_task_wakeup(&tasks[0]);
		if (!UNTIL(100, READ_ONCE(count) != then))
			return wrong(i, "the task did not start");
		rt_task_delete(&tasks[0]);
	}
	return 0;
}

/* A task is deleted by one CPU and woken up by another: it stays dead. */

static void wake(struct rt_timer *t)
{
	rt_task_wakeup(&tasks[0]);
	rt_timer_start(t, rt_get_time() + 2 * US);
}

static int wakeup(void)
{
	int err = 0;

	for (int i = 0; i < rounds && !err; i++) {
		err = new_task(&tasks[0], note, 1);
		if (err)
			break;
		timer = (struct rt_timer) { .fn = wake };
		work_on_cpu(1, start_timer, &timer);
		udelay(i % 50);
		rt_task_delete(&tasks[0]);
		if (tasks[0].state || tasks[0].queued)
			err = wrong(i, "a dead task was woken up");
		rt_timer_cancel(&timer);
	}
	return err;
}

/* Two tasks on two CPUs, by turns. */

static struct rt_sem sems[2];

static void by_turns(int me)
{
	while (!rt_sem_wait(&sems[me])) {
		WRITE_ONCE(count, READ_ONCE(count) + 1);
		rt_sem_post(&sems[!me]);
	}
}

static int semaphore(void)
{
	int err, last = 0;

	rt_sem_init(&sems[0], 1);
	rt_sem_init(&sems[1], 0);
	for (int i = 0; i < 2; i++) {
		err = rt_task_init(&tasks[i], by_turns, i, STACK, 1) ?:
		      rt_task_set_cpu(&tasks[i], i) ?: rt_task_wakeup(&tasks[i]);
		if (err)
			return err;
	}
	for (int i = 0; i < rounds / 10 && !err; i++) {
		if (!UNTIL(100, READ_ONCE(count) != last))
			err = wrong(i, "both tasks wait");
		last = READ_ONCE(count);
		usleep_range(900, 1000);
	}
	rt_task_delete(&tasks[0]);
	rt_task_delete(&tasks[1]);
	rt_sem_destroy(&sems[0]);
	rt_sem_destroy(&sems[1]);
	return err;
}

static int __init duel_init(void)
{
	static const struct { const char *name; int (*fn)(void); } duels[] = {
		{ "cancel", cancel }, { "delete", delete }, { "wakeup", wakeup },
		{ "semaphore", semaphore },
	};

	for (int i = 0; i < ARRAY_SIZE(duels); i++)
		if (!strcmp(what, duels[i].name))
			return duels[i].fn();
	return -EINVAL;
}

static void __exit duel_exit(void)
{
}

module_init(duel_init);
module_exit(duel_exit);
MODULE_DESCRIPTION("Two CPUs at the same object");
MODULE_LICENSE("GPL");
