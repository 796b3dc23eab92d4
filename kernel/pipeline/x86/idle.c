// SPDX-License-Identifier: GPL-2.0
/*
 * Idle without lost wake-ups.
 *
 * Linux idles with interrupts off, and they are off only softly. An interrupt that
 * comes between Linux's last look at its work and the CPU's going to sleep is logged,
 * and nobody would replay it until the next one. So idle functions are entered with
 * interrupts hard off, after a look at the log:
 *
 *   hlt      "sti; hlt" in the kernel's safe halt is patched, see thunks.S
 *   mwait as an interrupt-break (cpuidle drivers): called hard off; the CPU wakes at
 *            an interrupt, which is taken when the wrapper enables them
 *   "sti; mwait" (mwait_idle): called hard off and unstalled; its own sti is real
 *
 * Locking: the installer's mutex; cpuidle_pause_and_lock() while a driver's functions
 * are swapped, which also gets every CPU out of them.
 */
#include <linux/cpu.h>
#include <linux/cpuidle.h>
#include <linux/kallsyms.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include "compat/compat.h"
#include "compat/idle.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/control.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/idle.h"
#include "pipeline/x86/patch/symbols.h"

typedef int (*enter_fn)(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index);

static struct cpuidle_driver *wrapped;	/* whose enter functions are ours, or NULL */
static enter_fn enter[CPUIDLE_STATE_MAX];
static struct compat_idle arch_idle;	/* the kernel's choice without a driver */
static void (*arch_mwait)(void);	/* mwait_idle, if that is the choice; else NULL */
static bool arch_wrapped;

/* Context: Linux's idle task. */
static int enter_hard(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index)
{
	unsigned long flags = pl_hard_save();
	int entered = index;

	/* What is logged is replayed when cpuidle enables interrupts, right after this. */
	if (!pl_core.active || !this_cpu_read(pl_any))
		entered = enter[index](dev, drv, index);
	pl_hard_restore(flags);
	return entered;
}

/* Context: Linux's idle task. */
static void mwait_hard(void)
{
	unsigned long flags;

	if (!pl_core.active) {
		arch_mwait();
		return;
	}
	flags = pl_hard_save();
	if (this_cpu_read(pl_any)) {
		pl_hard_restore(flags);
		compat_idle_abort();
		return;
	}
	this_cpu_write(pl_vif, 1);
	arch_mwait();
}

/* ---- which ---- */

/*
 * Only drivers whose states are known to wake at an interrupt that is hard off:
 * mwait as interrupt-break, I/O-port C-states, hlt.
 *
 * Return: NULL, or what is wrong with it.
 */
static const char *driver_fault(const struct cpuidle_driver *driver)
{
	static const char *const known[] = { "intel_idle", "acpi_idle", "haltpoll" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(driver->name, known[i]))
			break;
	if (i == ARRAY_SIZE(known))
		return "is not known to wake at every interrupt";
	for (int state = 0; state < driver->state_count; state++)
		if (driver->states[state].flags & CPUIDLE_FLAG_TIMER_STOP &&
		    !boot_cpu_has(X86_FEATURE_ARAT))
			return "stops the APIC timer";
	return NULL;
}

static int check_arch_idle(void)
{
	static const char *const by_hlt[] = { "default_idle", "amd_e400_idle" };

	if (boot_cpu_has_bug(X86_BUG_AMD_APIC_C1E)) {
		pr_err("refused: this CPU's APIC timer stops in C1E; nothing was changed\n");
		return -EOPNOTSUPP;
	}
	if (!compat_idle_find(&arch_idle, pl_symbol_try))
		return 0;
	arch_mwait = NULL;
	for (unsigned int i = 0; i < ARRAY_SIZE(by_hlt); i++)
		if ((unsigned long)arch_idle.fn == pl_symbol_try(by_hlt[i]))
			return 0;
	if ((unsigned long)arch_idle.fn == pl_symbol_try("mwait_idle")) {
		arch_mwait = arch_idle.fn;
		return 0;
	}
	pr_err("refused: the idle function %ps is unknown (boot with idle=halt); nothing was changed\n",
	       arch_idle.fn);
	return -EOPNOTSUPP;
}

int pl_idle_find(void)
{
	const struct cpuidle_driver *driver = cpuidle_get_driver();
	const char *fault = driver ? driver_fault(driver) : NULL;

	if (fault) {
		pr_err("refused: the idle driver %s %s (boot with idle=halt); nothing was changed\n",
		       driver->name, fault);
		return -EOPNOTSUPP;
	}
	return check_arch_idle();
}

/* ---- wrap and unwrap ---- */

static void wrap_driver(struct cpuidle_driver *driver)
{
	cpuidle_pause_and_lock();
	for (int i = 0; i < driver->state_count; i++) {
		enter[i] = driver->states[i].enter;
		driver->states[i].enter = enter_hard;
	}
	wrapped = driver;
	cpuidle_resume_and_unlock();
}

static void unwrap_driver(void)
{
	cpuidle_pause_and_lock();
	if (wrapped == cpuidle_get_driver())
		for (int i = 0; i < wrapped->state_count; i++)
			wrapped->states[i].enter = enter[i];
	wrapped = NULL;
	cpuidle_resume_and_unlock();
}

void pl_idle_wrap(void)
{
	struct cpuidle_driver *driver = cpuidle_get_driver();

	if (driver)
		wrap_driver(driver);
	if (arch_mwait) {
		compat_idle_set(&arch_idle, mwait_hard);
		arch_wrapped = true;
	}
}

void pl_idle_unwrap(void)
{
	if (wrapped)
		unwrap_driver();
	if (arch_wrapped) {
		compat_idle_set(&arch_idle, arch_idle.fn);
		arch_wrapped = false;
	}
}

void pl_idle_recheck(void)
{
	struct cpuidle_driver *driver = cpuidle_get_driver();
	const char *fault;

	if (driver == wrapped)
		return;
	wrapped = NULL;
	if (!driver)
		return;
	fault = driver_fault(driver);
	if (fault)
		pr_warn("the idle driver %s, which came later, %s: Linux may sleep through interrupts\n",
			driver->name, fault);
	else
		wrap_driver(driver);
}

const char *pl_idle_name(void)
{
	if (wrapped)
		return wrapped->name;
	return arch_wrapped ? "mwait" : "hlt";
}
