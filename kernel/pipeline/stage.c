// SPDX-License-Identifier: GPL-2.0
/* The stages, as the executive asks about them; see pipeline.h. */
#include "pipeline/core.h"
#include "pipeline/pipeline.h"

/* Context: any. */
bool pl_oob(void)
{
	return this_cpu_read(pl_cpu.oob);
}

/* Context: any. */
bool pl_in_irq(void)
{
	return this_cpu_read(pl_cpu.irq_depth);
}

/* Context: any but NMI. */
void pl_run_oob(void (*fn)(void *arg), void *arg)
{
	pl_call_oob(fn, arg);
}
