// SPDX-License-Identifier: GPL-2.0
/*
 * The module tactus: brings up the executive, then the pipeline under it.
 * sysfs.c shows their state.
 *
 * The pipeline comes last and goes first: RT code can only run while it is on.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/reboot.h>
#include <linux/string.h>
#include <linux/suspend.h>
#include <linux/utsname.h>
#include "pipeline/control.h"
#include "pipeline/pipeline.h"
#include "exec/cpu.h"
#include "sysfs.h"

#define UNLOAD_RETRY_MS 1000

static char *mode = "pipeline";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "how RT code gets the CPU: pipeline (hard real time), hosted (by Linux's interrupts), auto (pipeline, or else hosted)");

static char *timer = "auto";
module_param(timer, charp, 0444);
MODULE_PARM_DESC(timer, "one-shot device: auto (the local APIC's, as Linux runs it), lapic, tsc-deadline or pit");

/* ---- which mode ---- */

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
		goto err_exec;
	err = rt_sysfs_init();
	if (err)
		goto err_switch_off;
	register_pm_notifier(&sleep_notifier);
	register_reboot_notifier(&reboot_notifier);

	rt_get_summary(&s);
	pr_info("active: mode %s%s, kernel %s, slots cli %u (+%u hard) sti %u save_fl %u irq %u exc %u nmi %u misc %u, CPUs %*pbl, timer %s, pause %llu ns\n",
		rt_mode_name(), why, init_utsname()->release, s.cli, s.cli_hard, s.sti, s.save_fl, s.irq, s.exc,
		s.nmi, s.misc, cpumask_pr_args(cpu_online_mask), rt_timer_name(), s.pause_ns);
	return 0;

err_switch_off:
	while (switch_off())
		msleep(UNLOAD_RETRY_MS);
err_exec:
	rt_exec_exit();
	return err;
}

static void __exit tactus_exit(void)
{
	unregister_reboot_notifier(&reboot_notifier);
	unregister_pm_notifier(&sleep_notifier);
	rt_sysfs_exit();
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
