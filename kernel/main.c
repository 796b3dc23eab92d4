// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module tactus: brings up the executive, then the pipeline under it.
 * sysfs.c shows their state.
 *
 * The pipeline comes last and goes first: RT code can only run while it is on.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/reboot.h>
#include <linux/string.h>
#include <linux/suspend.h>
#include <linux/utsname.h>
#include "pipeline/control.h"
#include "pipeline/pipeline.h"
#include "exec/admit.h"
#include "exec/cpu.h"
#include "gravity.h"
#include "pit.h"
#include "selftest.h"
#include "sysfs.h"
#include "trial.h"

#define UNLOAD_RETRY_MS 1000

static char *mode = "pipeline";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "how RT code gets the CPU: pipeline (hard real time), hosted (by Linux's interrupts), auto (pipeline, or else hosted)");

static char *timer = "auto";
module_param(timer, charp, 0444);
MODULE_PARM_DESC(timer, "one-shot device: auto (the local APIC's, as Linux runs it), lapic, tsc-deadline or pit");

static bool dry_run;
module_param(dry_run, bool, 0444);
MODULE_PARM_DESC(dry_run, "1: find and check everything, change nothing, and stay inert");

static uint trial_s;
module_param(trial_s, uint, 0444);
MODULE_PARM_DESC(trial_s, "switch off again after that many seconds unless keep is written to (default 0: no)");

/* ---- which mode ---- */

static bool dry_texts;	/* a dry run left a list of what it found */

static bool by_pit(void)
{
	return !strcmp(timer, "pit");
}

/* Context: Linux process; may sleep. */
static int remove_pipeline(void)
{
	int err;

	rt_pit_stop();
	err = pl_remove();
	/* Should that fail, too, RT has the APIC's timer. */
	if (err && by_pit())
		rt_pit_start();
	return err;
}

/* Context: Linux process; may sleep. */
static int install_pipeline(void)
{
	int err;

	if (!by_pit())
		return pl_install(&rt_client, timer);
	err = rt_pit_find() ?: pl_install(&rt_client, "auto");
	if (err)
		return err;
	err = rt_pit_start();
	while (err && pl_remove())
		msleep(UNLOAD_RETRY_MS);
	return err;
}

/* Return: 0, or an errno after a line in the log that says why; then *@why is not set. */
static int switch_on(const char **why)
{
	bool any = !strcmp(mode, "auto");
	int err = -EOPNOTSUPP;

	*why = "";
	if (any || !strcmp(mode, "pipeline")) {
		err = install_pipeline();
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

/* Is there something to switch off? Those who may are several. */
static DEFINE_MUTEX(switch_mutex);
static bool on;

/* Return: 0, also if it is off already, or -EBUSY: the pipeline stays on. */
static int switch_off(void)
{
	int err = 0;

	mutex_lock(&switch_mutex);
	if (!on)
		goto out;
	if (pl_hosted())
		pl_hosted_stop();
	else
		err = remove_pipeline();
	on = err;
out:
	mutex_unlock(&switch_mutex);
	return err;
}

/* As switch_on(), but only looks. */
static int look(void)
{
	bool any = !strcmp(mode, "auto");
	int err = -EOPNOTSUPP;

	if (any || !strcmp(mode, "pipeline")) {
		err = by_pit() ? rt_pit_find() : 0;
		err = err ?: pl_dry_run(by_pit() ? "auto" : timer);
		dry_texts = !err;
		if (!any || !err || err == -ENOMEM)
			return err;
	}
	return pl_hosted_check();
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

/* Context: Linux process; may sleep. */
static void end_life(void)
{
	while (switch_off())
		msleep(UNLOAD_RETRY_MS);
	tell_inert();
}

/* Context: Linux process; may sleep. */
static void end_trial(void)
{
	pr_warn("the trial of %u s is over and nobody said keep: switching off, RT code stops\n",
		trial_s);
	end_life();
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
	if (trial_s > RT_TRIAL_MAX_S) {
		pr_err("refused: trial_s=%u is too long; it must be 0 to %u\n", trial_s,
		       RT_TRIAL_MAX_S);
		return -EINVAL;
	}
	return 0;
}

/* Loaded and inert: for somebody to read what was found. */
static int __init init_dry(void)
{
	struct pl_summary s;
	int err;

	err = rt_exec_init();
	if (err)
		return err;
	err = look();
	if (err)
		goto err_exec;
	err = rt_sysfs_init();
	if (err)
		goto err_look;
	pl_get_summary(&s);
	if (dry_texts)
		pr_info("dry run: nothing speaks against mode pipeline on kernel %s; would write slots cli %u sti %u save_fl %u irq %u exc %u nmi %u misc %u; nothing was changed\n",
			init_utsname()->release, s.cli, s.sti, s.save_fl, s.irq, s.exc, s.nmi,
			s.misc);
	else
		pr_info("dry run: nothing speaks against mode hosted on kernel %s; nothing was changed\n",
			init_utsname()->release);
	return 0;

err_look:
	if (dry_texts)
		pl_dry_end();
err_exec:
	rt_exec_exit();
	return err;
}

static int __init tactus_init(void)
{
	struct pl_summary s;
	const char *why;
	int err;

	err = check_parameters();
	if (err)
		return err;
	if (dry_run)
		return init_dry();
	err = rt_exec_init();
	if (err)
		return err;
	err = switch_on(&why);
	if (err)
		goto err_exec;
	on = true;
	err = rt_selftest();
	if (err)
		goto err_switch_off;
	err = rt_selftest_watch(end_life);
	if (err)
		goto err_switch_off;
	rt_gravity_measure();
	err = rt_sysfs_init();
	if (err)
		goto err_selftest;
	err = rt_trial_start(trial_s, end_trial);
	if (err)
		goto err_sysfs;
	register_pm_notifier(&sleep_notifier);
	register_reboot_notifier(&reboot_notifier);

	rt_get_summary(&s);
	pr_info("active: mode %s%s, kernel %s, slots cli %u (+%u hard) sti %u save_fl %u irq %u exc %u nmi %u misc %u sys %u, CPUs %*pbl, timer %s, pause %llu ns\n",
		rt_mode_name(), why, init_utsname()->release, s.cli, s.cli_hard, s.sti, s.save_fl,
		s.irq, s.exc, s.nmi, s.misc, s.sys, cpumask_pr_args(cpu_online_mask),
		rt_timer_name(), s.pause_ns);
	return 0;

err_sysfs:
	rt_sysfs_exit();
err_selftest:
	rt_selftest_ignore();
err_switch_off:
	while (switch_off())
		msleep(UNLOAD_RETRY_MS);
	rt_selftest_end();
err_exec:
	rt_exec_exit();
	return err;
}

static void __exit tactus_exit(void)
{
	if (dry_run) {
		rt_sysfs_exit();
		if (dry_texts)
			pl_dry_end();
		rt_exec_exit();
		return;
	}
	rt_trial_stop();
	unregister_reboot_notifier(&reboot_notifier);
	unregister_pm_notifier(&sleep_notifier);
	rt_sysfs_exit();
	rt_selftest_ignore();
	if (on) {
		/* Too late to refuse: stay until whoever changed a slot has changed it back. */
		while (switch_off())
			msleep(UNLOAD_RETRY_MS);
		tell_inert();
	}
	rt_selftest_end();
	rt_exec_exit();
}

module_init(tactus_init);
module_exit(tactus_exit);
MODULE_LICENSE("GPL");
MODULE_VERSION(TACTUS_VERSION);
MODULE_DESCRIPTION("Tactus: hard real time on an unmodified kernel");
