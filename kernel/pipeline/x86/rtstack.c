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
#include "pipeline/pipeline.h"

#define BLOCK_BYTES (THREAD_SIZE + PAGE_SIZE)
/*
 * Of a cache line, so much is the client's, and the rest the stack's. A release takes no more than
 * 96 bytes of stack up to the job: so that is one line and this half.
 */
#define SHARED_BYTES PL_CLIENT_LINE_BYTES
static_assert(!(SHARED_BYTES % sizeof(void *)) && SHARED_BYTES < SMP_CACHE_BYTES);

static DEFINE_PER_CPU(void *, block);	/* which holds both */

void pl_rtstack_free(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu(pl_cpu.client, cpu) = NULL;
		vfree(per_cpu(block, cpu));
		per_cpu(block, cpu) = NULL;
	}
}

int pl_rtstack_make(size_t bytes)
{
	int cpu;

	bytes = ALIGN(bytes - SHARED_BYTES, SMP_CACHE_BYTES) + SHARED_BYTES;
	for_each_possible_cpu(cpu) {
		void *stack = vzalloc_node(BLOCK_BYTES, cpu_to_node(cpu));

		if (!stack) {
			pl_rtstack_free();
			return -ENOMEM;
		}
		per_cpu(block, cpu) = stack;
		/* What runs on the stack comes right below the client's part. */
		per_cpu(pl_cpu.client, cpu) = stack + BLOCK_BYTES - bytes;
		per_cpu(pl_cpu.locks, cpu) = 0;
		per_cpu(pl_cpu.asked, cpu) = 0;
	}
	return 0;
}
