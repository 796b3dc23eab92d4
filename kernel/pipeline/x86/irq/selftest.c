// SPDX-License-Identifier: GPL-2.0-only
/* The pipeline's part of the self-test in kernel/selftest.c. */
#include <linux/percpu.h>
#include <linux/smp.h>
#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/control.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/irq/oneshot.h"

bool pl_logged(void)
{
	return this_cpu_read(pl_cpu.state) & PL_ANY;
}

/* Has the RT vector arrived at this CPU's APIC? Context: hardware interrupts off. */
static bool requested(void)
{
	u8 vector = pl_core.oob_vector;

	return pl_core.apic_read(APIC_IRR + vector / 32 * 0x10) & BIT(vector % 32);
}

int pl_ipi_test(bool self, bool *ready, bool (*more)(void *arg), void *arg)
{
	unsigned long flags = pl_hard_save();
	int err = -EAGAIN;

	pl_oneshot_pause();
	if (requested())
		goto out;
	WRITE_ONCE(*ready, true);
	if (self)
		pl_ipi(raw_smp_processor_id());
	while (!requested() && more(arg))
		;
	err = requested() ? 0 : -EIO;
out:
	pl_oneshot_resume();
	pl_hard_restore(flags);
	return err;
}

static void kick(void *unused)
{
	pl_core.ipi_self(IRQ_WORK_VECTOR);
}

void pl_kick_posts(void)
{
	if (pl_core.ipi_self)
		on_each_cpu(kick, NULL, 1);
}
