/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RT code in ring 3, as the executive and tactus_user see it: the state that it has there, the way
 * there, and what it did that ends it. Exported to tactus_user alone.
 */
#ifndef _TACTUS_PIPELINE_RING3_H
#define _TACTUS_PIPELINE_RING3_H

#include <linux/types.h>
#include "pipeline/x86/ring3/state.h"

struct pt_regs;
struct pl_ring3;

/*
 * struct pl_ring3_end - what RT code in ring 3 wants and only Linux can do
 * @trap: an exception; else a system call
 * @vector, @error_code, @address: of the exception; the address is a page fault's
 * @nr: of the system call
 */
struct pl_ring3_end {
	bool trap;
	unsigned int vector;
	unsigned long error_code, address, nr;
};

/**
 * struct pl_ring3_ops - whoever has RT code in ring 3
 * @call: a system call by the 64-bit way; false if it is none of RT code's
 * @trap: an exception; true if that is seen to, and RT code goes on with @regs
 * @end: it goes on in Linux with @regs, where it does what it was about to do; does not return
 *
 * Context: RT task, at the top of its stack, hardware interrupts off.
 */
struct pl_ring3_ops {
	bool (*call)(struct pl_ring3 *ring3, struct pt_regs *regs, unsigned long nr);
	bool (*trap)(struct pl_ring3 *ring3, struct pt_regs *regs, unsigned int vector);
	void (*end)(struct pl_ring3 *ring3, const struct pt_regs *regs,
		    const struct pl_ring3_end *end);
};

/**
 * struct pl_ring3 - a task's half in ring 3
 * @state: what is loaded while it runs; the owner sets page tables and stack
 * @ops: see there
 */
struct pl_ring3 {
	struct ring3_state state;
	const struct pl_ring3_ops *ops;
};

/**
 * pl_ring3_refusal - why no RT code can be in ring 3, in a sentence; NULL: it can
 *
 * Context: Linux process; may sleep.
 */
const char *pl_ring3_refusal(void);

/** pl_ring3_swap - @to's half is to be loaded from now on; NULL: Linux's
 *
 * Context: out-of-band, hardware interrupts off.
 */
void pl_ring3_swap(struct pl_ring3 *to);

/*
 * pl_ring3_go - to ring 3 with @regs; never comes back, what follows begins at @top again
 *
 * By the kernel's own way out, which sees to page table isolation, speculation and swapgs, and
 * looks at nothing of `current`.
 *
 * Context: RT task whose half is loaded.
 */
void pl_ring3_go(const struct pt_regs *regs, void *top);

/*
 * pl_ring3_take - FS base, GS base and protection keys of the calling thread into @state
 * pl_ring3_give - the reverse
 *
 * Context: Linux process.
 */
void pl_ring3_take(struct ring3_state *state);
void pl_ring3_give(const struct ring3_state *state);

/** pl_ring3_load_fp - have the calling thread's floating point in the registers
 *
 * Context: Linux process, inside fpregs_lock().
 */
void pl_ring3_load_fp(void);

/** pl_clock_factor - ns of pl_clock() per tick of the TSC, times 2^32. Context: any. */
u64 pl_clock_factor(void);

#endif
