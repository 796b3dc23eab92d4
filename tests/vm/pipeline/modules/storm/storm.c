// SPDX-License-Identifier: GPL-2.0-only
/*
 * A storm of NMIs, and code that is rewritten while it runs.
 *
 * A hard timer per CPU sends an NMI to each CPU by turns, itself among them. One that was asked for
 * must be answered before that CPU is asked again, so that no two become one; NMIs that
 * nobody here asked for (the bench's --nmi) are counted apart.
 *
 * A thread per CPU calls a function for ever, with interrupts off for a while at a time, whose text another thread keeps changing in three
 * ways: a kprobe on it comes and goes, a static key changes sides, a static call its target.
 *
 *	/sys/kernel/storm/running	write 1 or 0; 0 returns when every NMI was answered
 *	/sys/kernel/storm/counts	what happened. "opened" (interrupts were on in a section
 *					that had switched them off) and "wrong" must stay 0
 *	/sys/kernel/storm/probe		write a function's name: its being called (see on_call.h)
 *					sends an NMI to every CPU. An empty line: no more
 *
 * Nothing in here knows of Tactus.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/jump_label.h>
#include <linux/kobject.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/static_call.h>
#include <linux/sysfs.h>
#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/nmi.h>

#include "compat/hrtimer.h"
#include "../on_call.h"

#define ANSWER_TRIES 1000
#define ANSWER_US 1000
#define TOGGLE_US 1000

static unsigned int period_us = 200;
module_param(period_us, uint, 0444);
MODULE_PARM_DESC(period_us, "between the NMIs that a CPU sends; 0: none");

static atomic_t sent, answered, others, at_probe, unanswered, hits, toggles, calls, opened, wrong;
static DEFINE_PER_CPU(atomic_t, asked);
static DEFINE_PER_CPU(struct hrtimer, sender);
static DEFINE_PER_CPU(unsigned int, next_target);
static DEFINE_PER_CPU(struct task_struct *, caller);
static struct task_struct *toggler;
static struct kobject *kobj;
static DEFINE_MUTEX(control);
static bool running;

/* ---- NMIs ---- */

static int answer(unsigned int type, struct pt_regs *regs)
{
	unsigned long flags;

	/* Handlers may do so, and it must leave no trace in what they interrupted. */
	local_irq_save(flags);
	local_irq_restore(flags);
	if (atomic_xchg(this_cpu_ptr(&asked), 0))
		atomic_inc(&answered);
	else
		atomic_inc(&others);
	return NMI_HANDLED;
}

/* Context: any, interrupts off. Return: whether that CPU had answered the last one. */
static bool ask(unsigned int cpu)
{
	if (atomic_cmpxchg(per_cpu_ptr(&asked, cpu), 0, 1))
		return false;
	atomic_inc(&sent);
	apic->send_IPI(cpu, NMI_VECTOR);
	return true;
}

static enum hrtimer_restart send(struct hrtimer *timer)
{
	unsigned int target = cpumask_next(__this_cpu_read(next_target), cpu_online_mask);

	if (target >= nr_cpu_ids)
		target = cpumask_first(cpu_online_mask);
	__this_cpu_write(next_target, target);
	ask(target);
	hrtimer_forward_now(timer, ns_to_ktime(1000ULL * period_us));
	return READ_ONCE(running) ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static void start_sender(void *unused)
{
	struct hrtimer *timer = this_cpu_ptr(&sender);

	compat_hrtimer_setup(timer, send, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(timer, ns_to_ktime(1000ULL * period_us), HRTIMER_MODE_REL_PINNED_HARD);
}

/* ---- text that changes ---- */

static DEFINE_STATIC_KEY_FALSE(side);

static noinline int one(void)
{
	return 1;
}

static noinline int two(void)
{
	return 2;
}

DEFINE_STATIC_CALL(number, one);

/* Its probe is at its entry, so it goes by ftrace: any other would keep tactus from loading. */
static noinline int victim(int x)
{
	int result = static_call(number)();

	if (static_branch_unlikely(&side))
		result += 10;
	return result + x;
}

static int call(void *unused)
{
	while (!kthread_should_stop()) {
		unsigned long flags;

		local_irq_save(flags);
		for (int i = 0; i < 1000; i++) {
			int result = victim(i) - i;

			if (result != 1 && result != 2 && result != 11 && result != 12)
				atomic_inc(&wrong);
			if (!irqs_disabled())
				atomic_inc(&opened);
		}
		local_irq_restore(flags);
		if (irqs_disabled())
			atomic_inc(&wrong);
		atomic_inc(&calls);
		usleep_range(100, 200);
	}
	return 0;
}

static int hit(struct kprobe *probe, struct pt_regs *regs)
{
	atomic_inc(&hits);
	return 0;
}
NOKPROBE_SYMBOL(hit);

static int toggle(void *unused)
{
	bool on = false;

	while (!kthread_should_stop()) {
		struct kprobe probe = { .addr = (void *)victim, .pre_handler = hit };
		int err = register_kprobe(&probe);

		if (err) {
			atomic_inc(&wrong);
			break;
		}
		usleep_range(TOGGLE_US, TOGGLE_US + 1);
		on = !on;
		if (on)
			static_branch_enable(&side);
		else
			static_branch_disable(&side);
		static_call_update(number, on ? two : one);
		usleep_range(TOGGLE_US, TOGGLE_US + 1);
		unregister_kprobe(&probe);
		atomic_inc(&toggles);
	}
	while (!kthread_should_stop())
		usleep_range(TOGGLE_US, TOGGLE_US + 1);
	return 0;
}

/* ---- NMIs in a probed function ---- */

static int ask_all(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (ask(cpu))
			atomic_inc(&at_probe);
	return 0;
}
NOKPROBE_SYMBOL(ask_all);

DEFINE_ON_CALL(probed, ask_all);

static ssize_t probe_store(struct kobject *k, struct kobj_attribute *attr, const char *buf,
			   size_t count)
{
	return on_call_set(&probed, buf) ?: count;
}

static ssize_t probe_show(struct kobject *k, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", probed.name);
}

/* ---- control ---- */

static bool all_answered(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (atomic_read(per_cpu_ptr(&asked, cpu)))
			return false;
	return true;
}

static void stop(void)
{
	unsigned int cpu;

	if (!running)
		return;
	WRITE_ONCE(running, false);
	for_each_online_cpu(cpu) {
		if (period_us)
			hrtimer_cancel(per_cpu_ptr(&sender, cpu));
		if (per_cpu(caller, cpu))
			kthread_stop(per_cpu(caller, cpu));
	}
	if (toggler)
		kthread_stop(toggler);
	for (int i = 0; i < ANSWER_TRIES && !all_answered(); i++)
		usleep_range(ANSWER_US, ANSWER_US + 1);
	if (!all_answered())
		atomic_inc(&unanswered);
}

static struct task_struct *run(int (*fn)(void *unused), const char *name)
{
	struct task_struct *task = kthread_create(fn, NULL, "storm/%s", name);

	return IS_ERR(task) ? NULL : task;
}

static int start(void)
{
	unsigned int cpu;

	if (running)
		return 0;
	running = true;
	for_each_online_cpu(cpu) {
		per_cpu(caller, cpu) = run(call, "call");
		if (per_cpu(caller, cpu)) {
			kthread_bind(per_cpu(caller, cpu), cpu);
			wake_up_process(per_cpu(caller, cpu));
		}
	}
	toggler = run(toggle, "toggle");
	if (toggler)
		wake_up_process(toggler);
	if (period_us)
		on_each_cpu(start_sender, NULL, 1);
	return 0;
}

static ssize_t running_store(struct kobject *k, struct kobj_attribute *attr, const char *buf,
			     size_t count)
{
	bool on;
	int err = kstrtobool(buf, &on);

	if (err)
		return err;
	mutex_lock(&control);
	if (on)
		start();
	else
		stop();
	mutex_unlock(&control);
	return count;
}

static ssize_t running_show(struct kobject *k, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", running);
}

static ssize_t counts_show(struct kobject *k, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf,
			  "storm sent=%d answered=%d unanswered=%d at_probe=%d others=%d toggles=%d hits=%d calls=%d opened=%d wrong=%d\n",
			  atomic_read(&sent), atomic_read(&answered), atomic_read(&unanswered),
			  atomic_read(&at_probe), atomic_read(&others), atomic_read(&toggles),
			  atomic_read(&hits), atomic_read(&calls), atomic_read(&opened),
			  atomic_read(&wrong));
}

static struct kobj_attribute running_file = __ATTR_RW(running);
static struct kobj_attribute counts_file = __ATTR_RO(counts);
static struct kobj_attribute probe_file = __ATTR_RW(probe);
static const struct attribute *files[] = {
	&running_file.attr, &counts_file.attr, &probe_file.attr, NULL
};

static int __init storm_init(void)
{
	int err = register_nmi_handler(NMI_LOCAL, answer, 0, "storm");

	if (err)
		return err;
	kobj = kobject_create_and_add("storm", kernel_kobj);
	err = kobj ? sysfs_create_files(kobj, files) : -ENOMEM;
	err = err ?: on_call_init(&probed);
	if (err) {
		kobject_put(kobj);
		unregister_nmi_handler(NMI_LOCAL, "storm");
	}
	return err;
}

static void __exit storm_exit(void)
{
	kobject_put(kobj);
	on_call_exit(&probed);
	stop();
	unregister_nmi_handler(NMI_LOCAL, "storm");
}

module_init(storm_init);
module_exit(storm_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("NMIs, and text that changes under its callers");
