/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What of a CPU's state code in ring 3 has or sees, beside the registers that entry code saves
 * and floating point: exchanged when RT code with a half in ring 3 gets the CPU or loses it.
 *
 * RT code runs between any two instructions of Linux, so Linux's values are put back as they were
 * found, whatever Linux was about to do with them.
 *
 *	of each side	page tables; the kernel stack's top, where entry code from ring 3 puts the
 *			registers; FS base, inactive GS base; protection keys
 *	Linux's only	segment selectors, which ring 3 can load, and with which a 32-bit process
 *			cannot run if they are not its own
 *	neutral for RT	the interrupted process's hardware breakpoints, I/O permissions, forbidden
 *			rdtsc, permitted rdpmc: nobody else's business
 *	the mm that Linux believes to be loaded: says "being switched" meanwhile, so that NMI
 *			handlers (perf) leave user memory alone
 *	KVM's MSRs	while a virtual machine's thread is in the kernel they may be the guest's
 *
 * Pure logic apart from the accessors, which the host's tests replace.
 */
#ifndef _TACTUS_RING3_SWAP_H
#define _TACTUS_RING3_SWAP_H

#include <rt/pure.h>
#include "pipeline/x86/ring3/state.h"

enum ring3_reg {
	RING3_CR3, RING3_TOP, RING3_FS, RING3_GS, RING3_PKRU,
	RING3_MM, RING3_IO, RING3_DR7, RING3_CR4,
	RING3_DS, RING3_ES, RING3_FS_SEL, RING3_GS_SEL,
	RING3_STAR, RING3_LSTAR, RING3_CSTAR, RING3_SYSCALL_MASK,
	RING3_REGS
};

#define RING3_FIRST_SEL RING3_DS
#define RING3_SELS 4
#define RING3_FIRST_MSR RING3_STAR
#define RING3_MSRS 4

#define RING3_CR4_TSD	(1ULL << 2)
#define RING3_CR4_PCE	(1ULL << 8)
#define RING3_CR4_VMXE	(1ULL << 13)
#define RING3_CR4_PCIDE	(1ULL << 17)
#define RING3_CR3_NOFLUSH (1ULL << 63)
#define RING3_MM_SWITCHING 1	/* LOADED_MM_SWITCHING */

/*
 * struct ring3_cpu - one CPU
 * @loaded: the half that is in the registers; NULL: Linux's, and then the rest means nothing
 * @linux, @mm, @io, @dr7, @cr4, @sel, @msr: Linux's values
 */
struct ring3_cpu {
	struct ring3_state *loaded;
	struct ring3_state linux_state;
	u64 mm, io, dr7, cr4, sel[RING3_SELS], msr[RING3_MSRS];
};

/**
 * struct ring3_machine - what does not change
 * @keys: there are protection keys
 * @io_none: the TSS's word for no I/O permission at all
 * @msr: what Linux has in the MSRs of system calls
 */
struct ring3_machine {
	bool keys;
	u64 io_none;
	u64 msr[RING3_MSRS];
};

/* The includer says how: @reg is a constant. */
static __always_inline u64 ring3_read(enum ring3_reg reg);
static __always_inline void ring3_write(enum ring3_reg reg, u64 value);

static __always_inline void ring3_save(const struct ring3_machine *m, struct ring3_state *s)
{
	s->fs = ring3_read(RING3_FS);
	s->gs = ring3_read(RING3_GS);
	if (m->keys)
		s->pkru = ring3_read(RING3_PKRU);
}

static __always_inline void ring3_load(const struct ring3_machine *m, const struct ring3_state *s,
				       u64 cr3)
{
	ring3_write(RING3_TOP, s->top);
	ring3_write(RING3_CR3, cr3);
	ring3_write(RING3_FS, s->fs);
	ring3_write(RING3_GS, s->gs);
	if (m->keys)
		ring3_write(RING3_PKRU, s->pkru);
}

static __always_inline void ring3_leave_linux(const struct ring3_machine *m, struct ring3_cpu *cpu)
{
	cpu->linux_state.cr3 = ring3_read(RING3_CR3);
	cpu->linux_state.top = ring3_read(RING3_TOP);
	cpu->mm = ring3_read(RING3_MM);
	cpu->io = ring3_read(RING3_IO);
	cpu->dr7 = ring3_read(RING3_DR7);
	cpu->cr4 = ring3_read(RING3_CR4);
	cpu->sel[0] = ring3_read(RING3_DS);
	cpu->sel[1] = ring3_read(RING3_ES);
	cpu->sel[2] = ring3_read(RING3_FS_SEL);
	cpu->sel[3] = ring3_read(RING3_GS_SEL);

	ring3_write(RING3_MM, RING3_MM_SWITCHING);
	ring3_write(RING3_IO, m->io_none);
	if (cpu->dr7)
		ring3_write(RING3_DR7, 0);
	if (cpu->cr4 & (RING3_CR4_TSD | RING3_CR4_PCE))
		ring3_write(RING3_CR4, cpu->cr4 & ~(RING3_CR4_TSD | RING3_CR4_PCE));
	if (cpu->cr4 & RING3_CR4_VMXE) {
		cpu->msr[0] = ring3_read(RING3_STAR);
		cpu->msr[1] = ring3_read(RING3_LSTAR);
		cpu->msr[2] = ring3_read(RING3_CSTAR);
		cpu->msr[3] = ring3_read(RING3_SYSCALL_MASK);
		ring3_write(RING3_STAR, m->msr[0]);
		ring3_write(RING3_LSTAR, m->msr[1]);
		ring3_write(RING3_CSTAR, m->msr[2]);
		ring3_write(RING3_SYSCALL_MASK, m->msr[3]);
	}
}

/* A selector that is loaded takes its base along, so this comes before the bases. */
static __always_inline void ring3_restore_selectors(const struct ring3_cpu *cpu)
{
	if (ring3_read(RING3_DS) != cpu->sel[0])
		ring3_write(RING3_DS, cpu->sel[0]);
	if (ring3_read(RING3_ES) != cpu->sel[1])
		ring3_write(RING3_ES, cpu->sel[1]);
	if (ring3_read(RING3_FS_SEL) != cpu->sel[2])
		ring3_write(RING3_FS_SEL, cpu->sel[2]);
	if (ring3_read(RING3_GS_SEL) != cpu->sel[3])
		ring3_write(RING3_GS_SEL, cpu->sel[3]);
}

static __always_inline void ring3_back_to_linux(const struct ring3_cpu *cpu)
{
	ring3_write(RING3_MM, cpu->mm);
	ring3_write(RING3_IO, cpu->io);
	if (cpu->dr7)
		ring3_write(RING3_DR7, cpu->dr7);
	if (cpu->cr4 & (RING3_CR4_TSD | RING3_CR4_PCE))
		ring3_write(RING3_CR4, cpu->cr4);
	if (cpu->cr4 & RING3_CR4_VMXE) {
		ring3_write(RING3_STAR, cpu->msr[0]);
		ring3_write(RING3_LSTAR, cpu->msr[1]);
		ring3_write(RING3_CSTAR, cpu->msr[2]);
		ring3_write(RING3_SYSCALL_MASK, cpu->msr[3]);
	}
}

/*
 * ring3_swap - exchange the state in the registers
 * @m, @cpu: this CPU's
 * @to: whose it is to be; NULL: Linux's
 *
 * RT code's own page tables are flushed from the TLB whenever they are loaded, Linux's are not.
 *
 * Context: out-of-band, hardware interrupts off.
 */
static __always_inline void ring3_swap(const struct ring3_machine *m, struct ring3_cpu *cpu,
				       struct ring3_state *to)
{
	struct ring3_state *from = cpu->loaded;

	if (from == to)
		return;
	ring3_save(m, from ? from : &cpu->linux_state);
	if (!from)
		ring3_leave_linux(m, cpu);
	cpu->loaded = to;
	if (to) {
		ring3_load(m, to, to->cr3);
		return;
	}
	ring3_restore_selectors(cpu);
	ring3_load(m, &cpu->linux_state, cpu->linux_state.cr3 |
		   (cpu->cr4 & RING3_CR4_PCIDE ? RING3_CR3_NOFLUSH : 0));
	ring3_back_to_linux(cpu);
}

#endif
