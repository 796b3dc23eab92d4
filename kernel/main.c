// SPDX-License-Identifier: GPL-2.0
/*
 * The module tactus: brings up the executive, then the pipeline under it, and shows
 * their state in /sys/kernel/tactus.
 *
 * The pipeline comes last and goes first: RT code can only run while it is on.
 */
#define pr_fmt(fmt) "tactus: " fmt

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/reboot.h>
#include <linux/string.h>
#include <linux/suspend.h>
#include <linux/sysfs.h>
#include <linux/utsname.h>
#include <rt/status.h>
#include "compat/compat.h"
#include "pipeline/hosted.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/idle.h"
#include "pipeline/x86/install.h"
#include "pipeline/x86/irq/oneshot.h"
#include "pipeline/x86/irq/lines.h"
#include "exec/exec.h"

#define UNLOAD_RETRY_MS 1000

static char *mode = "pipeline";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "how RT code gets the CPU: pipeline (hard real time), hosted (by Linux's interrupts), auto (pipeline, or else hosted)");

static char *timer = "auto";
module_param(timer, charp, 0444);
MODULE_PARM_DESC(timer, "one-shot device: auto (the local APIC's, as Linux runs it), lapic, tsc-deadline or pit");

/* ---- which mode ---- */

static const char *mode_taken(void)
{
	return pl_hosted() ? "hosted" : "pipeline";
}

static const char *timer_taken(void)
{
	return pl_hosted() ? "hrtimer" : pl_timer_name();
}

static void get_summary(struct pl_summary *summary)
{
	pl_get_summary(summary);
	if (pl_hosted()) {
		summary->since_ns = pl_hosted_since_ns();
		summary->active = summary->since_ns;
	}
}

/* Return: 0, or an errno after a line in the log that says why; then *@why is not set. */
static int switch_on(const char **why)
{
	bool any = !strcmp(mode, "auto");
	int err = -EOPNOTSUPP;

	*why = "";
	if (any || !strcmp(mode, "pipeline")) {
		err = pl_install(&rt_client, timer);
		if (!err && any)
			*why = " (auto: nothing speaks against it)";
		if (!any || !err || err == -ENOMEM)
			return err;
	}
	err = pl_hosted_start(&rt_client);
	if (!err && any)
		*why = " (auto: the pipeline was refused for the reason above)";
	return err;
}

/* Return: 0, or -EBUSY: the pipeline stays on. */
static int switch_off(void)
{
	if (!pl_hosted())
		return pl_remove();
	pl_hosted_stop();
	return 0;
}

/* ---- /sys/kernel/tactus ---- */

struct kobject *rt_kobj;
EXPORT_SYMBOL_GPL(rt_kobj);

#define STATUS_FILE(name) \
	static struct kobj_attribute name##_file = __ATTR(name, 0444, name##_show, NULL)

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct pl_summary summary;

	get_summary(&summary);
	return sysfs_emit(buf, "%s\n", summary.active ? "active" : "inert");
}
STATUS_FILE(state);

static ssize_t mode_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", mode_taken());
}
STATUS_FILE(mode);

static ssize_t kernel_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", init_utsname()->release);
}
STATUS_FILE(kernel);

static ssize_t since_ns_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct pl_summary summary;

	get_summary(&summary);
	return sysfs_emit(buf, "%llu\n", summary.since_ns);
}
STATUS_FILE(since_ns);

static ssize_t pause_ns_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct pl_summary summary;

	get_summary(&summary);
	return sysfs_emit(buf, "%llu\n", summary.pause_ns);
}
STATUS_FILE(pause_ns);

static ssize_t slots_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct pl_summary s;

	get_summary(&s);
	return sysfs_emit(buf, "cli=%u cli_hard=%u sti=%u save_fl=%u irq=%u exc=%u nmi=%u misc=%u\n",
			  s.cli, s.cli_hard, s.sti, s.save_fl, s.irq, s.exc, s.nmi, s.misc);
}
STATUS_FILE(slots);

static ssize_t cpus_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%*pbl\n", cpumask_pr_args(cpu_online_mask));
}
STATUS_FILE(cpus);

static ssize_t timer_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", timer_taken());
}
STATUS_FILE(timer);

static ssize_t idle_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", pl_hosted() ? "unchanged" : pl_idle_name());
}
STATUS_FILE(idle);

static ssize_t pipeline_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return pl_stats_show(buf);
}
STATUS_FILE(pipeline);

static ssize_t irqs_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return pl_lines_show(buf);
}
STATUS_FILE(irqs);

static ssize_t policy_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return rt_policy_show(buf);
}
STATUS_FILE(policy);

static ssize_t tasks_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return rt_tasks_show(buf);
}
STATUS_FILE(tasks);

static ssize_t timing_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return rt_timing_show(buf);
}
STATUS_FILE(timing);

static struct attribute *status_files[] = {
	&state_file.attr, &mode_file.attr, &kernel_file.attr, &since_ns_file.attr,
	&pause_ns_file.attr, &slots_file.attr, &cpus_file.attr, &timer_file.attr,
	&idle_file.attr, &pipeline_file.attr, &irqs_file.attr, &policy_file.attr, &tasks_file.attr,
	&timing_file.attr, NULL
};

/* Addresses are root's business: every slot of the kernel, for whoever wants to check them. */
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

static const struct attribute_group status_group = { .attrs = status_files };

/* ---- before the machine sleeps or stops ---- */

static int sleep_event(struct notifier_block *nb, unsigned long event, void *unused)
{
	if (event != PM_SUSPEND_PREPARE && event != PM_HIBERNATION_PREPARE)
		return NOTIFY_DONE;
	pr_warn("the machine cannot sleep while tactus is loaded: the APIC timer would be lost\n");
	return NOTIFY_BAD;
}

static struct notifier_block sleep_notifier = { .notifier_call = sleep_event };

static void tell_inert(void)
{
	struct pl_summary s;

	pl_get_summary(&s);
	pr_info("inert: Linux has its interrupts back, %u edge- and %u level-triggered were waiting\n",
		s.handed_edge, s.handed_level);
}

/* A rebooting or kexec'ing kernel wants its interrupts back; RT code ends here. */
static int reboot_event(struct notifier_block *nb, unsigned long event, void *unused)
{
	if (!switch_off())
		tell_inert();
	return NOTIFY_DONE;
}

static struct notifier_block reboot_notifier = {
	.notifier_call = reboot_event,
	.priority = INT_MIN,
};

/* ---- module ---- */

static int check_parameters(void)
{
	static const char *const modes[] = { "pipeline", "hosted", "auto" };
	static const char *const timers[] = { "auto", "lapic", "tsc-deadline", "pit" };

	if (match_string(modes, ARRAY_SIZE(modes), mode) < 0) {
		pr_err("refused: mode=%s is unknown; it must be pipeline, hosted or auto\n", mode);
		return -EINVAL;
	}
	if (match_string(timers, ARRAY_SIZE(timers), timer) < 0) {
		pr_err("refused: timer=%s is unknown; it must be auto, lapic, tsc-deadline or pit\n",
		       timer);
		return -EINVAL;
	}
	if (!strcmp(mode, "hosted") && strcmp(timer, "auto")) {
		pr_err("refused: timer=%s is for the pipeline; mode=hosted has Linux's timers\n",
		       timer);
		return -EINVAL;
	}
	return 0;
}

static int __init tactus_init(void)
{
	struct pl_summary s;
	const char *why;
	int err;

	err = check_parameters();
	if (err)
		return err;
	err = rt_exec_init();
	if (err)
		return err;
	err = switch_on(&why);
	if (err)
		goto exec;
	rt_kobj = kobject_create_and_add("tactus", kernel_kobj);
	err = rt_kobj ? sysfs_create_group(rt_kobj, &status_group) : -ENOMEM;
	err = err ?: sysfs_create_bin_file(rt_kobj, &slots_list_file);
	err = err ?: sysfs_create_bin_file(rt_kobj, &events_file);
	if (err)
		goto kobj;
	register_pm_notifier(&sleep_notifier);
	register_reboot_notifier(&reboot_notifier);

	get_summary(&s);
	pr_info("active: mode %s%s, kernel %s, slots cli %u (+%u hard) sti %u save_fl %u irq %u exc %u nmi %u misc %u, CPUs %*pbl, timer %s, pause %llu ns\n",
		mode_taken(), why, init_utsname()->release, s.cli, s.cli_hard, s.sti, s.save_fl, s.irq, s.exc,
		s.nmi, s.misc, cpumask_pr_args(cpu_online_mask), timer_taken(), s.pause_ns);
	return 0;

kobj:
	kobject_put(rt_kobj);
	while (switch_off())
		msleep(UNLOAD_RETRY_MS);
exec:
	rt_exec_exit();
	return err;
}

static void __exit tactus_exit(void)
{
	unregister_reboot_notifier(&reboot_notifier);
	unregister_pm_notifier(&sleep_notifier);
	kobject_put(rt_kobj);
	/* Too late to refuse: stay until whoever changed a slot has changed it back. */
	while (switch_off())
		msleep(UNLOAD_RETRY_MS);
	tell_inert();
	rt_exec_exit();
}

module_init(tactus_init);
module_exit(tactus_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tactus: hard real time on an unmodified kernel");
