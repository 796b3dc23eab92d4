// SPDX-License-Identifier: GPL-2.0
/*
 * Which policy schedules: a stack of registered ones, the last one active, the
 * built-in one at the bottom.
 *
 * A change is check, then commit: every task is put to the new policy's admit; then the
 * CPUs are given to it one by one, each under its lock. rt_exec_mutex keeps tasks from
 * coming, going, and changing their period from Linux in between.
 */
#include <linux/export.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include <rt/post.h>
#include "sched/wait.h"
#include "exec/admit.h"
#include "exec/cpu.h"
#include "exec/objects.h"
#include "exec/registry.h"
#include "exec/resched.h"
#include "exec/tick.h"

/* One registered policy. */
struct policy {
	struct list_head link;
	const struct rt_sched_ops *given;
	struct rt_sched_ops ops;	/* given, completed */
	bool ejected;
};

static LIST_HEAD(policies);		/* the last registered is first */
static const struct rt_sched_ops *active = &core_fixed_priority;

EXPORT_SYMBOL_GPL(rt_rq_add);
EXPORT_SYMBOL_GPL(rt_rq_remove);
EXPORT_SYMBOL_GPL(rt_rq_first);
EXPORT_SYMBOL_GPL(rt_rq_cpu);

/* Hand one CPU over. Policies run under its lock only, so none is inside of the old one then. */
static void swap_cpu(struct rt_cpu *cpu, const struct rt_sched_ops *ops)
{
	unsigned long flags = rt_cpu_lock(cpu);

	core_swap(&cpu->rq, ops);
	rt_cpu_unlock(cpu, flags);
}

void rt_sched_join(struct rt_cpu *cpu)
{
	swap_cpu(cpu, active);
}

static void nothing(void *unused)
{
}

/* Have each CPU pick again. */
static void resched_all(void)
{
	int here, i;

	here = get_cpu();
	for_each_online_cpu(i)
		if (rt_cpu_of(i)->present && i != here)
			rt_exec_poke(i);
	rt_exec_run(nothing, NULL);
	put_cpu();
}

static bool admits(const struct rt_sched_ops *ops)
{
	const RT_TASK *refused = NULL;
	unsigned long flags;
	int i;

	for_each_possible_cpu(i) {
		struct rt_cpu *cpu = rt_cpu_of(i);

		flags = rt_cpu_lock(cpu);
		refused = core_admits(&cpu->rq, ops);
		rt_cpu_unlock(cpu, flags);
		if (!refused && cpu->present && rt_admit(cpu, ops, NULL, NULL))
			return false;
		if (refused) {
			pr_warn("policy %s does not admit task %s (period %lld ns)\n",
				ops->name, refused->name, refused->period);
			return false;
		}
	}
	return true;
}

/* Who waits for whom, in what order, and who inherits from whom, is by the new keys now. */
static void refresh_waits(void)
{
	unsigned long flags = pl_hard_save();
	int i, pass;

	rt_sync_lock();
	for (pass = 0; pass < SYNC_PASSES; pass++)
		for_each_possible_cpu(i)
			for (RT_TASK *task = rt_cpu_of(i)->rq.tasks; task; task = task->next)
				sync_refresh(task, pass);
	rt_sync_unlock();
	pl_hard_restore(flags);
}

static void commit(const struct rt_sched_ops *ops)
{
	int i;

	for_each_possible_cpu(i)
		if (rt_cpu_of(i)->present)
			swap_cpu(rt_cpu_of(i), ops);
	active = ops;
	refresh_waits();
	resched_all();
	pr_info("policy is %s\n", ops->name);
}

static struct policy *find(const struct rt_sched_ops *given)
{
	struct policy *policy;

	list_for_each_entry(policy, &policies, link)
		if (policy->given == given)
			return policy;
	return NULL;
}

static bool name_taken(const char *name)
{
	struct policy *policy;

	if (!strcmp(name, core_fixed_priority.name))
		return true;
	list_for_each_entry(policy, &policies, link)
		if (!strcmp(name, policy->ops.name))
			return true;
	return false;
}

static int add(struct policy *policy, const struct rt_sched_ops *given)
{
	int error;

	if (!rt_cpu_of(raw_smp_processor_id())->present)
		return -ENODEV;
	if (name_taken(policy->ops.name))
		return -EEXIST;
	error = policy->ops.init();
	if (error)
		return error;
	if (!admits(&policy->ops)) {
		policy->ops.exit();
		return -ENOSPC;
	}
	policy->given = given;
	list_add(&policy->link, &policies);
	commit(&policy->ops);
	return 0;
}

int rt_sched_register(const struct rt_sched_ops *ops)
{
	struct policy *policy;
	int error;

	if (pl_oob())
		return -EPERM;
	policy = kzalloc(sizeof(*policy), GFP_KERNEL);
	if (!policy)
		return -ENOMEM;
	error = core_complete_ops(&policy->ops, ops);
	if (!error) {
		mutex_lock(&rt_exec_mutex);
		error = add(policy, ops);
		mutex_unlock(&rt_exec_mutex);
	}
	if (error)
		kfree(policy);
	return error;
}
EXPORT_SYMBOL_GPL(rt_sched_register);

static const struct rt_sched_ops *next_active(void)
{
	struct policy *policy;

	list_for_each_entry(policy, &policies, link)
		if (!policy->ejected && admits(&policy->ops))
			return &policy->ops;
	return &core_fixed_priority;
}

/* rt_exec_mutex held. */
static void drop(struct policy *policy)
{
	list_del(&policy->link);
	if (active == &policy->ops)
		commit(next_active());
	policy->ops.exit();
	kfree(policy);
}

void rt_sched_unregister(const struct rt_sched_ops *ops)
{
	struct policy *policy;

	if (pl_oob())
		return;
	mutex_lock(&rt_exec_mutex);
	policy = find(ops);
	if (policy)
		drop(policy);
	mutex_unlock(&rt_exec_mutex);
}
EXPORT_SYMBOL_GPL(rt_sched_unregister);

void rt_sched_sweep(struct module *module)
{
	struct policy *policy, *next;

	list_for_each_entry_safe(policy, next, &policies, link)
		if (policy->ops.owner == module) {
			pr_warn("module %s went without unregistering its policy %s: dropped\n",
				module->name, policy->ops.name);
			drop(policy);
		}
}

/* Ejection. A CPU has gone to the built-in policy on its own; all others follow. */

static void follow(struct work_struct *work)
{
	struct policy *policy;
	int i;

	mutex_lock(&rt_exec_mutex);
	for_each_possible_cpu(i) {
		const struct rt_sched_ops *ejected = READ_ONCE(rt_cpu_of(i)->rq.ejected);

		WRITE_ONCE(rt_cpu_of(i)->rq.ejected, NULL);
		list_for_each_entry(policy, &policies, link)
			if (&policy->ops == ejected && !policy->ejected) {
				policy->ejected = true;
				pr_err("policy %s %s: ejected; its ready tasks on CPU %d:\n%s",
				       ejected->name, rt_cpu_of(i)->rq.eject_reason, i,
				       rt_cpu_of(i)->rq.dump);
				if (active == ejected)
					commit(&core_fixed_priority);
			}
	}
	mutex_unlock(&rt_exec_mutex);
}

static DECLARE_WORK(follow_work, follow);

static void post_follow(struct rt_post *post)
{
	schedule_work(&follow_work);
}

static struct rt_post follow_post;

void rt_sched_report(void)
{
	rt_post(&follow_post);
}

void rt_sched_init(void)
{
	rt_post_init(&follow_post, post_follow);
}

void rt_sched_exit(void)
{
	rt_post_sync(&follow_post);
	flush_work(&follow_work);
}

ssize_t rt_policy_show(char *buf)
{
	ssize_t length;

	mutex_lock(&rt_exec_mutex);
	length = sysfs_emit(buf, "%s\n", active->name);
	mutex_unlock(&rt_exec_mutex);
	return length;
}
