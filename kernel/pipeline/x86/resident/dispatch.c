// SPDX-License-Identifier: GPL-2.0-only
/*
 * The dispatcher: every interrupt and exception of the patched kernel comes here
 * instead of to Linux's C handler, with the registers Linux's entry code saved.
 *
 * An out-of-band interrupt is handled at once. One for Linux is acknowledged, then
 * run if Linux is not stalled, else logged and replayed when Linux is unstalled:
 * by its soft sti, or by the return that the thesis calls S_IRET (3.1).
 *
 * Invariants, per CPU, whenever hardware interrupts are on:
 *  - PL_ANY is set if and only if pl_cpu.pending is not empty;
 *  - out-of-band implies that PL_VIF is clear: Linux is stalled while RT code runs (thesis, 3.3);
 *  - in Linux's user mode PL_VIF is set; in ring 3 of RT code pl_ring3 is 1, and it is
 *    out-of-band.
 *
 * A Linux handler may be pre-empted on its way out and come back on another CPU, so
 * per-CPU pointers never live across a call of Linux.
 */
#include <linux/ftrace.h>
#include <linux/hardirq.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <asm/trapnr.h>
#include <asm/tsc.h>
#include "compat/compat.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/resident/state.h"

struct pl_core pl_core;
EXPORT_SYMBOL_GPL(pl_core);
const unsigned int pl_core_abi = PL_CORE_ABI;
EXPORT_SYMBOL_GPL(pl_core_abi);
void *pl_load_gs_target;
EXPORT_SYMBOL_GPL(pl_load_gs_target);
void *pl_mwait_target;
EXPORT_SYMBOL_GPL(pl_mwait_target);

static_assert(offsetof(struct pl_cpu, state) == PL_CPU_STATE);
static_assert(PL_VIF << 8 == X86_EFLAGS_IF);
static_assert(offsetofend(struct pl_cpu, stats.oob) <= SMP_CACHE_BYTES);
DEFINE_PER_CPU_ALIGNED(struct pl_cpu, pl_cpu) = { .state = PL_STATE_NEW, .current_vector = -1 };
EXPORT_PER_CPU_SYMBOL_GPL(pl_cpu);
DEFINE_PER_CPU(u8, pl_ring3);
EXPORT_PER_CPU_SYMBOL_GPL(pl_ring3);

static bool no_vector(void)
{
	return true;
}

static void no_resched(void)
{
}

DEFINE_STATIC_CALL(pl_core_vector, no_vector);
EXPORT_STATIC_CALL_GPL(pl_core_vector);
DEFINE_STATIC_CALL(pl_core_resched, no_resched);
EXPORT_STATIC_CALL_GPL(pl_core_resched);

/* To Linux, RT code is an NMI inside an interrupt: nothing may sleep, printk defers. */
#define OOB_PREEMPT_OFFSET (NMI_OFFSET + HARDIRQ_OFFSET)

static __always_inline void hard_off(void)
{
	asm volatile("cli" : : : "memory");
}

static __always_inline void hard_on(void)
{
	asm volatile("sti" : : : "memory");
}

/* ---- EOI ---- */

/* The real EOI. Context: any, hardware interrupts off. */
static __always_inline void ack(void)
{
	volatile u32 *at = __this_cpu_read(pl_cpu.eoi_at);

	if (likely(at))
		*at = APIC_EOI_ACK;
	else
		compat_eoi_call(pl_core.eoi);
}

notrace void pl_ack(void)
{
	ack();
}
NOKPROBE_SYMBOL(pl_ack);
EXPORT_SYMBOL_GPL(pl_ack);

static __always_inline bool is_level(unsigned int vector)
{
	return vector < FIRST_SYSTEM_VECTOR &&
	       pl_core.apic_read(APIC_TMR + vector / 32 * 0x10) & BIT(vector % 32);
}

/*
 * Acknowledge a Linux vector on arrival, so that it holds nobody else up.
 *
 * A level-triggered line would fire again at once. It is masked at its controller
 * until Linux's handler has run; where that cannot be done its EOI is held, which
 * keeps the APIC's priority raised meanwhile: harmless to the out-of-band vector,
 * whose class is the highest.
 */
static notrace void ack_arrival(struct pl_cpu *cpu, unsigned int vector)
{
	struct irq_desc *desc;

	if (vector == SPURIOUS_APIC_VECTOR)
		return;
	if (is_level(vector)) {
		desc = pl_core.hooks->mask_line(vector);
		if (!desc) {
			pl_eoi_hold(vector);
			return;
		}
		cpu->eois.of[vector] = PL_EOI_MASKED;
		cpu->masked[vector] = desc;
		cpu->stats.lines_masked++;
	}
	pl_ack();
}
NOKPROBE_SYMBOL(ack_arrival);

/*
 * pl_eoi - in place of the kernel's EOI: swallows the EOI of a handler whose vector
 * was acknowledged on arrival
 *
 * Context: Linux's interrupt handlers, mostly.
 */
notrace void pl_eoi(COMPAT_EOI_ARGS)
{
	unsigned long flags = pl_hard_save();
	struct pl_cpu *cpu = this_cpu_ptr(&pl_cpu);
	int vector = cpu->current_vector;

	switch (pl_core.active && vector >= 0 ? pl_eoi_asked(&cpu->eois, vector) : PL_EOI_NONE) {
	case PL_EOI_MASKED:
		pl_core.hooks->unmask_line(cpu->masked[vector], vector);
		fallthrough;
	case PL_EOI_SENT:
		cpu->stats.eoi_swallowed++;
		break;
	case PL_EOI_OWED:
		while (pl_eoi_pay(&cpu->eois))
			pl_ack();
		break;
	default:
		pl_ack();
	}
	pl_hard_restore(flags);
}
NOKPROBE_SYMBOL(pl_eoi);
EXPORT_SYMBOL_GPL(pl_eoi);

/*
 * pl_apic_read - in place of the kernel's reading of an APIC register: where Linux looks for
 * interrupts that have arrived on this CPU and not been handled, it must see logged ones too.
 * It looks before it frees a vector that it has moved an interrupt away from.
 *
 * Context: any.
 */
notrace u32 pl_apic_read(u32 reg)
{
	u32 value = pl_core.apic_read(reg);
	unsigned long flags;

	if (pl_core.active && reg - APIC_IRR < PL_VECTORS / 32 * 0x10) {
		flags = pl_hard_save();
		value |= pl_vecset_word(&this_cpu_ptr(&pl_cpu)->pending, (reg - APIC_IRR) / 0x10);
		pl_hard_restore(flags);
	}
	return value;
}
NOKPROBE_SYMBOL(pl_apic_read);
EXPORT_SYMBOL_GPL(pl_apic_read);

/*
 * pl_ipi_self - in place of the kernel's IPI to this CPU: RT code's, that is irq_work's, would
 * arrive only to be logged, so it is logged without the detour by the hardware. Not in an NMI,
 * which may have interrupted the log's own code.
 *
 * Context: any.
 */
notrace void pl_ipi_self(int vector)
{
	unsigned long flags = pl_hard_save();
	struct pl_cpu *cpu = this_cpu_ptr(&pl_cpu);

	if (pl_core.active && cpu->oob && !cpu->nmi_depth) {
		cpu->stats.logged++;
		pl_log(vector);
	} else {
		pl_core.ipi_self(vector);
	}
	pl_hard_restore(flags);
}
NOKPROBE_SYMBOL(pl_ipi_self);
EXPORT_SYMBOL_GPL(pl_ipi_self);

/* ---- replay ---- */

/*
 * Run the handlers of all logged vectors, highest first, then unstall Linux.
 *
 * In user mode each handler gets the same registers again, so that Linux redoes its
 * exit work after each and the last return leaves hardware interrupts off.
 *
 * Context: in-band, hardware interrupts off, Linux not stalled or about to be
 * unstalled; returns likewise, perhaps on another CPU.
 */
static notrace void replay(struct pt_regs *regs)
{
	while (pl_any()) {
		struct pl_cpu *cpu = this_cpu_ptr(&pl_cpu);
		int vector = pl_vecset_top(&cpu->pending);
		int outer_vector = cpu->current_vector;

		pl_unlog(vector);
		cpu->current_vector = vector;
		pl_eoi_replayed(&cpu->eois, vector);
		cpu->stats.replayed++;

		pl_set_vif(0);
		hard_on();
		pl_core.vector_call[vector](regs, vector);
		hard_off();

		/*
		 * Nested in another handler we cannot have moved; else the CPU we
		 * are on now runs no handler either, as we did before.
		 */
		__this_cpu_write(pl_cpu.current_vector, outer_vector);
	}
	__this_cpu_write(pl_cpu.logged_tsc, 0);
	pl_set_vif(PL_VIF);
}
NOKPROBE_SYMBOL(replay);

/*
 * Replay at a place that no interrupt interrupted: Linux is told one that hit the
 * instruction after its soft sti.
 */
void pl_replay_here(unsigned long ip, unsigned long sp);
notrace void pl_replay_here(unsigned long ip, unsigned long sp)
{
	struct pt_regs regs = {
		.ip = ip,
		.sp = sp,
		.cs = __KERNEL_CS,
		.ss = __KERNEL_DS,
		.flags = X86_EFLAGS_IF | X86_EFLAGS_FIXED,
		.orig_ax = -1,
	};

	replay(&regs);
}
NOKPROBE_SYMBOL(pl_replay_here);

/* ---- the out-of-band stage ---- */

/*
 * Leave Linux: remember its soft interrupt state and stall it (thesis, 3.3).
 *
 * The raised preempt count keeps the preempt_enable() at the end of NMI-safe helpers,
 * irq_work_queue() for one, from scheduling Linux on an RT stack.
 *
 * Return: whether Linux was left; false if this CPU was out-of-band already.
 */
static __always_inline bool enter_oob(void)
{
	if (__this_cpu_read(pl_cpu.oob))
		return false;
	/* With the other bits, which leave_oob() finds set anyway: only replay() clears PL_ANY. */
	__this_cpu_write(pl_cpu.inband_vif, __this_cpu_read(pl_cpu.state));
	pl_set_vif(0);
	__preempt_count_add(OOB_PREEMPT_OFFSET);
	/* Its stack of return addresses is the Linux task's; RT tasks come and go on their own. */
	pause_graph_tracing();
	__this_cpu_write(pl_cpu.oob, true);
	return true;
}

static __always_inline void leave_oob(void)
{
	__this_cpu_write(pl_cpu.oob, false);
	unpause_graph_tracing();
	__preempt_count_sub(OOB_PREEMPT_OFFSET);
	__this_cpu_or(pl_cpu.state, __this_cpu_read(pl_cpu.inband_vif));
}

/*
 * Switched off (for a reboot, say), it only calls: no RT task runs any more.
 *
 * Context: any but NMI.
 */
notrace void pl_call_oob(void (*fn)(void *arg), void *arg)
{
	unsigned long flags = pl_hard_save();

	if (!pl_core.active || !enter_oob()) {
		if (fn)
			fn(arg);
		pl_hard_restore(flags);
		return;
	}
	if (fn)
		fn(arg);
	static_call(pl_core_resched)();
	leave_oob();
	if (flags & X86_EFLAGS_IF && pl_vif() && pl_any())
		pl_replay_here(_THIS_IP_, (unsigned long)__builtin_frame_address(0));
	pl_hard_restore(flags);
}
NOKPROBE_SYMBOL(pl_call_oob);
EXPORT_SYMBOL_GPL(pl_call_oob);

/* ---- entries ---- */

static notrace noinline void take_line(unsigned int vector, struct rt_line *line)
{
	if (unlikely(!pl_core.hooks->oob_line(line, vector)))
		pl_log(vector);
}
NOKPROBE_SYMBOL(take_line);

/* Context: RT interrupt: on this CPU's own stack if Linux was interrupted, else on the task's. */
void pl_oob_irq(unsigned int vector, struct rt_line *line);
notrace rt_path void pl_oob_irq(unsigned int vector, struct rt_line *line)
{
	__this_cpu_inc(pl_cpu.stats.oob);
	__this_cpu_inc(pl_cpu.irq_depth);
	if (unlikely(line)) {
		take_line(vector, line);
	} else {
		ack();
		if (unlikely(static_call(pl_core_vector)()))
			pl_log(LOCAL_TIMER_VECTOR);
	}
	__this_cpu_dec(pl_cpu.irq_depth);
	static_call(pl_core_resched)();
}
NOKPROBE_SYMBOL(pl_oob_irq);

/*
 * pl_oob_irq() on this CPU's stack for RT interrupts, which nobody is on: Linux was interrupted,
 * and comes back from here before it can be again. The way back is its first word, as on Linux's
 * stacks for interrupts: objtool knows that form. Inline: a call has two words more on Linux's.
 */
static __always_inline void on_rt_stack(unsigned int vector, struct rt_line *line)
{
	register void **top asm("r11") = (void **)__this_cpu_read(pl_cpu.client) - 1;

	asm volatile("movq %%rsp, (%[top])\n\t"
		     "movq %[top], %%rsp\n\t"
		     "call pl_oob_irq\n\t"
		     "popq %%rsp"
		     : [top] "+r" (top), "+D" (vector), "+S" (line), ASM_CALL_CONSTRAINT
		     : : "rax", "rcx", "rdx", "r8", "r9", "r10", "cc", "memory");
}

/* What was logged, if Linux may have it where the interrupt of @regs hit. */
static notrace noinline void look_at_log(struct pt_regs *regs)
{
	struct pl_cpu *cpu = this_cpu_ptr(&pl_cpu);

	if (pl_may_run(user_mode(regs), !pl_vif(), cpu->oob)) {
		replay(regs);
	} else if (!cpu->logged_tsc) {
		/* For the stall detector. */
		cpu->logged_tsc = rdtsc();
		cpu->logged_ip = regs->ip;
	}
}
NOKPROBE_SYMBOL(look_at_log);

/*
 * The address of the last page fault. RT code may come between a page fault of Linux's and the
 * handler's first instructions, which read this; or between a hypervisor's instructions that load a
 * guest's and enter the guest. So a fault of RT code must not change it. Linux's NMIs do the same.
 */
static __always_inline unsigned long fault_address(void)
{
	unsigned long address;

	asm volatile("mov %%cr2, %0" : "=r" (address));
	return address;
}

static __always_inline void set_fault_address(unsigned long address)
{
	asm volatile("mov %0, %%cr2" : : "r" (address));
}

/* An interrupt for RT code: by @vector of @line; or, without one, by RT's own, and @vector is 0. */
static __always_inline void take_oob(struct pt_regs *regs, unsigned int vector,
				     struct rt_line *line)
{
	unsigned long linux_address;

	if (unlikely(!enter_oob())) {
		pl_oob_irq(vector, line);
		return;
	}
	linux_address = fault_address();
	__this_cpu_write(pl_cpu.regs, regs);
	/* Here, since from that other stack nobody finds the way back through Linux's. */
	if (unlikely(__this_cpu_read(pl_cpu.logged_tsc)))
		pl_core.hooks->stalled(regs);
	on_rt_stack(vector, line);
	if (unlikely(fault_address() != linux_address))
		set_fault_address(linux_address);
	leave_oob();
	if (pl_any())
		look_at_log(regs);
}

/**
 * pl_irq - an interrupt, in place of Linux's C handler
 * @regs: as saved by Linux's entry code
 * @error_code: the vector, where the entry code passes it
 * @gate: which call site
 *
 * Context: entry code, hardware interrupts off.
 */
void pl_irq(struct pt_regs *regs, unsigned long error_code, unsigned int gate);
notrace void pl_irq(struct pt_regs *regs, unsigned long error_code, unsigned int gate)
{
	unsigned int vector = pl_core.gates[gate].vector ?: (u8)error_code;
	struct pl_cpu *cpu = this_cpu_ptr(&pl_cpu);

	if (unlikely(!pl_core.active)) {
		pl_core.gates[gate].call(regs, error_code);
		return;
	}

	if (vector == pl_core.oob_vector || vector == LOCAL_TIMER_VECTOR) {
		take_oob(regs, 0, NULL);
		return;
	}
	if (pl_core.rt_lines && vector < FIRST_SYSTEM_VECTOR) {
		struct rt_line *line = pl_core.hooks->rt_line(vector);

		if (line) {
			take_oob(regs, vector, line);
			return;
		}
	}
	ack_arrival(cpu, vector);
	pl_log(vector);
	if (pl_may_run(user_mode(regs), !pl_vif(), cpu->oob))
		cpu->stats.direct++;
	else
		cpu->stats.logged++;
	look_at_log(regs);
}
NOKPROBE_SYMBOL(pl_irq);

/*
 * pl_rt_irq - the same by PL_SPURIOUS_GATE, where RT's vector is expected
 *
 * That comes first and alone, since it is on the path of each job.
 */
notrace rt_path void pl_rt_irq(struct pt_regs *regs, unsigned long error_code)
{
	if (likely((u8)error_code == __this_cpu_read(pl_cpu.rt_vector)))
		take_oob(regs, 0, NULL);
	else
		pl_irq(regs, error_code, PL_SPURIOUS_GATE);
}
NOKPROBE_SYMBOL(pl_rt_irq);
EXPORT_SYMBOL_GPL(pl_rt_irq);

/*
 * A machine check in ring 3 of RT code. Linux's handler for user mode would mend or end the process
 * that `current' is, and might schedule. To Linux, RT code is an NMI: what could not be survived
 * there is not survived here.
 */
static notrace void machine_check_oob(struct pt_regs *regs, unsigned long error_code)
{
	struct pt_regs kernel = *regs;

	kernel.cs = __KERNEL_CS;
	kernel.ss = __KERNEL_DS;
	__this_cpu_inc(pl_cpu.nmi_depth);
	pl_core.machine_check(&kernel, error_code);
	__this_cpu_dec(pl_cpu.nmi_depth);
}
NOKPROBE_SYMBOL(machine_check_oob);

/**
 * pl_exc - an exception, in place of Linux's C handler
 * @regs: as saved by Linux's entry code
 * @error_code: the CPU's
 * @gate: which call site
 *
 * The gate's hardware cli is made soft: RT code may pre-empt Linux's exception
 * handlers, some of which (WARN) take long.
 *
 * Context: entry code, hardware interrupts off.
 */
void pl_exc(struct pt_regs *regs, unsigned long error_code, unsigned int gate);
notrace void pl_exc(struct pt_regs *regs, unsigned long error_code, unsigned int gate)
{
	u8 vif = pl_vif();
	struct pl_exc_plan plan;

	if (unlikely(!pl_core.active)) {
		pl_core.gates[gate].call(regs, error_code);
		return;
	}
	plan = pl_exc_plan(user_mode(regs), regs->flags & X86_EFLAGS_IF, !vif,
			   __this_cpu_read(pl_cpu.oob));
	if (unlikely(plan.task)) {
		if (pl_core.gates[gate].vector == X86_TRAP_MC)
			machine_check_oob(regs, error_code);
		else
			pl_core.hooks->ring3_trap(regs, error_code, pl_core.gates[gate].vector);
		return;
	}
	/* An int3 is Linux's own: while it rewrites text it may stand in the very hook as well. */
	/* In an NMI handler that interrupted RT code it is Linux's own, too. */
	if (unlikely(__this_cpu_read(pl_cpu.oob)) && !__this_cpu_read(pl_cpu.nmi_depth) &&
	    pl_core.gates[gate].vector != X86_TRAP_BP &&
	    pl_core.hooks->fault(regs, error_code, pl_core.gates[gate].vector))
		return;
	if (plan.hide_if) {
		regs->flags &= ~X86_EFLAGS_IF;
		__this_cpu_inc(pl_cpu.stats.hidden);
	}
	if (plan.hard_on) {
		pl_set_vif(0);
		hard_on();
	}
	pl_core.gates[gate].call(regs, error_code);
	hard_off();
	if (plan.hide_if)
		regs->flags |= X86_EFLAGS_IF;
	/* Switched off while the handler slept: Linux's own rules are back. */
	if (unlikely(!pl_core.active))
		return;
	if (plan.replay)
		replay(regs);
	else
		pl_set_vif(vif);
}
NOKPROBE_SYMBOL(pl_exc);

/**
 * pl_sys - a system call of RT code in ring 3, in place of Linux's C function
 * @regs: as saved by Linux's entry code
 * @nr: the call's number, if @gate is PL_SYS_64
 * @gate: the way it came
 *
 * Context: entry code, hardware interrupts off.
 * Return: true: back to ring 3 by the short way, if the registers allow it.
 */
bool pl_sys(struct pt_regs *regs, unsigned long nr, unsigned int gate);
notrace bool pl_sys(struct pt_regs *regs, unsigned long nr, unsigned int gate)
{
	pl_core.hooks->ring3_call(regs, nr, gate);
	return true;
}
NOKPROBE_SYMBOL(pl_sys);

/**
 * pl_nmi - an NMI, #DB, #DF or #MC on its own stack, in place of Linux's C handler
 * @regs: as saved by Linux's entry code
 * @error_code: none
 * @gate: which call site
 *
 * Context: entry code; nothing may be assumed of the code it interrupted.
 */
void pl_nmi(struct pt_regs *regs, unsigned long error_code, unsigned int gate);
notrace void pl_nmi(struct pt_regs *regs, unsigned long error_code, unsigned int gate)
{
	u8 vif = pl_vif();

	/* The stack of an RT task has overflowed. */
	if (unlikely(pl_core.gates[gate].vector == X86_TRAP_DF && __this_cpu_read(pl_cpu.oob)) &&
	    pl_core.hooks->fault(regs, error_code, X86_TRAP_DF))
		return;
	__this_cpu_inc(pl_cpu.nmi_depth);
	pl_core.gates[gate].call(regs, error_code);
	__this_cpu_dec(pl_cpu.nmi_depth);
	pl_set_vif(vif);
}
NOKPROBE_SYMBOL(pl_nmi);

/*
 * pl_fixup_irqs - Linux moves this CPU's interrupts elsewhere and looks into the APIC for
 * those that have arrived: they must be there, not in our log. From here on until the
 * stopper ends, this dying CPU is hard off.
 *
 * Context: Linux's stopper thread, Linux stalled.
 */
notrace void pl_fixup_irqs(void)
{
	if (pl_core.active) {
		hard_off();
		pl_core.hooks->cpu_dies();
	}
	pl_core.fixup_irqs();
}
EXPORT_SYMBOL_GPL(pl_fixup_irqs);

/* ---- module ---- */

void pl_core_pin(void)
{
	static bool pinned;

	if (!pinned) {
		__module_get(THIS_MODULE);
		pinned = true;
	}
}
EXPORT_SYMBOL_GPL(pl_core_pin);

EXPORT_SYMBOL_GPL(pl_cli);
EXPORT_SYMBOL_GPL(pl_sti);
EXPORT_SYMBOL_GPL(pl_save_fl);
EXPORT_SYMBOL_GPL(pl_safe_halt);
EXPORT_SYMBOL_GPL(pl_cpuidle);
EXPORT_SYMBOL_GPL(pl_cpuidle_call);
EXPORT_SYMBOL_GPL(pl_mwait);
EXPORT_SYMBOL_GPL(pl_rdgsbase);
EXPORT_SYMBOL_GPL(pl_wrgsbase);
EXPORT_SYMBOL_GPL(pl_wrgsbase_rsi);
EXPORT_SYMBOL_GPL(pl_load_gs_index);
EXPORT_SYMBOL_GPL(pl_cmos_read);
EXPORT_SYMBOL_GPL(pl_cmos_write);
EXPORT_SYMBOL_GPL(pl_irq_stubs);
EXPORT_SYMBOL_GPL(pl_exc_stubs);
EXPORT_SYMBOL_GPL(pl_nmi_stubs);
EXPORT_SYMBOL_GPL(pl_sys_stubs);

MODULE_LICENSE("GPL");
MODULE_VERSION(TACTUS_VERSION);
MODULE_DESCRIPTION("Tactus: resident part of the interrupt pipeline");
