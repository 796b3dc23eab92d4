/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Floating point. rt_fp_exchange(), rt_fp_bar() and rt_fp_switch() run under the CPU's lock,
 * hardware interrupts off.
 */
#ifndef _TACTUS_EXEC_FP_H
#define _TACTUS_EXEC_FP_H

#include <asm/processor-flags.h>

#include "exec/cpu.h"

#define RT_FP_ALIGN_BYTES 64
extern unsigned int rt_fp_bytes;	/* of a task's fp_area */
void rt_fp_measure(void);

extern bool rt_fp_trap;

/** rt_fp_put - the registers as they are into @area; rt_fp_get - the reverse. Context: any. */
void rt_fp_put(void *area);
void rt_fp_get(const void *area);

/* @next is a task that uses floating point, or NULL for Linux, and not in the registers yet. */
void rt_fp_exchange(struct rt_cpu *cpu, RT_TASK *next);

/* Make floating point instructions fault, or not. */
static __always_inline void rt_fp_bar(struct rt_cpu *cpu, bool on)
{
	unsigned long cr0;

	if (cpu->fp_barred == on)
		return;
	cpu->fp_barred = on;
	if (unlikely(!on)) {
		asm volatile("clts" : : : "memory");
		return;
	}
	asm volatile("mov %%cr0, %0" : "=r" (cr0));
	asm volatile("mov %0, %%cr0" : : "r" (cr0 | X86_CR0_TS) : "memory");
}

/** rt_fp_switch - @next (NULL: Linux) runs from now on. Context: its CPU. */
static __always_inline void rt_fp_switch(struct rt_cpu *cpu, RT_TASK *next)
{
	if (likely(next && !next->uses_fp)) {
		rt_fp_bar(cpu, cpu->fp_trap);
		return;
	}
	rt_fp_bar(cpu, false);
	if (unlikely(next ? next != cpu->fp_owner : cpu->fp_away))
		rt_fp_exchange(cpu, next);
}

/** rt_fp_forget - @task's registers are not needed any more. Context: any CPU. */
void rt_fp_forget(struct rt_cpu *cpu, const RT_TASK *task);

#endif
