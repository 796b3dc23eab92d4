// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completing in Linux what RT code cannot: freeing tasks that RT code deleted, and
 * deleting tasks, timers and policies that a module leaves behind.
 */
#include <linux/module.h>
#include <linux/workqueue.h>

#include <rt/post.h>
#include "exec/cpu.h"
#include "exec/life.h"
#include "exec/reap.h"
#include "exec/registry.h"
#include "exec/timer.h"

/* Tasks that RT code deleted, linked by dead_next. Taken inside of a CPU's lock. */
static struct hardlock dead_lock;
static RT_TASK *dead;

/* First of the list, which it stays on. */
static RT_TASK *first_dead(void)
{
	unsigned long flags = pl_hard_save();
	RT_TASK *task;

	hardlock(&dead_lock);
	task = dead;
	hardunlock(&dead_lock);
	pl_hard_restore(flags);
	return task;
}

static void reap(struct work_struct *work)
{
	RT_TASK *task;

	mutex_lock(&rt_exec_mutex);
	while ((task = first_dead()))
		rt_task_free(task);
	mutex_unlock(&rt_exec_mutex);
}

static DECLARE_WORK(reap_work, reap);

/* In hard-irq context, where a mutex cannot be had. */
static void post_reap(struct rt_post *post)
{
	schedule_work(&reap_work);
}

static struct rt_post reap_post;

/* Context: hardware interrupts off, the lock of the task's CPU held. */
void rt_reap_later(RT_TASK *task)
{
	hardlock(&dead_lock);
	task->dead_next = dead;
	dead = task;
	hardunlock(&dead_lock);
	rt_post(&reap_post);
}

/* Linux frees @task now; it need not be on the list. */
void rt_reap_forget(RT_TASK *task)
{
	unsigned long flags = pl_hard_save();
	RT_TASK **link;

	hardlock(&dead_lock);
	for (link = &dead; *link; link = &(*link)->dead_next)
		if (*link == task) {
			*link = task->dead_next;
			break;
		}
	hardunlock(&dead_lock);
	pl_hard_restore(flags);
}

static bool belongs_to(const RT_TASK *task, const struct module *module)
{
	return within_module((unsigned long)task, module) ||
	       within_module((unsigned long)task->fn, module);
}

static void sweep_tasks(const struct module *module)
{
	RT_TASK *task, *next;
	int i;

	for_each_possible_cpu(i)
		for (task = rt_cpu_of(i)->rq.tasks; task; task = next) {
			next = task->next;
			if (!belongs_to(task, module))
				continue;
			if (task->state != CORE_DEAD)
				pr_warn("module %s went without deleting its task %s: deleted\n",
					module->name, task->name);
			rt_task_free(task);
		}
}

/* After the module's exit function, before its memory is freed; also when its init failed. */
static int module_event(struct notifier_block *block, unsigned long event, void *data)
{
	struct module *module = data;

	if (event != MODULE_STATE_GOING || module == THIS_MODULE)
		return NOTIFY_OK;
	mutex_lock(&rt_exec_mutex);
	sweep_tasks(module);
	rt_timers_sweep(module);
	rt_sched_sweep(module);
	mutex_unlock(&rt_exec_mutex);
	return NOTIFY_OK;
}

static struct notifier_block module_block = { .notifier_call = module_event };

int rt_reap_init(void)
{
	rt_post_init(&reap_post, post_reap);
	return register_module_notifier(&module_block);
}

void rt_reap_exit(void)
{
	unregister_module_notifier(&module_block);
	rt_post_sync(&reap_post);
	flush_work(&reap_work);
}
