// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files about programs: /sys/kernel/tactus/users, a line for each thread that has /dev/rt open
 * and ever entered RT mode, and demotions, the last ones of all, also of programs that have ended.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/math64.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/uidgid.h>
#include <rt/status.h>
#include "compat/compat.h"
#include "compat/table.h"
#include "exec/ring3.h"
#include "user.h"

static LIST_HEAD(processes);
static DEFINE_MUTEX(processes_mutex);

/* ---- demotions ---- */

#define KEPT 64

static struct demotion kept[KEPT];
static unsigned int kept_count;
static DEFINE_SPINLOCK(kept_lock);

void demotion_keep(const struct demotion *d)
{
	spin_lock(&kept_lock);
	kept[kept_count++ % KEPT] = *d;
	spin_unlock(&kept_lock);
}

static void list_demotions(struct rt_table *table)
{
	rt_table_head(table, "when_ns\tpid\ttask\treason\twhat\taddress\tip\n");
	spin_lock(&kept_lock);
	for (unsigned int i = kept_count > KEPT ? kept_count - KEPT : 0; i != kept_count; i++) {
		const struct demotion *d = &kept[i % KEPT];

		rt_table_row(table, "%lld\t%d\t%s\t%s\t%llu\t%#llx\t%#llx", d->when, d->pid,
			     d->task, rt_ring3_reason(d->reason), d->number, d->address, d->ip);
	}
	spin_unlock(&kept_lock);
}

/* ---- threads ---- */

void process_show(struct process *p)
{
	mutex_lock(&processes_mutex);
	list_add_tail(&p->node, &processes);
	mutex_unlock(&processes_mutex);
}

void process_hide(struct process *p)
{
	mutex_lock(&processes_mutex);
	list_del(&p->node);
	mutex_unlock(&processes_mutex);
}

void process_each(void (*call)(struct process *p))
{
	struct process *p;

	mutex_lock(&processes_mutex);
	list_for_each_entry(p, &processes, node)
		call(p);
	mutex_unlock(&processes_mutex);
}

static void row_of(struct rt_table *table, const struct process *p, const struct thread *t)
{
	const struct rt_stat *s = &t->stat;
	const struct demotion *d = &t->last;
	u64 demotions = 0;

	for (int i = 0; i < RT_END_REASONS; i++)
		demotions += i == RT_END_LEAVE ? 0 : s->demotions[i];
	rt_table_row(table, "%d\t%s\t%u\t%s\t%llu\t%llu\t%llu\t%llu\t%s\t%llu\t%#llx\t%#llx",
		     pid_nr(t->pid), p->name, from_kuid_munged(&init_user_ns, t->uid),
		     t->in_rt ? "rt" : "linux", s->pages, s->promotions,
		     s->demotions[RT_END_LEAVE], demotions, rt_ring3_reason(d->reason), d->number,
		     d->address, d->ip);
}

static void list_users(struct rt_table *table)
{
	struct process *p;
	struct thread *t;

	rt_table_head(table, "pid\tname\tuid\tmode\tpages\tpromotions\tleaves\tdemotions\t"
		      "reason\twhat\taddress\tip\n");
	mutex_lock(&processes_mutex);
	list_for_each_entry(p, &processes, node) {
		spin_lock(&p->lock);
		list_for_each_entry(t, &p->threads, node)
			row_of(table, p, t);
		spin_unlock(&p->lock);
	}
	mutex_unlock(&processes_mutex);
}

/* ---- how much of a CPU a user has ---- */

#define WHOLE 1000000ULL

static unsigned int user_budget = 95;

static int set_user_budget(const char *text, const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 1, 100);
}

static const struct kernel_param_ops user_budget_ops = {
	.set = set_user_budget, .get = param_get_uint,
};
module_param_cb(user_budget, &user_budget_ops, &user_budget, 0644);
MODULE_PARM_DESC(user_budget, "percent of each CPU that the budgets of a user's tasks may sum up to (default 95); CAP_SYS_ADMIN has no limit");

int share_take(struct thread *t)
{
	u64 wanted = div64_u64(t->attr.budget_ns * WHOLE + t->attr.period_ns - 1,
			       t->attr.period_ns);
	u64 sum = wanted;
	struct process *p;
	struct thread *other;
	int err = 0;

	mutex_lock(&processes_mutex);
	t->uid = current_uid();
	list_for_each_entry(p, &processes, node) {
		spin_lock(&p->lock);
		list_for_each_entry(other, &p->threads, node)
			if (uid_eq(other->uid, t->uid) && other->share_cpu == t->task.cpu)
				sum += other->share;
		spin_unlock(&p->lock);
	}
	if (sum > READ_ONCE(user_budget) * (WHOLE / 100) && !capable(CAP_SYS_ADMIN)) {
		err = -EDQUOT;
	} else {
		t->share_cpu = t->task.cpu;
		t->share = wanted;
	}
	mutex_unlock(&processes_mutex);
	return err;
}

void share_give(struct thread *t)
{
	mutex_lock(&processes_mutex);
	t->share = 0;
	mutex_unlock(&processes_mutex);
}

/* ---- the files ---- */

static ssize_t users_read(struct file *file, struct kobject *kobj, compat_bin_attribute *attr,
			  char *buf, loff_t off, size_t bytes)
{
	struct rt_table table = { .buf = buf, .offset = off, .count = bytes };

	list_users(&table);
	return table.done;
}

static ssize_t demotions_read(struct file *file, struct kobject *kobj, compat_bin_attribute *attr,
			      char *buf, loff_t off, size_t bytes)
{
	struct rt_table table = { .buf = buf, .offset = off, .count = bytes };

	list_demotions(&table);
	return table.done;
}

static struct bin_attribute users_file = {
	.attr = { .name = "users", .mode = 0400 }, .read = users_read,
};

static struct bin_attribute demotions_file = {
	.attr = { .name = "demotions", .mode = 0400 }, .read = demotions_read,
};

int status_init(void)
{
	int err = sysfs_create_bin_file(rt_kobj, &users_file);

	if (err)
		return err;
	err = sysfs_create_bin_file(rt_kobj, &demotions_file);
	if (err)
		sysfs_remove_bin_file(rt_kobj, &users_file);
	return err;
}

void status_exit(void)
{
	sysfs_remove_bin_file(rt_kobj, &demotions_file);
	sysfs_remove_bin_file(rt_kobj, &users_file);
}
