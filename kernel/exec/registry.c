// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which policy schedules: a stack of registered ones, the last one active, the
 * built-in one at the bottom.
 *
 * A change is check, then commit: every task is put to the new policy's admit; then the
 * CPUs are given to it one by one, each under its lock; then what waits for objects is put in the
 * new order, a piece at a time, so that interrupts are never off for long. rt_exec_mutex keeps
 * tasks from coming and going meanwhile. What it does not keep them from is changing their periods:
 * RT code may, and Linux may where admission does not wait for the mutex. What changes between the
 * check and the commit is admitted by the policy before.
 */
#include <linux/export.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/time64.h>
#include <asm/tsc.h>

#include <rt/post.h>
#include "sched/wait.h"
#include "exec/admit.h"
#include "exec/assert.h"
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

static unsigned int policy_us = 100;
module_param(policy_us, uint, 0444);
MODULE_PARM_DESC(policy_us, "eject a policy of which an operation takes longer three times in a row (default 100; 0: never)");

static unsigned int policy_stall_ms = 10000;
module_param(policy_stall_ms, uint, 0444);
MODULE_PARM_DESC(policy_stall_ms, "eject a policy that keeps a ready task waiting for longer, at most twice as long (default 10000; 0: never)");

/* So many tasks are looked at with interrupts off. */
#define TASKS_AT_A_TIME 64

static LIST_HEAD(policies);		/* the last registered is first */
static const struct rt_sched_ops *active = &core_fixed_priority;

EXPORT_SYMBOL_GPL(rt_rq_add);
EXPORT_SYMBOL_GPL(rt_rq_remove);
EXPORT_SYMBOL_GPL(rt_rq_first);
EXPORT_SYMBOL_GPL(rt_rq_cpu);

/* In ticks of the TSC. Linux may not know its rate where we are hosted: then there is no limit. */
static u64 limit(unsigned int number, unsigned int per_ms)
{
	return number && tsc_khz ? max(div_u64((u64)number * tsc_khz, per_ms), 1ULL) : U64_MAX;
}

void rt_sched_supervise(struct rt_rq *rq)
{
	rq->policy_ticks = limit(policy_us, USEC_PER_MSEC);
	rq->stall_ticks = limit(policy_stall_ms, 1);
}

/* What a CPU says of a policy that it has thrown out. Under rt_exec_mutex. */
static struct {
	const struct rt_sched_ops *ops;
	const char *reason;
	u64 dump_ticks;
	char dump[CORE_DUMP_BYTES];
} ejection;

/* Under the CPU's lock: copy it, for another policy may be thrown out when that is given back. */
static bool take_ejection(struct rt_rq *rq)
{
	rt_assert(pl_hard_disabled() && hardlock_held(&rt_cpu_of(rq->cpu)->lock));
	ejection.ops = rq->ejected;
	if (!rq->ejected)
		return false;
	ejection.reason = rq->eject_reason;
	ejection.dump_ticks = rq->dump_ticks;
	memcpy(ejection.dump, rq->dump, sizeof(ejection.dump));
	rq->ejected = NULL;
	return true;
}

/* The policy is not to be active again; the first CPU that threw it out says why. */
static void mark_ejected(int cpu)
{
	struct policy *policy;

	lockdep_assert_held(&rt_exec_mutex);
	list_for_each_entry(policy, &policies, link) {
		if (&policy->ops != ejection.ops || policy->ejected)
			continue;
		policy->ejected = true;
		pr_err("policy %s %s: ejected; its ready tasks on CPU %d:\n%s", policy->ops.name,
		       ejection.reason, cpu, ejection.dump);
		if (ejection.dump_ticks > limit(policy_us, USEC_PER_MSEC))
			pr_err("policy %s took %llu us to list them\n", policy->ops.name,
			       div_u64(ejection.dump_ticks * USEC_PER_MSEC, tsc_khz));
	}
}

/* Hand one CPU over. Policies run under its lock only, so none is inside of the old one then. */
static void swap_cpu(struct rt_cpu *cpu, const struct rt_sched_ops *ops)
{
	unsigned long flags = rt_cpu_lock(cpu);
	RT_TASK *task;
	bool ejected;

	core_swap(&cpu->rq, ops);
	ejected = take_ejection(&cpu->rq);
	rt_cpu_unlock(cpu, flags);
	if (ejected)
		mark_ejected(cpu->rq.cpu);
	/* The list of tasks changes under rt_exec_mutex, too. */
	for (task = cpu->rq.tasks; task;) {
		flags = rt_cpu_lock(cpu);
		task = core_rekey(&cpu->rq, task, TASKS_AT_A_TIME);
		rt_cpu_unlock(cpu, flags);
	}
}

void rt_sched_join(struct rt_cpu *cpu)
{
	lockdep_assert_held(&rt_exec_mutex);
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
			pr_warn("policy %s does not admit task %s (period %lld ns), or not in time\n",
				ops->name, refused->name, refused->period);
			return false;
		}
	}
	return true;
}

/*
 * Do @step(@task) with the lock of all objects held, and interrupts off, no longer than it takes.
 */
static bool with_objects(bool (*step)(RT_TASK *task), RT_TASK *task)
{
	unsigned long flags = pl_hard_save();
	bool done;

	rt_sync_lock();
	done = step(task);
	rt_sync_unlock();
	pl_hard_restore(flags);
	return done;
}

static unsigned int changes;	/* of policy; under rt_exec_mutex */

static bool sort_step(RT_TASK *task)
{
	return sync_sort(task, changes);
}

static bool inherit_step(RT_TASK *task)
{
	sync_inherit(task);
	return true;
}

static void for_each_task(bool (*step)(RT_TASK *task))
{
	int i;

	for_each_possible_cpu(i)
		for (RT_TASK *task = rt_cpu_of(i)->rq.tasks; task; task = task->next)
			while (!with_objects(step, task))
				;
}

/* The order of waiters and what owners inherit follow the new keys now. */
static void refresh_waits(void)
{
	changes++;
	for_each_task(sort_step);
	for_each_task(inherit_step);
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

/* What CPUs have thrown out is marked, and none of them names it any more. */
static void take_ejections(void)
{
	int i;

	for_each_possible_cpu(i) {
		struct rt_cpu *cpu = rt_cpu_of(i);
		unsigned long flags = rt_cpu_lock(cpu);
		bool ejected = take_ejection(&cpu->rq);

		rt_cpu_unlock(cpu, flags);
		if (ejected)
			mark_ejected(i);
	}
}

/* rt_exec_mutex held. */
static void drop(struct policy *policy)
{
	lockdep_assert_held(&rt_exec_mutex);
	take_ejections();
	list_del(&policy->link);
	if (active == &policy->ops)
		commit(next_active());
	/* The next policy may get its memory, and must not be taken for it. */
	take_ejections();
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

	mutex_lock(&rt_exec_mutex);
	take_ejections();
	list_for_each_entry(policy, &policies, link)
		if (policy->ejected && active == &policy->ops)
			commit(&core_fixed_priority);
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
