// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks for RT interrupts: handlers, timer functions and the executive need a known room, and the
 * Linux stack that was interrupted may be all but used up.
 *
 * One per CPU is enough: what runs on it is out-of-band, so no Linux code comes on top of it, and
 * an interrupt of RT code stays on that code's stack. Below each lies an unmapped page; what
 * runs into it gets a double fault, which is contained like others.
 */
#include <linux/percpu.h>
#include <linux/thread_info.h>
#include <linux/vmalloc.h>
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/x86/rtstack.h"

void pl_rtstack_free(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (per_cpu(pl_cpu.rt_stack, cpu))
			vfree(per_cpu(pl_cpu.rt_stack, cpu) - THREAD_SIZE);
		per_cpu(pl_cpu.rt_stack, cpu) = NULL;
	}
}

int pl_rtstack_make(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		void *stack = vmalloc_node(THREAD_SIZE, cpu_to_node(cpu));

		if (!stack) {
			pl_rtstack_free();
			return -ENOMEM;
		}
		per_cpu(pl_cpu.rt_stack, cpu) = stack + THREAD_SIZE;
	}
	return 0;
}
