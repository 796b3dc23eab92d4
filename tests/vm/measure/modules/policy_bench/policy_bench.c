// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a change of policy keeps interrupts off, while many tasks wait for one semaphore.
 *
 * Loading measures; the parameter results has the figures, in ns, under --icount in instructions:
 *
 *	quiet	the greatest lateness of an RT timer that fires every PERIOD_NS, while nothing happens
 *	change	the same while a policy that wants the opposite order comes and goes, CHANGES times
 *	fires	how often it has fired meanwhile
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include <rt/sched.h>
#include <rt/sync.h>
#include <rt/timer.h>

#define CHANGES 4
#define PERIOD_NS 3000
#define QUIET_MS 2
/* Prime to the number of tasks, so that their priorities are in no order. */
#define SCATTER 7919

static unsigned int waiters = 1000;
module_param(waiters, uint, 0444);

static char results[128];
module_param_string(results, results, sizeof(results), 0444);

static RT_TASK *tasks;
static struct rt_sem sem;
static RTIME latest;
static unsigned long fires;
static bool over;

static void fire(struct rt_timer *timer)
{
	RTIME now = rt_get_time();

	latest = max(latest, now - timer->expires);
	fires++;
	if (!READ_ONCE(over))
		rt_timer_start(timer, now + PERIOD_NS);
}

static struct rt_timer timer = { .fn = fire };

static void wait(int unused)
{
	rt_sem_wait(&sem);
}

static void opposite_enqueue(struct rt_rq *rq, RT_TASK *task)
{
	rt_rq_add(rq, task, RT_LOWEST_PRIORITY - task->priority);
}

static const struct rt_sched_ops opposite = {
	.owner = THIS_MODULE, .name = "opposite", .enqueue = opposite_enqueue,
};

static int change(void)
{
	int err = 0;

	for (int i = 0; i < CHANGES && !err; i++) {
		err = rt_sched_register(&opposite);
		rt_sched_unregister(&opposite);
	}
	return err;
}

static int measure(void)
{
	RTIME quiet;
	int err;

	err = rt_timer_start(&timer, rt_get_time() + PERIOD_NS);
	if (err)
		return err;
	mdelay(QUIET_MS);
	quiet = latest;
	latest = 0;
	err = change();
	WRITE_ONCE(over, true);
	rt_timer_cancel(&timer);
	scnprintf(results, sizeof(results), "quiet=%lld change=%lld fires=%lu\n", quiet, latest,
		  fires);
	return err;
}

static int __init policy_bench_init(void)
{
	unsigned int count = 0;
	int err;

	tasks = vzalloc(array_size(waiters, sizeof(*tasks)));
	if (!tasks)
		return -ENOMEM;
	err = rt_sem_init(&sem, 0);
	while (count < waiters && !err) {
		RT_TASK *task = &tasks[count];

		err = rt_task_init(task, wait, 0, RT_STACK_MIN_BYTES, 1 + count * SCATTER % waiters);
		count += !err;
		err = err ?: rt_task_set_cpu(task, 0) ?: rt_task_wakeup(task);
	}
	err = err ?: measure();
	while (count--)
		rt_task_delete(&tasks[count]);
	rt_sem_destroy(&sem);
	vfree(tasks);
	return err;
}

static void __exit policy_bench_exit(void)
{
}

module_init(policy_bench_init);
module_exit(policy_bench_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("How long a change of policy keeps interrupts off");
