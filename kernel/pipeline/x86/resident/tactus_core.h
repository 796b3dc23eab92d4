/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tactus_core: the resident half of the pipeline, as tactus sees it.
 *
 * Linux tasks may sleep, or die, inside a frame of the code that the patched
 * kernel calls, so that code can never be unloaded. It is kept as small as it can
 * be: the thunks, the entry dispatcher, the pending log, the EOI hook. Everything
 * that finds slots, patches, programs timers or schedules lives in tactus and
 * reaches the core through the two structures below.
 */
#ifndef _TACTUS_CORE_H
#define _TACTUS_CORE_H

#define PL_GATES 96		/* room for as many */
#define PL_GATE_STUB_BYTES 16
#define PL_SPURIOUS_GATE 0	/* of vectors without a gate of their own; RT's is one of them */

/* The ways by which ring 3 makes system calls; each has a stub at pl_sys_stubs. */
#define PL_SYS_64	0	/* syscall, 64-bit code */
#define PL_SYS_FAST32	1	/* syscall, 32-bit code */
#define PL_SYS_SYSENTER	2
#define PL_SYS_INT80	3
#define PL_SYS_GATES	4
#define PL_SYS_STUB_BYTES 32

/* Where assembly finds this member of struct pl_cpu. */
#define PL_CPU_STATE 0

/*
 * The bits of pl_cpu.state. It looks like the second byte of RFLAGS, of which PL_VIF is IF, PL_ANY
 * is always 0, and the others are Linux's business: reading the flags is one AND with it. PL_ANY is
 * the sign, so the OR of PL_VIF says whether anything is logged.
 */
#define PL_VIF		0x02	/* the virtual IF: clear while Linux is stalled */
#define PL_ANY		0x80	/* pl_cpu.pending is not empty */
#define PL_STATE_NEW	0x7f	/* not stalled, nothing logged */

#ifndef __ASSEMBLY__
#include <linux/cache.h>
#include <linux/percpu.h>
#include <linux/static_call.h>
#include <linux/types.h>
#include "compat/compat.h"
#include "pipeline/x86/resident/eoi.h"
#include "pipeline/x86/resident/vecset.h"

/* Counts every change of this header's meaning; tactus refuses another core. */
#define PL_CORE_ABI 15

struct irq_desc;
struct pt_regs;
struct rt_line;

/**
 * struct pl_gate - a C function that Linux's entry code calls, and we in its place; see x86/gates.c
 * @call: that function
 * @vector: the interrupt's or exception's number; 0: the entry code passes it
 */
struct pl_gate {
	void (*call)(struct pt_regs *regs, unsigned long error_code);
	u8 vector;
};

/**
 * struct pl_stats - what the pipeline did on one CPU
 * @oob: out-of-band interrupts
 * @direct: Linux interrupts handed on at once
 * @logged: Linux interrupts that found Linux stalled
 * @replayed: logged interrupts whose handler was run
 * @hidden: exceptions that were shown IF=0
 * @eoi_swallowed: EOIs of Linux's handlers for vectors acknowledged on arrival
 * @eoi_held: level-triggered interrupts whose EOI waited for Linux's handler
 * @lines_masked: level-triggered lines masked at their controller while stalled
 */
struct pl_stats {
	u64 oob, direct, logged, replayed, hidden, eoi_swallowed, eoi_held, lines_masked;
};

/*
 * struct pl_cpu - one CPU's pipeline; touched by its CPU, hardware interrupts off, but for @asked
 * @state: PL_VIF and PL_ANY
 * @oob: this CPU is in the out-of-band stage
 * @inband_vif: while @oob, @state has PL_VIF on return to the in-band stage if this has
 * @irq_depth: RT interrupt handlers on the stack
 * @nmi_depth: NMIs, and exceptions like them, on the stack
 * @served: this CPU's timer is shared with RT
 * @rt_vector: @pl_core.oob_vector; 0: while it is not @pl_core.active, or if that does not come by
 *	PL_SPURIOUS_GATE
 * @locks: how many of tactus's locks this CPU holds, or waits for
 * @client: what tactus has of this CPU; right below it is the stack for RT interrupts that hit
 *	Linux
 * @regs: of what the RT interrupt that came last from outside of RT code interrupted
 * @logged_tsc: when the oldest interrupt came that waits because Linux is stalled; 0: none does
 * @asked: what an IPI of RT's is for; any CPU sets bits
 * @eoi_at: where one store is the kernel's own EOI; NULL: nowhere
 * @ns_per_tsc: see deadline.h
 * @stats: see there
 * @logged_ip: what the interrupt of @logged_tsc interrupted
 * @current_vector: the Linux vector whose handler runs, or -1
 * @pending: Linux vectors that wait for Linux to be unstalled
 * @eois: what the APIC is owed for each of Linux's vectors
 * @masked: the level line behind each vector of PL_EOI_MASKED
 *
 * What an RT interrupt needs comes first, up to the first member of @stats: one cache line. Some of
 * it is the same for all CPUs, and has no line of its own.
 */
struct pl_cpu {
	u8 state;
	bool oob;
	u8 inband_vif;
	u8 irq_depth;
	u8 nmi_depth;
	bool served;
	u8 rt_vector;
	u8 locks;
	void *client;
	const struct pt_regs *regs;
	u64 logged_tsc;
	unsigned long asked;
	volatile u32 *eoi_at;
	u64 ns_per_tsc;
	struct pl_stats stats;
	unsigned long logged_ip;
	int current_vector;
	struct pl_vecset pending;
	struct pl_eois eois;
	struct irq_desc *masked[PL_VECTORS];
} ____cacheline_aligned;

/**
 * struct pl_hooks - tactus, as the core's dispatcher sees it
 * @rt_line: the RT interrupt behind a device vector, or NULL if it is Linux's
 * @oob_line: handle and acknowledge the RT interrupt that @rt_line returned; false if Linux is
 *	to be given it as well: to acknowledge it, or to keep it, since the handler failed
 * @mask_line: mask the level-triggered line behind a vector at its controller;
 *	returns its descriptor, or NULL if that is not possible now
 * @unmask_line: the reverse; @desc is what @mask_line returned
 * @stalled: an RT interrupt hit Linux at @regs, on its stack, while interrupts for Linux wait
 * @fault: out-of-band code caused an exception; true if @regs lead elsewhere now, false if it
 *	is for Linux
 * @cpu_dies: Linux is about to move this CPU's interrupts elsewhere
 * @ring3_trap: RT code in ring 3 caused an exception; returns only if it goes on with @regs
 * @ring3_call: RT code in ring 3 made a system call by the way @gate, PL_SYS_*; returns only if it
 *	was one of RT code's own
 *
 * All run with hardware interrupts off; all but @unmask_line and @cpu_dies out-of-band or at
 * the point of arrival, so none may call Linux beyond what is NMI-safe.
 */
struct pl_hooks {
	struct rt_line *(*rt_line)(unsigned int vector);
	bool (*oob_line)(struct rt_line *line, unsigned int vector);
	struct irq_desc *(*mask_line)(unsigned int vector);
	void (*unmask_line)(struct irq_desc *desc, unsigned int vector);
	void (*stalled)(const struct pt_regs *regs);
	bool (*fault)(struct pt_regs *regs, unsigned long error_code, unsigned int vector);
	void (*cpu_dies)(void);
	void (*ring3_trap)(struct pt_regs *regs, unsigned long error_code, unsigned int vector);
	void (*ring3_call)(struct pt_regs *regs, unsigned long nr, unsigned int gate);
};

/**
 * struct pl_core - what tactus fills in before it switches the pipeline on
 * @active: the kernel's slots lead here
 * @oob_vector: the vector of the RT timer and IPI; the timer may also still, or
 *	already, come on Linux's own
 * @rt_lines: how many RT interrupts there are
 * @hooks: see there
 * @eoi: the kernel's own EOI
 * @apic_read: the kernel's own reading of a local APIC register
 * @ipi_self: the kernel's own interrupt of this CPU by itself
 * @gates: the stub that says which leads to pl_irq(), pl_exc() or pl_nmi()
 * @vector_call: per vector, Linux's C handler
 * @fixup_irqs: Linux's function that moves a dying CPU's interrupts elsewhere
 * @machine_check: Linux's handler of a machine check that hit the kernel, if there is one
 */
struct pl_core {
	bool active;
	u8 oob_vector;
	unsigned int rt_lines;
	const struct pl_hooks *hooks;
	void *eoi;
	u32 (*apic_read)(u32 reg);
	void (*ipi_self)(int vector);
	struct pl_gate gates[PL_GATES];
	void (*vector_call[PL_VECTORS])(struct pt_regs *regs, unsigned long error_code);
	void (*fixup_irqs)(void);
	void (*machine_check)(struct pt_regs *regs, unsigned long error_code);
} ____cacheline_aligned;

/*
 * What every release calls of tactus; as pl_hooks, but static calls, which the CPU need not guess.
 *
 * pl_core_vector: the out-of-band vector (timer or IPI) arrived; returns whether Linux's own tick
 * is due as well. pl_core_resched: may switch to an RT task; returns when this context is resumed.
 */
DECLARE_STATIC_CALL(pl_core_vector, bool (void));
DECLARE_STATIC_CALL(pl_core_resched, void (void));

extern struct pl_core pl_core;
extern const unsigned int pl_core_abi;
extern void *pl_load_gs_target;		/* Linux's asm_load_gs_index */
extern void *pl_mwait_target;		/* Linux's arch_cpu_idle */
DECLARE_PER_CPU_ALIGNED(struct pl_cpu, pl_cpu);
DECLARE_PER_CPU(u8, pl_ring3);	/* whoever is in ring 3 here is RT code */

/* Where patched slots lead. Assembly; never called from C but by address. */
extern char pl_cli[], pl_sti[], pl_save_fl[], pl_safe_halt[];
extern char pl_cpuidle[], pl_cpuidle_call[], pl_mwait[];
extern char pl_rdgsbase[], pl_wrgsbase[], pl_wrgsbase_rsi[], pl_load_gs_index[];
extern char pl_cmos_read[], pl_cmos_write[];
extern char pl_irq_stubs[], pl_exc_stubs[], pl_nmi_stubs[];	/* PL_GATES of each */
extern char pl_sys_stubs[];

/* The same for the calls of PL_SPURIOUS_GATE, which need no stub. */
void pl_rt_irq(struct pt_regs *regs, unsigned long error_code);

/* Takes the place of the kernel's EOI function. */
void pl_eoi(COMPAT_EOI_ARGS);

/* Takes the place of the APIC driver's reading of a register. */
u32 pl_apic_read(u32 reg);

/* Takes the place of the APIC driver's IPI to oneself. */
void pl_ipi_self(int vector);

/* Takes the place of the kernel's fixup_irqs() where a CPU dies. */
void pl_fixup_irqs(void);

/** pl_core_pin - from now on tactus_core cannot be unloaded. Context: Linux process. */
void pl_core_pin(void);

/** pl_any - does an interrupt wait for Linux on this CPU? Context: any, hardware interrupts off. */
static __always_inline bool pl_any(void)
{
	return __this_cpu_read(pl_cpu.state) & PL_ANY;
}

/** pl_log - note a vector for Linux on this CPU. Context: any, hardware interrupts off. */
static __always_inline void pl_log(unsigned int vector)
{
	pl_vecset_add(&this_cpu_ptr(&pl_cpu)->pending, vector);
	__this_cpu_or(pl_cpu.state, PL_ANY);
}

/** pl_unlog - the reverse. Context: as above. */
static __always_inline void pl_unlog(unsigned int vector)
{
	struct pl_cpu *cpu = this_cpu_ptr(&pl_cpu);

	pl_vecset_del(&cpu->pending, vector);
	if (pl_vecset_empty(&cpu->pending))
		__this_cpu_and(pl_cpu.state, 0xff ^ PL_ANY);
}

/** pl_eoi_hold - leave a vector's EOI to Linux's handler. Context: as above. */
static __always_inline void pl_eoi_hold(unsigned int vector)
{
	struct pl_cpu *cpu = this_cpu_ptr(&pl_cpu);

	cpu->eois.of[vector] = PL_EOI_HELD;
	cpu->stats.eoi_held++;
}

/** pl_vif - PL_VIF, or 0: Linux is stalled. Context: any, hardware interrupts off. */
static __always_inline u8 pl_vif(void)
{
	return __this_cpu_read(pl_cpu.state) & PL_VIF;
}

/** pl_set_vif - the reverse. Context: as above; an NMI puts back what it found. */
static __always_inline void pl_set_vif(u8 vif)
{
	if (!__builtin_constant_p(vif) || !vif)
		__this_cpu_and(pl_cpu.state, 0xff ^ PL_VIF);
	if (!__builtin_constant_p(vif) || vif)
		__this_cpu_or(pl_cpu.state, vif);
}

/*
 * Around a call of Linux's code with hardware interrupts off while Linux may not be
 * stalled: its local_irq_save() would see interrupts off, soft cli, and its
 * local_irq_restore() would rightly leave them off, that is, stalled for good.
 * Context: any, hardware interrupts off throughout.
 */
static __always_inline u8 pl_stall(void)
{
	u8 vif = pl_vif();

	pl_set_vif(0);
	return vif;
}

static __always_inline void pl_unstall(u8 vif)
{
	pl_set_vif(vif);
}

/** pl_ack - the real EOI. Context: any, hardware interrupts off. */
void pl_ack(void);

/*
 * pl_call_oob - run @fn(@arg) and a reschedule in the out-of-band stage
 *
 * Context: any but NMI; see pl_run_oob().
 */
void pl_call_oob(void (*fn)(void *arg), void *arg);

#endif

#endif
