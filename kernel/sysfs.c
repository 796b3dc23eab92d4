// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every file of /sys/kernel/tactus that tactus itself makes. Other modules add theirs to rt_kobj.
 * docs/api.md describes each. All functions run in a Linux process and may sleep.
 */
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/kobject.h>
#include <linux/sysfs.h>
#include <linux/utsname.h>
#include <rt/status.h>
#include "compat/compat.h"
#include "compat/table.h"
#include "exec/cpu.h"
#include "exec/registry.h"
#include "exec/status.h"
#include "exec/trace.h"
#include "pipeline/control.h"
#include "pipeline/pipeline.h"
#include "sysfs.h"
#include "trial.h"

struct kobject *rt_kobj;
EXPORT_SYMBOL_GPL(rt_kobj);

const char *rt_mode_name(void)
{
	return pl_hosted() ? "hosted" : "pipeline";
}

const char *rt_timer_name(void)
{
	return pl_hosted() ? "hrtimer" : pl_timer_name();
}

void rt_get_summary(struct pl_summary *summary)
{
	pl_get_summary(summary);
	if (pl_hosted()) {
		summary->since_ns = pl_hosted_since_ns();
		summary->active = summary->since_ns;
	}
}

static ssize_t state_show(char *buf)
{
	struct pl_summary summary;

	rt_get_summary(&summary);
	return sysfs_emit(buf, "%s\n", summary.active ? "active" : "inert");
}

static ssize_t mode_show(char *buf)
{
	return sysfs_emit(buf, "%s\n", rt_mode_name());
}

static ssize_t kernel_show(char *buf)
{
	return sysfs_emit(buf, "%s\n", init_utsname()->release);
}

static ssize_t since_show(char *buf)
{
	struct pl_summary summary;

	rt_get_summary(&summary);
	return sysfs_emit(buf, "%llu\n", summary.since_ns);
}

static ssize_t pause_show(char *buf)
{
	struct pl_summary summary;

	rt_get_summary(&summary);
	return sysfs_emit(buf, "%llu\n", summary.pause_ns);
}

static ssize_t slots_show(char *buf)
{
	struct pl_summary s;

	rt_get_summary(&s);
	return sysfs_emit(buf, "cli=%u cli_hard=%u sti=%u save_fl=%u irq=%u exc=%u nmi=%u misc=%u sys=%u\n",
			  s.cli, s.cli_hard, s.sti, s.save_fl, s.irq, s.exc, s.nmi, s.misc,
			  s.sys);
}

static ssize_t cpus_show(char *buf)
{
	return sysfs_emit(buf, "%*pbl\n", cpumask_pr_args(cpu_online_mask));
}

static ssize_t timer_show(char *buf)
{
	return sysfs_emit(buf, "%s\n", rt_timer_name());
}

static ssize_t gravity_show(char *buf)
{
	struct timerq_gravity gravity = rt_exec_gravity();

	return sysfs_emit(buf, "timer=%u job=%u\n", gravity.timer, gravity.job);
}

static ssize_t clock_show(char *buf)
{
	return sysfs_emit(buf, "%s\n", pl_hosted() ? "monotonic" : pl_clock_name());
}

static ssize_t idle_show(char *buf)
{
	return sysfs_emit(buf, "%s\n", pl_hosted() ? "unchanged" : pl_idle_name());
}

struct status_file {
	struct kobj_attribute attr;
	ssize_t (*show)(char *buf);
};

static ssize_t show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return container_of(attr, struct status_file, attr)->show(buf);
}

#define STATUS_FILE(file, fn) { .attr = __ATTR(file, 0444, show, NULL), .show = fn }

static struct status_file files[] = {
	STATUS_FILE(state, state_show),
	STATUS_FILE(mode, mode_show),
	STATUS_FILE(kernel, kernel_show),
	STATUS_FILE(since_ns, since_show),
	STATUS_FILE(pause_ns, pause_show),
	STATUS_FILE(slots, slots_show),
	STATUS_FILE(cpus, cpus_show),
	STATUS_FILE(timer, timer_show),
	STATUS_FILE(gravity, gravity_show),
	STATUS_FILE(clock, clock_show),
	STATUS_FILE(idle, idle_show),
	STATUS_FILE(policy, rt_policy_show),
	STATUS_FILE(trial, rt_trial_show),
};

/* Tables have no limit: a page of text would end after some sixty tasks. */
struct table_file {
	struct bin_attribute attr;
	void (*show)(struct rt_table *table);
};

static ssize_t table_read(struct file *file, struct kobject *kobj, compat_bin_attribute *attr,
			  char *buf, loff_t offset, size_t count)
{
	struct rt_table table = { .buf = buf, .offset = offset, .count = count };

	container_of(attr, struct table_file, attr)->show(&table);
	return table.done;
}

#define TABLE_FILE(file, fn) { \
	.attr = { .attr = { .name = #file, .mode = 0444 }, .read = table_read }, .show = fn }

static struct table_file tables[] = {
	TABLE_FILE(texts, pl_texts_show),
	TABLE_FILE(pipeline, pl_stats_show),
	TABLE_FILE(irqs, pl_lines_show),
	TABLE_FILE(tasks, rt_tasks_show),
	TABLE_FILE(timing, rt_timing_show),
};

static ssize_t keep_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			  size_t count)
{
	return rt_trial_keep() ?: count;
}

static struct kobj_attribute keep_file = __ATTR(keep, 0200, NULL, keep_store);

/* Addresses are root's business: every slot of the kernel, for checking them. */
static ssize_t slots_list_read(struct file *file, struct kobject *kobj,
			       compat_bin_attribute *attr, char *buf, loff_t offset, size_t count)
{
	return pl_slots_read(buf, offset, count);
}

static const struct bin_attribute slots_list_file = {
	.attr = { .name = "slots_list", .mode = 0400 },
	.read = slots_list_read,
};

static ssize_t events_read(struct file *file, struct kobject *kobj, compat_bin_attribute *attr,
			   char *buf, loff_t offset, size_t count)
{
	return rt_events_read(buf, offset, count);
}

static const struct bin_attribute events_file = {
	.attr = { .name = "events", .mode = 0400 },
	.read = events_read,
};

int rt_sysfs_init(void)
{
	int err = 0;

	rt_kobj = kobject_create_and_add("tactus", kernel_kobj);
	if (!rt_kobj)
		return -ENOMEM;
	for (int i = 0; i < ARRAY_SIZE(files); i++) {
		sysfs_attr_init(&files[i].attr.attr);
		err = err ?: sysfs_create_file(rt_kobj, &files[i].attr.attr);
	}
	for (int i = 0; i < ARRAY_SIZE(tables); i++) {
		sysfs_bin_attr_init(&tables[i].attr);
		err = err ?: sysfs_create_bin_file(rt_kobj, &tables[i].attr);
	}
	err = err ?: sysfs_create_file(rt_kobj, &keep_file.attr);
	err = err ?: sysfs_create_bin_file(rt_kobj, &slots_list_file);
	err = err ?: sysfs_create_bin_file(rt_kobj, &events_file);
	err = err ?: rt_trace_init(rt_kobj);
	if (err)
		kobject_put(rt_kobj);
	return err;
}

void rt_sysfs_exit(void)
{
	rt_trace_exit();
	kobject_put(rt_kobj);
}
