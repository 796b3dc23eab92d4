/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock, which is the TSC in ns; and the APIC timer's TSC-deadline mode, which
 * interrupts when the TSC reaches a given value. Private to pipeline/x86.
 *
 * Pure logic apart from the accessors below, which the host's tests replace.
 */
#ifndef _TACTUS_DEADLINE_H
#define _TACTUS_DEADLINE_H

#include <rt/pure.h>

#ifdef __KERNEL__
#include <asm/msr.h>
#include <asm/tsc.h>
#include "compat/percpu.h"
#include "pipeline/x86/resident/tactus_core.h"

static __always_inline u64 pl_tsc(void)
{
	return rdtsc();
}

static inline void pl_deadline_write(u64 tsc)
{
	/* Without it the write may overtake an earlier one of the APIC's registers. */
	weak_wrmsr_fence();
	native_wrmsr(MSR_IA32_TSC_DEADLINE, (u32)tsc, tsc >> 32);
}

static inline u64 pl_deadline_read(void)
{
	return native_read_msr(MSR_IA32_TSC_DEADLINE);
}
#else
u64 pl_tsc(void);
void pl_deadline_write(u64 tsc);
u64 pl_deadline_read(void);
#endif

/** pl_tsc_init - the TSC runs at @khz, which is not 0 */
void pl_tsc_init(unsigned int khz);

#define PL_TSC_SHIFT 32

/*
 * @value * @factor >> PL_TSC_SHIFT. In C its product has a type whose alignment would cost each
 * function that reads the clock a frame of its own.
 */
static inline u64 pl_tsc_scale(u64 value, u64 factor)
{
	u64 high;

	asm("mulq %[factor]\n\tshrdq %[shift], %[high], %[value]"
	    : [value] "+a" (value), [high] "=&d" (high)
	    : [factor] "rm" (factor), [shift] "i" (PL_TSC_SHIFT) : "cc");
	return value;
}

/*
 * pl_tsc_ns - so many ticks are how many ns? Their ratio, << PL_TSC_SHIFT and rounded down, is the
 * same for all CPUs. Each has it in a cache line that its interrupts want anyway. Not by
 * pl_tsc_scale(): that would take one more instruction, to load it.
 */
#ifdef __KERNEL__
static __always_inline u64 pl_tsc_ns(u64 ticks)
{
	u64 high;

	asm("mulq " COMPAT_PERCPU(factor) "\n\tshrdq %[shift], %[high], %[ticks]"
	    : [ticks] "+a" (ticks), [high] "=&d" (high)
	    : [factor] "m" (COMPAT_MY_CPU(pl_cpu.ns_per_tsc)), [shift] "i" (PL_TSC_SHIFT) : "cc");
	return ticks;
}
#else
extern u64 pl_ns_per_tsc;

static inline u64 pl_tsc_ns(u64 ticks)
{
	return pl_tsc_scale(ticks, pl_ns_per_tsc);
}
#endif

/** pl_tsc_clock - now, ns. Inline: each release reads it several times. Context: any. */
static inline u64 pl_tsc_clock(void)
{
	return pl_tsc_ns(pl_tsc());
}

/* The longest wait that pl_deadline_arm() takes. */
#define PL_DEADLINE_LONGEST_NS (1ULL << 30)

/*
 * pl_deadline_arm - interrupt when pl_tsc_clock() has gone on by @wait_ns
 *
 * Never earlier, by that clock, and at most 4 ns and 2 ticks later.
 *
 * Context: this CPU, hardware interrupts off; also the next two.
 */
void pl_deadline_arm(u64 wait_ns);

/** pl_deadline_disarm - do not interrupt */
void pl_deadline_disarm(void);

/** pl_deadline_left_ns - until the interrupt; 0 if it was due or there is none */
u64 pl_deadline_left_ns(void);

#endif
