// SPDX-License-Identifier: GPL-2.0-only
/* RT code in ring 3: the CPU's state, the way there, and what it does there that ends it. */
#include <linux/cc_platform.h>
#include <linux/export.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <asm/cpufeature.h>
#include <asm/debugreg.h>
#include <asm/fsgsbase.h>
#include <asm/kvm_para.h>
#include <asm/msr.h>
#include <asm/processor.h>
#include <asm/special_insns.h>
#include <asm/trapnr.h>
#include "compat/cpuid.h"
#include "compat/ring3.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/patch/kcall.h"
#include "pipeline/x86/patch/symbols.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/x86/ring3/ring3.h"
#include "pipeline/x86/ring3/swap.h"

/* Of all of them the CPU says in the same word that there is an error code. */
#define HAVE_ERROR_CODE (BIT(X86_TRAP_DF) | BIT(X86_TRAP_TS) | BIT(X86_TRAP_NP) | \
			 BIT(X86_TRAP_SS) | BIT(X86_TRAP_GP) | BIT(X86_TRAP_PF) | \
			 BIT(X86_TRAP_AC) | BIT(X86_TRAP_CP))
#define SYSCALL_BYTES 2		/* of syscall, int $0x80 */
#define INT3_BYTES 1

/* Per-CPU variables of Linux's. */
static unsigned long top_of_stack;
static unsigned long loaded_mm;		/* cpu_tlbstate, of which it is the first member */

static struct ring3_machine machine;
static DEFINE_PER_CPU(struct ring3_cpu, ring3_cpus);

/* ---- the accessors of swap.h ---- */

#define READ_SELECTOR(name, value) asm volatile("movl %%" #name ", %k0" : "=r" (value))
#define WRITE_SELECTOR(name, value) asm volatile("movl %k0, %%" #name : : "r" (value) : "memory")

static __always_inline u64 ring3_read(enum ring3_reg reg)
{
	u64 value = 0;

	switch (reg) {
	case RING3_CR3:
		return __native_read_cr3();
	case RING3_TOP:
		return this_cpu_read(*(unsigned long __percpu *)top_of_stack);
	case RING3_FS:
		return rdfsbase();
	case RING3_GS:
		return native_read_msr(MSR_KERNEL_GS_BASE);
	case RING3_PKRU:
		return rdpkru();
	case RING3_MM:
		return this_cpu_read(*(unsigned long __percpu *)loaded_mm);
	case RING3_IO:
		return this_cpu_read(cpu_tss_rw.x86_tss.io_bitmap_base);
	case RING3_DR7:
		return this_cpu_read(cpu_dr7);
	case RING3_CR4:
		return native_read_cr4();
	case RING3_DS:
		READ_SELECTOR(ds, value);
		return value;
	case RING3_ES:
		READ_SELECTOR(es, value);
		return value;
	case RING3_FS_SEL:
		READ_SELECTOR(fs, value);
		return value;
	case RING3_GS_SEL:
		READ_SELECTOR(gs, value);
		return value;
	case RING3_STAR:
		return native_read_msr(MSR_STAR);
	case RING3_LSTAR:
		return native_read_msr(MSR_LSTAR);
	case RING3_CSTAR:
		return native_read_msr(MSR_CSTAR);
	case RING3_SYSCALL_MASK:
		return native_read_msr(MSR_SYSCALL_MASK);
	case RING3_REGS:
		break;
	}
	return value;
}

static __always_inline void write_msr(u32 msr, u64 value)
{
	native_wrmsr(msr, (u32)value, value >> 32);
}

static __always_inline void ring3_write(enum ring3_reg reg, u64 value)
{
	switch (reg) {
	case RING3_CR3:
		asm volatile("mov %0, %%cr3" : : "r" (value) : "memory");
		break;
	case RING3_TOP:
		this_cpu_write(*(unsigned long __percpu *)top_of_stack, value);
		break;
	case RING3_FS:
		wrfsbase(value);
		break;
	case RING3_GS:
		write_msr(MSR_KERNEL_GS_BASE, value);
		break;
	case RING3_PKRU:
		wrpkru(value);
		break;
	case RING3_MM:
		this_cpu_write(*(unsigned long __percpu *)loaded_mm, value);
		break;
	case RING3_IO:
		this_cpu_write(cpu_tss_rw.x86_tss.io_bitmap_base, value);
		break;
	case RING3_DR7:
		asm volatile("mov %0, %%db7" : : "r" (value));
		break;
	case RING3_CR4:
		asm volatile("mov %0, %%cr4" : : "r" (value) : "memory");
		break;
	case RING3_DS:
		WRITE_SELECTOR(ds, value);
		break;
	case RING3_ES:
		WRITE_SELECTOR(es, value);
		break;
	case RING3_FS_SEL:
		WRITE_SELECTOR(fs, value);
		break;
	case RING3_GS_SEL:
		/* Its base is in the active register then; in the kernel that is the kernel's. */
		asm volatile("swapgs; movl %k0, %%gs; swapgs" : : "r" (value) : "memory");
		break;
	case RING3_STAR:
		write_msr(MSR_STAR, value);
		break;
	case RING3_LSTAR:
		write_msr(MSR_LSTAR, value);
		break;
	case RING3_CSTAR:
		write_msr(MSR_CSTAR, value);
		break;
	case RING3_SYSCALL_MASK:
		write_msr(MSR_SYSCALL_MASK, value);
		break;
	case RING3_REGS:
		break;
	}
}

static struct pl_ring3 *loaded(void)
{
	struct ring3_state *state = this_cpu_read(ring3_cpus.loaded);

	return container_of(state, struct pl_ring3, state);
}

void pl_ring3_swap(struct pl_ring3 *to)
{
	ring3_swap(&machine, this_cpu_ptr(&ring3_cpus), to ? &to->state : NULL);
	__this_cpu_write(pl_ring3, !!to);
}

void pl_ring3_take(struct ring3_state *state)
{
	preempt_disable();
	ring3_save(&machine, state);
	preempt_enable();
}
EXPORT_SYMBOL_GPL(pl_ring3_take);

void pl_ring3_give(const struct ring3_state *state)
{
	preempt_disable();
	ring3_write(RING3_FS, state->fs);
	ring3_write(RING3_GS, state->gs);
	if (machine.keys)
		ring3_write(RING3_PKRU, state->pkru);
	preempt_enable();
}
EXPORT_SYMBOL_GPL(pl_ring3_give);

void pl_ring3_load_fp(void)
{
	void (*load)(void) = pl_kcall(PL_KCALL_LOAD_FP);

	load();
}

/* leave.S; it does not return */
void pl_ring3_leave(const struct pt_regs *regs, void *top, void *to_ring3);

void pl_ring3_go(const struct pt_regs *regs, void *top)
{
	pl_hard_save();
	pl_ring3_leave(regs, top, pl_kcall(PL_KCALL_TO_RING3));
}
EXPORT_SYMBOL_GPL(pl_ring3_go);

/* ---- what only Linux can do ---- */

/* In Linux the instruction is executed again, so that Linux sees to what it does. */
void pl_ring3_trap(struct pt_regs *regs, unsigned long error_code, unsigned int vector)
{
	struct pl_ring3_end end = {
		.trap = true, .vector = vector,
		.error_code = HAVE_ERROR_CODE & BIT(vector) ? error_code : 0,
	};
	struct pl_ring3 *ring3 = loaded();

	if (ring3->ops->trap(ring3, regs, vector))
		return;
	if (vector == X86_TRAP_PF)
		asm volatile("mov %%cr2, %0" : "=r" (end.address));
	if (vector == X86_TRAP_BP)
		regs->ip -= INT3_BYTES;
	ring3->ops->end(ring3, regs, &end);
}

/*
 * The CPU keeps neither the stack nor the flag IF, and not where it was. Linux does the same for
 * the first two, behind our gate. A thread that went on without IF would keep interrupts off.
 */
static void mend_sysenter(struct pt_regs *regs)
{
	regs->sp = regs->bp;
	regs->flags |= X86_EFLAGS_IF;
	regs->ip = 0;
}

static noinline void linux_call(struct pl_ring3 *ring3, struct pt_regs *regs, unsigned int gate)
{
	struct pl_ring3_end end = {};

	/*
	 * The number is where the call left it, but for int $0x80, which is entered as an
	 * exception.
	 */
	if (gate != PL_SYS_INT80)
		regs->ax = regs->orig_ax;
	if (gate == PL_SYS_SYSENTER)
		mend_sysenter(regs);
	else
		regs->ip -= SYSCALL_BYTES;
	end.nr = regs->ax;
	ring3->ops->end(ring3, regs, &end);
}

void pl_ring3_call(struct pt_regs *regs, unsigned long nr, unsigned int gate)
{
	struct pl_ring3 *ring3 = loaded();

	if (gate != PL_SYS_64 || !ring3->ops->call(ring3, regs, nr))
		linux_call(ring3, regs, gate);
}

/* ---- can it be? ---- */

static const char *refusal = "the pipeline is not on";

const char *pl_ring3_refusal(void)
{
	return pl_hosted() ? "in mode hosted RT code has no entry code of its own" : refusal;
}
EXPORT_SYMBOL_GPL(pl_ring3_refusal);

void pl_ring3_refuse(const char *why)
{
	if (!refusal)
		refusal = why;
}

/* A KVM host may tell its guest of a page that is not there by a page fault of its own kind. */
static bool async_faults(void)
{
	u32 base = boot_cpu_has(X86_FEATURE_HYPERVISOR) ?
		   compat_hypervisor_base(KVM_SIGNATURE, KVM_CPUID_FEATURES) : 0;

	if (!base || !(cpuid_eax(base | KVM_CPUID_FEATURES) & BIT(KVM_FEATURE_ASYNC_PF)))
		return false;
	return native_read_msr(MSR_KVM_ASYNC_PF_EN) & KVM_ASYNC_PF_ENABLED;
}

static const char *odd_machine(void)
{
	if (!boot_cpu_has(X86_FEATURE_FSGSBASE))
		return "this CPU, or this kernel, lacks the instructions rdfsbase and wrfsbase";
	if (!boot_cpu_has(X86_FEATURE_XSAVE))
		return "this CPU lacks the instruction xsave";
	if (boot_cpu_has(X86_FEATURE_PTI) && boot_cpu_has(X86_FEATURE_PCID))
		return "page table isolation with PCIDs is not handled yet; the kernel argument nopcid helps";
	if (cc_platform_has(CC_ATTR_GUEST_STATE_ENCRYPT))
		return "this is an encrypted guest (SEV-ES), whose exceptions go through the hypervisor";
	if (boot_cpu_has(X86_FEATURE_AMX_TILE))
		return "this CPU has AMX, whose registers are not switched; the kernel argument clearcpuid=amx_tile helps";
	if (compat_user_shadow_stack())
		return "programs can have shadow stacks here, which are not switched; the kernel argument nousershstk helps";
	if (async_faults())
		return "this KVM guest has asynchronous page faults; the kernel argument no-kvmapf helps";
	return NULL;
}

int pl_ring3_find(void)
{
	unsigned long load_fp = pl_symbol_try("switch_fpu_return");
	unsigned long way_out = pl_symbol_try("swapgs_restore_regs_and_return_to_usermode");

	refusal = odd_machine();
	top_of_stack = compat_top_of_stack(pl_symbol_try);
	loaded_mm = pl_symbol_try("cpu_tlbstate");
	if (!load_fp || !way_out || !top_of_stack || !loaded_mm ||
	    pl_kcall_bind(PL_KCALL_LOAD_FP, load_fp) || pl_kcall_bind(PL_KCALL_TO_RING3, way_out))
		pl_ring3_refuse("this kernel lacks a symbol of those that switch a CPU's state");
	machine = (struct ring3_machine) {
		.keys = boot_cpu_has(X86_FEATURE_OSPKE), .io_none = IO_BITMAP_OFFSET_INVALID,
		.msr = { native_read_msr(MSR_STAR), native_read_msr(MSR_LSTAR),
			 native_read_msr(MSR_CSTAR), native_read_msr(MSR_SYSCALL_MASK) },
	};
	return 0;
}
