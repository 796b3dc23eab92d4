// SPDX-License-Identifier: GPL-2.0-only
/* Policies: swapped, refused, ejected, and by the textbook. */
#include <linux/preempt.h>
#include <linux/sched.h>

#include "task_test.h"

static void latest_enqueue(struct rt_rq *rq, RT_TASK *task)
{
	rt_rq_add(rq, task, RT_LOWEST_PRIORITY - task->priority);
}

static bool lie;
static unsigned int asked;

static RT_TASK *lying_pick(struct rt_rq *rq)
{
	asked++;
	return lie ? &tasks[7] : rt_rq_first(rq);
}

static int no_admission(struct rt_rq *rq, const RT_TASK *task, RTIME period, RTIME deadline)
{
	return -ENOSPC;
}

const struct rt_sched_ops backwards = {
	.owner = THIS_MODULE, .name = "backwards", .enqueue = latest_enqueue,
};

static const struct rt_sched_ops liar = {
	.owner = THIS_MODULE, .name = "liar", .enqueue = latest_enqueue,
	.dequeue = rt_rq_remove, .pick = lying_pick,
};

static const struct rt_sched_ops second_liar = {
	.owner = THIS_MODULE, .name = "second_liar", .enqueue = latest_enqueue,
	.dequeue = rt_rq_remove, .pick = lying_pick,
};

static const struct rt_sched_ops hermit = {
	.owner = THIS_MODULE, .name = "hermit", .enqueue = latest_enqueue, .admit = no_admission,
};

static void run_three(int first, int second, int third)
{
	static const int priority[] = { 3, 2, 1 };
	int want[] = { 0, 0, first, second, third };

	forget();
	EXPECT(rt_task_init(&tasks[0], starter, 3, STACK, 1), 0);
	tasks[0].priority = first == 3 ? 1 : 99;	/* more urgent than all, whoever decides */
	EXPECT(rt_task_set_cpu(&tasks[0], 0), 0);
	init_on_one_cpu(3, once, priority);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 5), true);
	for (int i = 0; i < 5; i++)
		EXPECT(order[i], want[i]);
	delete_all();
}

void test_policy_swap(void)
{
	run_three(3, 2, 1);
	EXPECT(rt_sched_register(&backwards), 0);
	EXPECT(rt_sched_register(&backwards), -EEXIST);
	run_three(1, 2, 3);
	rt_sched_unregister(&backwards);
	run_three(3, 2, 1);
}

void test_policy_refuses(void)
{
	forget();
	EXPECT(rt_task_init(&tasks[0], each_release, 1, STACK, 1), 0);
	EXPECT(rt_task_make_periodic(&tasks[0], rt_get_time(), MS), 0);
	EXPECT(rt_sched_register(&hermit), -ENOSPC);
	EXPECT(UNTIL(READ_ONCE(ran) >= 5), true);
	EXPECT(rt_task_delete(&tasks[0]), 0);
	EXPECT(rt_sched_register(&hermit), 0);
	EXPECT(rt_task_init(&tasks[0], each_release, 1, STACK, 1), 0);
	EXPECT(rt_task_make_periodic(&tasks[0], rt_get_time(), MS), -ENOSPC);
	rt_sched_unregister(&hermit);
	EXPECT(rt_task_make_periodic(&tasks[0], rt_get_time(), MS), 0);
	EXPECT(rt_task_delete(&tasks[0]), 0);
}

/* While tasks run, their policy changes a hundred times; no release is lost. */
void test_policy_swap_live(void)
{
	forget();
	for (int i = 0; i < 3; i++) {
		EXPECT(rt_task_init(&tasks[i], each_release, i, STACK, 1 + i), 0);
		EXPECT(rt_task_make_periodic(&tasks[i], rt_get_time() + MS, (1 + i) * MS / 4), 0);
	}
	for (int i = 0; i < 100; i++) {
		EXPECT(rt_sched_register(&backwards), 0);
		usleep_range(300, 700);
		rt_sched_unregister(&backwards);
	}
	for (int i = 0; i < 3; i++) {
		EXPECT(rt_task_suspend(&tasks[i]), 0);
		EXPECT(tasks[i].skipped, 0);
		EXPECT(tasks[i].releases > 10, true);
	}
	EXPECT(ran, tasks[0].releases + tasks[1].releases + tasks[2].releases);
	delete_all();
}

/* A policy that names a task which is not ready is thrown out; tasks go on. */
void test_policy_ejected(void)
{
	forget();
	EXPECT(rt_task_init(&tasks[7], once, 7, STACK, 1), 0);
	EXPECT(rt_task_set_cpu(&tasks[7], 0), 0);
	EXPECT(rt_task_init(&tasks[0], each_release, 1, STACK, 1), 0);
	EXPECT(rt_task_set_cpu(&tasks[0], 0), 0);
	lie = false;
	EXPECT(rt_sched_register(&liar), 0);
	EXPECT(rt_task_make_periodic(&tasks[0], rt_get_time(), MS), 0);
	EXPECT(UNTIL(READ_ONCE(ran) >= 5), true);
	lie = true;
	EXPECT(UNTIL(READ_ONCE(ran) >= 20), true);
	for (int i = 0; i < 20; i++)
		EXPECT(order[i], 1);
	rt_sched_unregister(&liar);
	delete_all();
}

/* Without sleeping, so that nothing of Linux's runs meanwhile. */
static void await_releases(int releases)
{
	int then = READ_ONCE(ran);

	while (READ_ONCE(ran) < then + releases)
		cpu_relax();
}

/*
 * A second policy is thrown out before Linux has heard of the first. Neither comes back when the
 * second is unregistered.
 */
void test_policy_ejected_twice(void)
{
	unsigned int before;

	forget();
	EXPECT(rt_task_init(&tasks[7], once, 7, STACK, 1), 0);
	EXPECT(rt_task_set_cpu(&tasks[7], 0), 0);
	EXPECT(rt_task_init(&tasks[0], each_release, 1, STACK, 1), 0);
	EXPECT(rt_task_set_cpu(&tasks[0], 0), 0);
	EXPECT(rt_task_make_periodic(&tasks[0], rt_get_time(), MS), 0);
	lie = true;
	sched_set_fifo(current);
	EXPECT(rt_sched_register(&liar), 0);
	await_releases(2);
	EXPECT(rt_sched_register(&second_liar), 0);
	await_releases(2);
	before = READ_ONCE(asked);
	rt_sched_unregister(&second_liar);
	await_releases(3);
	EXPECT(READ_ONCE(asked), before);
	sched_set_normal(current, 0);
	rt_sched_unregister(&liar);
	delete_all();
}

/* How often to be slow, and then how often to be in time once. */
static int dawdle, dawdled;

static RT_TASK *slow_pick(struct rt_rq *rq)
{
	bool now = dawdle && dawdled++ % (dawdle + 1) < dawdle;
	RTIME until = rt_get_time() + (now ? MS / 5 : 0);

	while (rt_get_time() < until)
		;
	return rt_rq_first(rq);
}

static const struct rt_sched_ops slow = {
	.owner = THIS_MODULE, .name = "slow", .enqueue = latest_enqueue,
	.dequeue = rt_rq_remove, .pick = slow_pick,
};

/* A policy that picks the right task, but too late, is thrown out likewise, and once. */
void test_policy_too_slow(void)
{
	int then;

	forget();
	EXPECT(rt_task_init(&tasks[0], each_release, 1, STACK, 1), 0);
	EXPECT(rt_task_set_cpu(&tasks[0], 0), 0);
	dawdle = 0;
	dawdled = 0;
	EXPECT(rt_sched_register(&slow), 0);
	EXPECT(rt_task_make_periodic(&tasks[0], rt_get_time(), MS), 0);
	EXPECT(UNTIL(READ_ONCE(ran) >= 5), true);
	EXPECT(tasks[0].max_late < MS / 10, true);
	/* Twice in a row is let pass. */
	dawdle = 2;
	then = READ_ONCE(ran);
	EXPECT(UNTIL(READ_ONCE(ran) >= then + 10), true);
	EXPECT(dawdled > 10, true);
	dawdle = 0;
	then = READ_ONCE(ran);
	EXPECT(UNTIL(READ_ONCE(ran) >= then + 3), true);
	dawdled = 0;
	dawdle = 1000;
	then = READ_ONCE(ran);
	EXPECT(UNTIL(READ_ONCE(ran) >= then + 5), true);
	EXPECT(dawdled, 3);
	EXPECT(tasks[0].max_late >= MS / 5, true);
	tasks[0].max_late = 0;
	then = READ_ONCE(ran);
	EXPECT(UNTIL(READ_ONCE(ran) >= then + 5), true);
	EXPECT(tasks[0].max_late < MS / 10, true);
	rt_sched_unregister(&slow);
	delete_all();
}

/*
 * The textbook's set of which rate monotonic misses a deadline a hyperperiod and EDF
 * none: (C, T) = (2, 5), (4, 7), here in units of 100 us, for 10 hyperperiods. Run it
 * under the policy that is to be tested; costs are a little less, for the overhead.
 */
static unsigned long spins_per_unit;

static noinline void spin(unsigned long n)
{
	asm volatile("1: dec %0; jnz 1b" : "+r" (n));
}

static void textbook(int data)
{
	int jobs = data == 2 ? 70 : 50;

	for (int k = 0; k < jobs; k++) {
		spin(data * spins_per_unit);
		rt_task_wait();
	}
	note(data);
	rt_task_suspend(rt_task_self());
}

static void textbook_expect(int misses)
{
	RTIME unit = MS / 10, start, took;

	forget();
	preempt_disable();
	took = rt_get_time();
	spin(1000000);
	took = rt_get_time() - took;
	preempt_enable();
	spins_per_unit = 1000000 * (unit - unit / 40) / took;

	for (int i = 0; i < 2; i++) {
		EXPECT(rt_task_init(&tasks[i], textbook, 2 + 2 * i, STACK, 1 + i), 0);
		EXPECT(rt_task_set_cpu(&tasks[i], 0), 0);
	}
	start = rt_get_time() + MS;
	EXPECT(rt_task_make_periodic(&tasks[0], start, 5 * unit), 0);
	EXPECT(rt_task_make_periodic(&tasks[1], start, 7 * unit), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 2), true);
	EXPECT(tasks[0].releases, 71);
	EXPECT(tasks[1].releases, 51);
	EXPECT(tasks[0].misses, 0);
	EXPECT(tasks[0].overruns, 0);
	EXPECT(tasks[1].misses, misses);
	EXPECT(tasks[1].overruns, misses);
	delete_all();
}

void test_textbook_edf(void)
{
	textbook_expect(0);
}

void test_textbook_rm(void)
{
	textbook_expect(10);
}
