// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that come and go while the pipeline is on.
 *
 * A CPU is served, that is, RT has its timer, from when Linux's own bring-up of it is over
 * until before its tear-down begins. In between Linux programs the timer itself; its
 * interrupts go through the pipeline all the time, since the kernel's text is one for all.
 *
 * Going: RT work that is bound to the CPU keeps it online. What is in the log when Linux
 * moves the CPU's interrupts elsewhere goes back to the APIC: pl_fixup_irqs(). Coming: the
 * CPU starts with interrupts hard off and Linux stalled, see write_all().
 *
 * Neither can happen during the switch-over, which holds the CPU lock.
 */
#include <linux/compiler.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/printk.h>
#include <asm/irq_vectors.h>
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/hotplug.h"
#include "pipeline/x86/client.h"
#include "pipeline/x86/irq/oneshot.h"
#include "pipeline/x86/switchover.h"

static int hotplug_state;

void pl_use_vector(void *vector)
{
	pl_stalled(pl_oneshot_use_vector, vector);
}

/* Context: Linux, the CPU's own hotplug thread. */
static int come(unsigned int cpu)
{
	int err;

	if (!READ_ONCE(pl_core.active))
		return 0;
	if (!pl_tick_wait(cpu)) {
		pr_warn("CPU %u stays offline: its tick is not the local APIC's one-shot timer\n",
			cpu);
		return -EBUSY;
	}
	err = pl_client->cpu_comes(cpu);
	if (err)
		return err;
	pl_stalled(pl_serve_cpu, NULL);
	return 0;
}

/* Context: Linux, the CPU's own hotplug thread. */
static int leave(unsigned int cpu)
{
	int err;

	if (!READ_ONCE(pl_core.active))
		return 0;
	if (pl_oneshot_lent(cpu)) {
		pr_warn("CPU %u stays online: its timer, which is not its APIC's, interrupts no other\n",
			cpu);
		return -EBUSY;
	}
	err = pl_client->cpu_leaves(cpu);
	if (err) {
		pr_warn("CPU %u stays online: it has RT tasks or timers\n", cpu);
		return err;
	}
	/* A shot in flight arrives before this returns. */
	pl_use_vector((void *)LOCAL_TIMER_VECTOR);
	pl_stalled(pl_leave_cpu, NULL);
	return 0;
}

int pl_hotplug_watch(void)
{
	int err = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "tactus:online", come, leave);

	if (err < 0)
		return err;
	hotplug_state = err;
	return 0;
}

void pl_hotplug_ignore(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
}
