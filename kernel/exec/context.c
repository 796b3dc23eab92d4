// SPDX-License-Identifier: GPL-2.0-only
/* Which context calls. */
#include <linux/export.h>

#include <rt/context.h>
#include <rt/task.h>
#include "exec/cpu.h"

rt_hot enum rt_context rt_context(void)
{
	if (!pl_oob())
		return RT_CONTEXT_LINUX;
	if (pl_in_irq() || !rt_cpu_task())
		return RT_CONTEXT_IRQ;
	return RT_CONTEXT_TASK;
}
EXPORT_SYMBOL_GPL(rt_context);

RT_TASK *rt_task_self(void)
{
	return pl_oob() ? rt_cpu_task() : NULL;
}
EXPORT_SYMBOL_GPL(rt_task_self);
