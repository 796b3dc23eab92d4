// SPDX-License-Identifier: GPL-2.0-only
/*
 * Priority inversion as on Mars Pathfinder in July 1997: three tasks share a CPU, and two of them
 * a lock.
 *
 *	bus	the most urgent: every 10 ms it takes the lock for 0.5 ms, and must be done in 8 ms
 *	comm	every 50 ms it computes for 10 ms, without the lock
 *	weather	the least urgent: every 50 ms it keeps the lock for 2 ms
 *
 * They are released so that weather has the lock when bus wants it, and comm comes before weather
 * is done. With inherit=0 the lock is a semaphore, as it was up there: comm keeps weather
 * from the CPU, and so bus from the lock. The lander's watchdog reset the computer then; here
 * the parameter resets counts that. With inherit=1 the lock is a mutex with priority inheritance.
 *
 * Source: G. Reeves, What really happened on Mars?, 1997; Sha, Rajkumar, Lehoczky, 1990.
 */
#include <linux/module.h>
#include <rt/sync.h>
#include <rt/task.h>

#define MS 1000000LL
/* A step between two looks at the clock that takes longer was another task's. */
#define STEP_MOST_NS 5000

static bool inherit;
module_param(inherit, bool, 0444);
MODULE_PARM_DESC(inherit, "1: the lock is a mutex with priority inheritance (default 0)");

static unsigned int jobs;
module_param(jobs, uint, 0444);
MODULE_PARM_DESC(jobs, "of bus, so far");

static unsigned int resets;
module_param(resets, uint, 0444);
MODULE_PARM_DESC(resets, "jobs of bus that were done too late");

static unsigned int worst_us;
module_param(worst_us, uint, 0444);
MODULE_PARM_DESC(worst_us, "from the release of bus to the end of its job, at most");

enum { BUS, COMM, WEATHER, TASKS };

static const struct {
	const char *name;
	RTIME phase, period, work;
	bool locks;
} kinds[TASKS] = {
	[BUS] = { "bus", 1 * MS, 10 * MS, MS / 2, true },
	[COMM] = { "comm", 3 * MS / 2, 50 * MS, 10 * MS, false },
	[WEATHER] = { "weather", 0, 50 * MS, 2 * MS, true },
};

#define BUS_DEADLINE (8 * MS)

static RT_TASK tasks[TASKS];
static struct rt_mtx mutex;
static struct rt_sem semaphore;

static void lock(void)
{
	if (inherit)
		rt_mtx_lock(&mutex);
	else
		rt_sem_wait(&semaphore);
}

static void unlock(void)
{
	if (inherit)
		rt_mtx_unlock(&mutex);
	else
		rt_sem_post(&semaphore);
}

/* Use the CPU for so many ns of one's own. */
static void compute(RTIME ns)
{
	RTIME last = rt_get_time(), now;

	for (; ns > 0; last = now) {
		now = rt_get_time();
		if (now - last < STEP_MOST_NS)
			ns -= now - last;
	}
}

static void judge(RTIME release)
{
	RTIME took = rt_get_time() - release;

	jobs++;
	resets += took > BUS_DEADLINE;
	worst_us = max_t(RTIME, worst_us, div_s64(took, 1000));
}

static void work(int kind)
{
	do {
		if (kinds[kind].locks)
			lock();
		compute(kinds[kind].work);
		if (kinds[kind].locks)
			unlock();
		if (kind == BUS)
			judge(tasks[BUS].release);
	} while (rt_task_wait() != -EPERM);
}

static void pathfinder_exit(void)
{
	for (int i = 0; i < TASKS; i++)
		rt_task_delete(&tasks[i]);
	rt_mtx_destroy(&mutex);
	rt_sem_destroy(&semaphore);
}

static int __init pathfinder_init(void)
{
	RTIME start = rt_get_time() + 10 * MS;
	int err;

	rt_mtx_init(&mutex);
	rt_sem_init(&semaphore, 1);
	for (int i = 0; i < TASKS; i++) {
		err = rt_task_init(&tasks[i], work, i, 4096, i + 1);
		if (err)
			goto err_delete;
		rt_task_set_name(&tasks[i], kinds[i].name);
	}
	rt_task_set_deadline(&tasks[BUS], BUS_DEADLINE);
	for (int i = 0; i < TASKS; i++) {
		err = rt_task_set_cpu(&tasks[i], 0) ?:
		      rt_task_make_periodic(&tasks[i], start + kinds[i].phase, kinds[i].period);
		if (err)
			goto err_delete;
	}
	return 0;

err_delete:
	pathfinder_exit();
	return err;
}

module_init(pathfinder_init);
module_exit(pathfinder_exit);
MODULE_DESCRIPTION("Priority inversion as on Mars Pathfinder");
MODULE_LICENSE("GPL");
