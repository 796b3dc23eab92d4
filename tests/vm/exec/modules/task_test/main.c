// SPDX-License-Identifier: GPL-2.0-only
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
#include <linux/fs.h>
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "task_test.h"

static bool leave;
module_param(leave, bool, 0444);
MODULE_PARM_DESC(leave, "leave tasks, a timer and a policy behind on unload (default 0)");

/* ---- reporting ---- */

static DEFINE_MUTEX(run_mutex);
static char report[16384];
static int reported;
static bool failed;
const char *test_name;

#define SAY(...) \
	(reported += scnprintf(report + reported, sizeof(report) - reported, __VA_ARGS__))

void expect(const char *file, int line, const char *what, long long got, long long want)
{
	if (got == want)
		return;
	if (!failed)
		SAY("FAIL %s\n", test_name);
	failed = true;
	SAY("  %s:%d: %s is %lld, not %lld\n", kbasename(file), line, what, got, want);
}

/* ---- what the tests share ---- */

RT_TASK tasks[8];
int order[64];			/* who ran, in order */
int ran;
int results[16];
RTIME moments[1024];
int count;

void note(int who)
{
	/* Tasks of two CPUs, and of one that pre-empt one another, may be here at once. */
	unsigned int mine = xadd(&ran, 1);

	if (mine < ARRAY_SIZE(order))
		order[mine] = who;
}

void forget(void)
{
	memset(order, 0, sizeof(order));
	memset(results, -1, sizeof(results));
	ran = 0;
	count = 0;
}

void delete_all(void)
{
	for (int i = 0; i < ARRAY_SIZE(tasks); i++)
		rt_task_delete(&tasks[i]);
}

void once(int data)
{
	note(data);
}

void each_release(int data)
{
	do
		note(data);
	while (rt_task_wait() != -EPERM);
}

void each_wakeup(int data)
{
	for (;;) {
		note(data);
		rt_task_suspend(rt_task_self());
	}
}

void for_ever(int data)
{
	for (;;)
		note(data);
}

void no_timer(struct rt_timer *timer)
{
}

/* ---- running them ---- */

static const struct {
	const char *name;
	void (*fn)(void);
	int cpus;
} tests[] = {
#define TEST(name) { #name, test_##name, 1 },
#define TEST2(name) { #name, test_##name, 2 },
#define UNDER(name) { #name, test_##name, 0 },
	TESTS(TEST, TEST2, UNDER)
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
