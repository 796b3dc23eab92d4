// SPDX-License-Identifier: GPL-2.0-only
/*
 * The seam of pipeline.h: which of the two modes answers. A static key, so that the pipeline's
 * paths pay one nop for there being another mode.
 */
#include <linux/export.h>
#include <linux/ptrace.h>
#include <asm/irq_regs.h>
#include <asm/segment.h>
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/hosted.h"
#include "pipeline/pipeline.h"
#include "pipeline/ring3.h"
#include "pipeline/x86/irq/deadline.h"
#include "pipeline/x86/irq/lines.h"

/* Context: any. */
u64 pl_clock_factor(void)
{
	return raw_cpu_read(pl_cpu.ns_per_tsc);
}
EXPORT_SYMBOL_GPL(pl_clock_factor);

/* Context: any. */
void pl_ipi(int cpu)
{
	if (pl_hosted())
		pl_hosted_ipi(cpu);
	else
		pl_line_ipi(cpu);
}

/* Context: any. */
bool pl_active(void)
{
	return pl_hosted() ? pl_hosted_active() : READ_ONCE(pl_core.active);
}

/* Context: RT interrupt that interrupts no RT code. */
unsigned long pl_linux_ip(void)
{
	const struct pt_regs *regs = pl_hosted() ? get_irq_regs() : this_cpu_read(pl_cpu.regs);

	/* user_mode() wants no const. */
	return regs && !(regs->cs & SEGMENT_RPL_MASK) ? regs->ip : 0;
}

/* Context: any but NMI. */
void pl_run_oob(void (*fn)(void *arg), void *arg)
{
	if (pl_hosted())
		pl_hosted_run(fn, arg);
	else
		pl_call_oob(fn, arg);
}
EXPORT_SYMBOL_GPL(pl_run_oob);

struct guarded {
	void (*fn)(void *arg);
	void *arg;
	bool failed;
};

/* Context: out-of-band, hardware interrupts off. */
static void run_guarded(void *arg)
{
	struct guarded *guarded = arg;

	this_cpu_inc(pl_cpu.irq_depth);
	guarded->failed = pl_guarded(guarded->fn, guarded->arg);
	this_cpu_dec(pl_cpu.irq_depth);
}

/* Context: Linux, any but NMI. */
bool pl_run_guarded(void (*fn)(void *arg), void *arg)
{
	struct guarded guarded = { .fn = fn, .arg = arg };

	pl_run_oob(run_guarded, &guarded);
	return guarded.failed;
}
EXPORT_SYMBOL_GPL(pl_run_guarded);
