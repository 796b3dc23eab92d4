// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of tasks, timers and policies from inside the kernel, over the public headers.
 *
 * Writing the name of a test to /proc/task_test runs it in the writing process; "one-cpu"
 * runs all that need one CPU, "two-cpus" those that need two. Reading gives one line a test
 * that was run: "ok NAME", or "FAIL NAME" and what was wrong, with its line. Reading before
 * any was run lists the names.
 *
 * With leave=1 the module goes away without deleting what it made (see the end).
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <rt/context.h>
#include <rt/printk.h>
#include <rt/sched.h>
#include <rt/task.h>
#include <rt/timer.h>

static bool leave;
module_param(leave, bool, 0444);
MODULE_PARM_DESC(leave, "leave tasks, a timer and a policy behind on unload (default 0)");

#define MS 1000000LL
#define STACK 4096

/* ---- reporting ---- */

static DEFINE_MUTEX(run_mutex);
static char report[16384];
static int reported;
static const char *test_name;
static bool failed;

#define SAY(...) \
	(reported += scnprintf(report + reported, sizeof(report) - reported, __VA_ARGS__))

/* In the test's process only; RT code notes what it saw and the process judges. */
#define EXPECT(got, want)							\
	do {									\
		long long got_ = (long long)(got), want_ = (long long)(want);	\
										\
		if (got_ != want_) {						\
			if (!failed)						\
				SAY("FAIL %s\n", test_name);			\
			failed = true;						\
			SAY("  line %d: %s is %lld, not %lld\n", __LINE__,	\
			    #got, got_, want_);					\
		}								\
	} while (0)

/* Wait, as a Linux process, until something holds; at most two seconds. */
#define UNTIL(cond)					\
	({						\
		int left_ = 2000;			\
							\
		while (!(cond) && --left_)		\
			msleep(1);			\
		left_ > 0;				\
	})

/* ---- what RT code leaves for the process to look at ---- */

static RT_TASK tasks[8];
static int order[64];			/* who ran, in order */
static int ran;
static int results[16];
static RTIME moments[1024];
static int count;

static void note(int who)
{
	if (ran < ARRAY_SIZE(order))
		order[ran] = who;
	WRITE_ONCE(ran, ran + 1);
}

static void forget(void)
{
	memset(order, 0, sizeof(order));
	memset(results, -1, sizeof(results));
	ran = 0;
	count = 0;
}

static void delete_all(void)
{
	for (int i = 0; i < ARRAY_SIZE(tasks); i++)
		rt_task_delete(&tasks[i]);
}

static void once(int data)
{
	note(data);
}

static void each_release(int data)
{
	do
		note(data);
	while (rt_task_wait() != -EPERM);
}

static void each_wakeup(int data)
{
	for (;;) {
		note(data);
		rt_task_suspend(rt_task_self());
	}
}

static void for_ever(int data)
{
	for (;;)
		note(data);
}

static void no_timer(struct rt_timer *timer)
{
}

/* ---- bad input ---- */

static void test_init_arguments(void)
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

static void test_no_such_task(void)
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

static void test_period_arguments(void)
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

static void test_names(void)
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

static void test_context(void)
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

static void test_too_many_tasks(void)
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

/* ---- periods ---- */

static void exact(int data)
{
	do {
		if (count < ARRAY_SIZE(moments))
			moments[count] = rt_get_time();
		WRITE_ONCE(count, count + 1);
	} while (count < data && rt_task_wait() != -EPERM);
	rt_task_suspend(rt_task_self());
}

static void test_exact_releases(void)
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

static void test_start_now(void)
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
static void test_start_in_the_past(void)
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

static void test_overrun(void)
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

static void test_makes_itself_periodic(void)
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

static void test_sleep(void)
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

/* ---- messages ---- */

static void talker(int data)
{
	/* Inside a section of Linux with interrupts off, where it cannot print. */
	for (int i = 0; i < data; i++)
		results[i % 8] = rt_printk(KERN_NOTICE "task_test says %d\n", i);
	results[8] = rt_printk("%s", test_name);
	note(1);
}

static void test_printk(void)
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

/* Jobs of 400 us every 1 ms, by a task whose budget is 100 us. */
static void run_over_budget(enum rt_budget_action action, int releases)
{
	forget();
	EXPECT(rt_task_init(&tasks[0], busy_jobs, 400, STACK, 1), 0);
	EXPECT(rt_task_set_budget(&tasks[0], 100000, action), 0);
	EXPECT(rt_task_make_periodic(&tasks[0], rt_get_time() + MS, MS), 0);
	EXPECT(UNTIL(tasks[0].releases >= releases), true);
	EXPECT(rt_task_suspend(&tasks[0]), 0);
}

static void test_budget_count(void)
{
	run_over_budget(RT_BUDGET_COUNT, 10);
	EXPECT(tasks[0].budget_overruns, tasks[0].releases);
	EXPECT(tasks[0].overruns, 0);
	EXPECT(tasks[0].max_exec >= 400000 && tasks[0].max_exec < 410000, true);
	delete_all();
}

/* In each period it gets its budget and no more; a job takes four of them, by its own clock. */
static void test_budget_throttle(void)
{
	run_over_budget(RT_BUDGET_THROTTLE, 10);
	EXPECT(tasks[0].exec >= 10 * 100000 && tasks[0].exec < 11 * 102000 + 400000, true);
	EXPECT(tasks[0].budget_overruns >= 10, true);
	EXPECT(tasks[0].overruns >= 8, true);
	delete_all();
}

static void test_budget_stop(void)
{
	run_over_budget(RT_BUDGET_STOP, 1);
	EXPECT(tasks[0].budget_overruns, 1);
	EXPECT(tasks[0].stopped, 1);
	EXPECT(ran, 1);
	EXPECT(tasks[0].exec >= 100000 && tasks[0].exec < 102000, true);
	delete_all();
}

/* A task that never yields is stopped after 100 ms; one beside it that does, is not. */
static void test_watchdog(void)
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
	EXPECT(rt_task_delete(&tasks[0]), 0);
	delete_all();
}

/* ---- order ---- */

static void starter(int data)
{
	note(0);
	for (int i = 1; i <= data; i++)
		rt_task_wakeup(&tasks[i]);
	note(0);
}

static void init_on_one_cpu(int n, void (*fn)(int), const int *priority)
{
	for (int i = 1; i <= n; i++) {
		EXPECT(rt_task_init(&tasks[i], fn, i, STACK, priority[i - 1]), 0);
		EXPECT(rt_task_set_cpu(&tasks[i], 0), 0);
	}
}

static void test_priorities(void)
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

static void test_first_come_first_served(void)
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

static void test_preemption_keeps_the_place(void)
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

/* ---- suspension ---- */

static void test_wakeup_starts(void)
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

static void test_wakeup_before_suspend(void)
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

static void test_suspend_periodic(void)
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

static void test_delete_by_state(void)
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

static void test_delete_from_rt(void)
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
static void test_delete_running_from_timer(void)
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

/* ---- the stack ---- */

/*
 * The arrays make the compiler guard these functions: it puts the CPU's canary on the
 * stack on entry and compares on return. In between Linux switches tasks, which changes
 * the CPU's canary. Without the switch taking it along the kernel panics.
 */
static noinline int guarded_inner(int k)
{
	volatile char text[64];

	memset((void *)text, k, sizeof(text));
	rt_task_wait();
	for (int i = 0; i < sizeof(text); i++)
		if (text[i] != (char)k)
			return 1;
	return 0;
}

static noinline int guarded_outer(int rounds)
{
	volatile char text[128];
	int wrong = 0;

	memset((void *)text, 0x77, sizeof(text));
	for (int k = 0; k < rounds; k++) {
		wrong += guarded_inner(k);
		WRITE_ONCE(count, count + 1);
	}
	for (int i = 0; i < sizeof(text); i++)
		wrong += text[i] != 0x77;
	return wrong;
}

static void guarded(int rounds)
{
	results[0] = guarded_outer(rounds);
	note(1);
	rt_task_suspend(rt_task_self());
}

static void test_stack_protector(void)
{
	forget();
	EXPECT(IS_ENABLED(CONFIG_STACKPROTECTOR), 1);
	for (int i = 0; i < 3; i++) {
		EXPECT(rt_task_init(&tasks[i], guarded, 300, STACK, 1 + i), 0);
		EXPECT(rt_task_make_periodic(&tasks[i], rt_get_time(), (1 + i) * MS / 3), 0);
	}
	EXPECT(UNTIL(READ_ONCE(ran) == 3), true);
	EXPECT(count, 900);
	EXPECT(results[0], 0);
	delete_all();
}

/* The whole of the stack that was asked for is there. */
static noinline void use_stack(int bytes)
{
	volatile char frame[512];

	memset((void *)frame, bytes, sizeof(frame));
	if (bytes > 1024)
		use_stack(bytes - 768);
	frame[0] = frame[511];
}

static void deep(int bytes)
{
	use_stack(bytes);
	note(1);
}

static void test_stack_size(void)
{
	forget();
	EXPECT(rt_task_init(&tasks[0], deep, 65536, 65536, 1), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 1), true);
	rt_task_delete(&tasks[0]);
}

/* ---- timers ---- */

static struct rt_timer timers[8];

static void note_timer(struct rt_timer *timer)
{
	if (count < ARRAY_SIZE(moments))
		moments[count] = rt_get_time() - timer->expires;
	count++;
	note(timer - timers);
}

static void test_timer_order(void)
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

static void test_timer_arguments(void)
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

static void again_in_the_past(struct rt_timer *timer)
{
	count++;
	rt_timer_start(timer, 1);
}

/* A function that always starts its timer for the past locks out neither tasks nor Linux. */
static void test_timer_flood(void)
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

static void test_timer_limit(void)
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

/* ---- policies ---- */

static void latest_enqueue(struct rt_rq *rq, RT_TASK *task)
{
	rt_rq_add(rq, task, RT_LOWEST_PRIORITY - task->priority);
}

static bool lie;

static RT_TASK *lying_pick(struct rt_rq *rq)
{
	return lie ? &tasks[7] : rt_rq_first(rq);
}

static int no_admission(struct rt_rq *rq, const RT_TASK *task, RTIME period, RTIME deadline)
{
	return -ENOSPC;
}

static const struct rt_sched_ops backwards = {
	.owner = THIS_MODULE, .name = "backwards", .enqueue = latest_enqueue,
};

static const struct rt_sched_ops liar = {
	.owner = THIS_MODULE, .name = "liar", .enqueue = latest_enqueue,
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

static void test_policy_swap(void)
{
	run_three(3, 2, 1);
	EXPECT(rt_sched_register(&backwards), 0);
	EXPECT(rt_sched_register(&backwards), -EEXIST);
	run_three(1, 2, 3);
	rt_sched_unregister(&backwards);
	run_three(3, 2, 1);
}

static void test_policy_refuses(void)
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
static void test_policy_swap_live(void)
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
static void test_policy_ejected(void)
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

static void test_textbook_edf(void)
{
	textbook_expect(0);
}

static void test_textbook_rm(void)
{
	textbook_expect(10);
}

/* ---- two CPUs ---- */

static void test_remote(void)
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
static void test_remote_running(void)
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

static void test_remote_timer_cancel(void)
{
	for (int i = 0; i < 5; i++) {
		forget();
		timers[0] = (struct rt_timer) { .fn = slow_timer };
		EXPECT(work_on_cpu(1, start_timer_soon, &timers[0]), 0);
		work_on_cpu(0, pinned_cancel, NULL);
	}
}

static void test_remote_timer(void)
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

static void test_remote_ping_pong(void)
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

static void test_remote_churn(void)
{
	DECLARE_COMPLETION_ONSTACK(done);

	forget();
	kthread_run(churn_thread, &done, "churn");
	EXPECT(churn((void *)0), 0);
	wait_for_completion(&done);
}

/* ---- running them ---- */

static const struct {
	const char *name;
	void (*fn)(void);
	int cpus;
} tests[] = {
#define TEST(name) { #name, test_##name, 1 }
#define TEST2(name) { #name, test_##name, 2 }
#define UNDER(name) { #name, test_##name, 0 }	/* a policy that somebody must load first */
	TEST(init_arguments),
	TEST(no_such_task),
	TEST(period_arguments),
	TEST(names),
	TEST(context),
	TEST(too_many_tasks),
	TEST(exact_releases),
	TEST(start_now),
	TEST(start_in_the_past),
	TEST(overrun),
	TEST(makes_itself_periodic),
	TEST(sleep),
	TEST(printk),
	TEST(budget_count),
	TEST(budget_throttle),
	TEST(budget_stop),
	TEST(watchdog),
	TEST(priorities),
	TEST(first_come_first_served),
	TEST(preemption_keeps_the_place),
	TEST(wakeup_starts),
	TEST(wakeup_before_suspend),
	TEST(suspend_periodic),
	TEST(delete_by_state),
	TEST(delete_from_rt),
	TEST(delete_running_from_timer),
	TEST(stack_protector),
	TEST(stack_size),
	TEST(timer_order),
	TEST(timer_arguments),
	TEST(timer_flood),
	TEST(timer_limit),
	TEST(policy_swap),
	TEST(policy_refuses),
	TEST(policy_swap_live),
	TEST(policy_ejected),
	UNDER(textbook_edf),
	UNDER(textbook_rm),
	TEST2(remote),
	TEST2(remote_running),
	TEST2(remote_timer),
	TEST2(remote_timer_cancel),
	TEST2(remote_ping_pong),
	TEST2(remote_churn),
};

static void run(const char *name)
{
	int group = !strcmp(name, "one-cpu") ? 1 : !strcmp(name, "two-cpus") ? 2 : 0;
	bool found = false;

	for (int i = 0; i < ARRAY_SIZE(tests); i++) {
		if (tests[i].cpus > num_online_cpus() ||
		    (group ? tests[i].cpus != group : strcmp(name, tests[i].name)))
			continue;
		found = true;
		test_name = tests[i].name;
		failed = false;
		pr_info("task_test: %s\n", test_name);
		tests[i].fn();
		if (!failed)
			SAY("ok %s\n", test_name);
	}
	if (!found)
		SAY("FAIL %s\n  no such test here\n", name);
}

static ssize_t task_test_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	char name[32] = {};

	if (size >= sizeof(name) || copy_from_user(name, from, size))
		return -EINVAL;
	mutex_lock(&run_mutex);
	run(strim(name));
	mutex_unlock(&run_mutex);
	return size;
}

static int task_test_show(struct seq_file *seq, void *unused)
{
	mutex_lock(&run_mutex);
	if (reported)
		seq_write(seq, report, reported);
	else
		for (int i = 0; i < ARRAY_SIZE(tests); i++)
			if (tests[i].cpus <= num_online_cpus())
				seq_printf(seq, "%s\n", tests[i].name);
	mutex_unlock(&run_mutex);
	return 0;
}

static int task_test_open(struct inode *inode, struct file *file)
{
	return single_open(file, task_test_show, NULL);
}

static const struct proc_ops task_test_file = {
	.proc_open = task_test_open,
	.proc_read = seq_read,
	.proc_write = task_test_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

/* What a careless module leaves: tasks in several states, timers, and a policy. */
static int __init leave_behind(void)
{
	int error = 0;

	for (int i = 0; i < 4 && !error; i++)
		error = rt_task_init(&tasks[i], i < 2 ? each_release : each_wakeup, i, STACK, 1 + i);
	if (error)
		return error;
	rt_task_make_periodic(&tasks[0], rt_get_time(), MS / 10);
	rt_task_make_periodic(&tasks[1], rt_get_time() + 100000 * MS, MS);
	rt_task_wakeup(&tasks[2]);
	timers[0].fn = again_in_the_past;
	timers[1].fn = no_timer;
	rt_timer_start(&timers[0], rt_get_time() + 1);
	rt_timer_start(&timers[1], rt_get_time() + 1000000 * MS);
	return rt_sched_register(&backwards);
}

static int __init task_test_init(void)
{
	if (!proc_create("task_test", 0600, NULL, &task_test_file))
		return -ENOMEM;
	return leave ? leave_behind() : 0;
}

static void __exit task_test_exit(void)
{
	remove_proc_entry("task_test", NULL);
}

module_init(task_test_init);
module_exit(task_test_exit);
MODULE_DESCRIPTION("Tests of RT tasks, timers and policies");
MODULE_LICENSE("GPL");
