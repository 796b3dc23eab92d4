// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stall detector: interrupts that were logged and that nobody replays for a second. Linux
 * keeps interrupts off for too long, or it has enabled them in a way that the pipeline does not
 * see, or a CPU sleeps with its log full.
 *
 * A soft cli stays one instruction. What is needed is noted where an interrupt is logged because
 * Linux is stalled: when the oldest that waits came, and what it interrupted. The log is
 * looked at by
 *
 *   the CPU itself, at each RT interrupt that hits Linux. A tick that Linux does not answer
 *   is followed by a shot a second later, see pl_oneshot_due(), so there is one. Linux, once a
 *   second, at all CPUs: for one that sleeps.
 */
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/workqueue.h>
#include <asm/tsc.h>
#include "compat/compat.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/x86/irq/stall.h"

#define FRAMES 24
#define SHOWN 4

static DEFINE_PER_CPU(u64, told);	/* of which stall: its logged_tsc */

/* printk() is made for NMIs, and so may be called out-of-band. Context: any. */
static void tell(int i)
{
	struct pl_cpu *cpu = per_cpu_ptr(&pl_cpu, i);
	u64 since = READ_ONCE(cpu->logged_tsc), old = READ_ONCE(per_cpu(told, i));
	unsigned int ms;

	if (!since || since == old || cmpxchg(per_cpu_ptr(&told, i), old, since) != old)
		return;
	ms = div_u64(rdtsc() - since, tsc_khz);
	pr_warn("CPU %d: interrupts for Linux wait for %u.%u s: vectors %*pbl; Linux was stalled at %pS when the first came\n",
		i, ms / 1000, ms % 1000 / 100, PL_VECTORS, (unsigned long *)&cpu->pending,
		(void *)READ_ONCE(cpu->logged_ip));
}

/* Where Linux is now, and by whom it was called. Context: RT interrupt, on Linux's stack. */
static void tell_callers(const struct pt_regs *regs)
{
	unsigned long frames[FRAMES] = { regs->ip };
	unsigned int count = compat_callers(frames, FRAMES) ?: 1, first;

	for (first = 0; first < count && frames[first] != regs->ip; first++)
		;
	for (unsigned int i = first; i < count && i < first + SHOWN; i++)
		pr_warn("CPU %d:   %s %pS\n", raw_smp_processor_id(),
			i == first ? "now at" : "called from", (void *)frames[i]);
}

static bool too_long(u64 since)
{
	return since && (s64)(rdtsc() - since) > (s64)tsc_khz * MSEC_PER_SEC;
}

void pl_stall_look(const struct pt_regs *regs)
{
	struct pl_cpu *cpu = this_cpu_ptr(&pl_cpu);

	if (!too_long(cpu->logged_tsc) || cpu->logged_tsc == __this_cpu_read(told))
		return;
	tell(raw_smp_processor_id());
	tell_callers(regs);
}

static void look_at_all(struct work_struct *work)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (too_long(READ_ONCE(per_cpu(pl_cpu, cpu).logged_tsc)))
			tell(cpu);
	schedule_delayed_work(to_delayed_work(work), HZ);
}

static DECLARE_DELAYED_WORK(look_work, look_at_all);

int pl_stall_watch(void)
{
	schedule_delayed_work(&look_work, HZ);
	return 0;
}

void pl_stall_ignore(void)
{
	cancel_delayed_work_sync(&look_work);
}
