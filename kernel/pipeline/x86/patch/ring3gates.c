// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ways from ring 3 that only RT code in ring 3 needs to be ours: system calls, and the
 * exceptions that have another C function for user mode.
 *
 * All of Linux's entry code is decoded and everything that matters is counted. One call more than
 * is known would be a way to Linux past us; one more use of the kernel stack's top, a register
 * frame in the wrong place. Then RT code has to stay in the kernel; the pipeline itself can go on.
 */
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/string.h>
#include <asm/desc.h>
#include <asm/irq_vectors.h>
#include <asm/msr.h>
#include <asm/trapnr.h>
#include "compat/ring3.h"
#include "pipeline/x86/patch/gates.h"
#include "pipeline/x86/patch/kcall.h"
#include "pipeline/x86/patch/slots.h"
#include "pipeline/x86/patch/symbols.h"
#include "pipeline/x86/patch/texts.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/x86/ring3/ring3.h"

#define CALL_BYTES 5
#define OP_CALL 0xe8
#define PREFIX_GS 0x65

/*
 * C functions that are called once each in the entry code; @absent: or, in some kernels, not there.
 */
static struct callee {
	const char *name;
	bool absent;
	unsigned long at, call;		/* it, and where it is called */
	unsigned int calls;
} callees[] = {
	[PL_SYS_64] = { "do_syscall_64" },
	[PL_SYS_FAST32] = { "do_fast_syscall_32", .absent = true },
	[PL_SYS_SYSENTER] = { "do_SYSENTER_32", .absent = true },
	[PL_SYS_INT80] = { "int80_emulation", .absent = true },
	{ "noist_exc_debug" },
	{ "noist_exc_machine_check", .absent = true },
};

/* Where the top of the kernel's stack is used, once each. @wanted: by gate; -1: in any case. */
static struct use {
	const char *name;
	int gate;
	unsigned int uses;
} uses[] = {
	{ "entry_SYSCALL_64", -1 },
	{ "asm_exc_nmi", -1 },
	{ "entry_SYSENTER_compat", PL_SYS_SYSENTER },
	{ "entry_SYSCALL_compat", PL_SYS_FAST32 },
	{ "sync_regs", -1 },
};

/* The per-CPU variable that an instruction with a %gs prefix names directly; 0 if it does not. */
static unsigned long gs_operand(const u8 *insn, int length)
{
	const u8 *at = insn;

	if (*at++ != PREFIX_GS)
		return 0;
	if ((*at & 0xf0) == 0x40)	/* REX */
		at++;
	at++;				/* the opcode; those of two bytes take no stack pointer */
	if ((at[0] & 0xc7) == 0x05)	/* disp32(%rip) */
		return (unsigned long)insn + length + *(const s32 *)(at + 1);
	if ((at[0] & 0xc7) == 0x04 && at[1] == 0x25)	/* disp32 */
		return *(const s32 *)(at + 2);
	return 0;
}

static const char *look_at(unsigned long at, int length, unsigned long top, const char *symbol)
{
	if (*(const u8 *)at == OP_CALL) {
		unsigned long to = at + CALL_BYTES + *(const s32 *)(at + 1);

		for (unsigned int i = 0; i < ARRAY_SIZE(callees); i++) {
			if (to != callees[i].at)
				continue;
			callees[i].call = at;
			callees[i].calls++;
		}
		return NULL;
	}
	if (gs_operand((const u8 *)at, length) != top)
		return NULL;
	for (unsigned int i = 0; i < ARRAY_SIZE(uses); i++) {
		if (strcmp(uses[i].name, symbol))
			continue;
		uses[i].uses++;
		return NULL;
	}
	return "the entry code uses the kernel stack's top in a place that is not known";
}

/* Symbol by symbol: between two of them there may be anything. */
static const char *count_all(unsigned long from, unsigned long to, unsigned long top)
{
	char symbol[KSYM_NAME_LEN];
	unsigned long at = from;

	while (at < to) {
		unsigned long start, size;

		if (!pl_symbol_at(at, &start, &size, symbol) || !size)
			return "the entry code has no symbols";
		while (at < start + size) {
			int length = pl_insn_length(at);
			const char *why;

			if (length <= 0)
				return "the entry code cannot be decoded";
			why = look_at(at, length, top, symbol);
			if (why)
				return why;
			at += length;
		}
	}
	return NULL;
}

static const char *check_counts(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(callees); i++)
		if (callees[i].calls != 1 && (callees[i].at || !callees[i].absent))
			return "a C function of the entry code is not called once there";
	for (unsigned int i = 0; i < ARRAY_SIZE(uses); i++)
		if (uses[i].uses != (uses[i].gate < 0 || callees[uses[i].gate].at))
			return "the entry code does not use the kernel stack's top where it is known to";
	return NULL;
}

static bool msr_is(u32 msr, const char *name, const char *other)
{
	u64 value = native_read_msr(msr);

	return value == pl_symbol_try(name) || (other && value == pl_symbol_try(other));
}

/* Does the CPU go where that code is? */
static const char *check_ways(void)
{
	unsigned long int80 = pl_symbol_try("asm_int80_emulation");
	struct desc_ptr idt;
	const gate_desc *gate;

	if (!msr_is(MSR_LSTAR, "entry_SYSCALL_64", NULL))
		return "a system call does not begin at entry_SYSCALL_64";
	if (!msr_is(MSR_CSTAR, "entry_SYSCALL_compat", "entry_SYSCALL32_ignore") &&
	    !msr_is(MSR_CSTAR, "ignore_sysret", NULL))
		return "a 32-bit system call does not begin at entry_SYSCALL_compat";
	if (!msr_is(MSR_IA32_SYSENTER_EIP, "entry_SYSENTER_compat", NULL) &&
	    native_read_msr(MSR_IA32_SYSENTER_EIP))
		return "sysenter does not begin at entry_SYSENTER_compat";
	store_idt(&idt);
	gate = (const gate_desc *)idt.address + IA32_SYSCALL_VECTOR;
	/* Without 32-bit programs it is an unused vector like others, which ring 3 may not use. */
	if (gate->bits.dpl == 3 && (!int80 || gate_offset(gate) != int80))
		return "int $0x80 does not begin at asm_int80_emulation";
	return NULL;
}

static const char *look(void)
{
	unsigned long from = pl_symbol_try("__entry_text_start");
	unsigned long to = pl_symbol_try("__entry_text_end");
	unsigned long sync = pl_symbol_try("sync_regs"), start, size;
	unsigned long top = compat_top_of_stack(pl_symbol_try);
	const char *why;

	for (unsigned int i = 0; i < ARRAY_SIZE(callees); i++) {
		callees[i].at = pl_symbol_try(callees[i].name);
		callees[i].calls = 0;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(uses); i++)
		uses[i].uses = 0;
	if (!from || !to || !sync || !top || !pl_symbol_at(sync, &start, &size, NULL))
		return "the entry code lacks a symbol";
	why = count_all(from, to, top);
	why = why ?: count_all(sync, sync + size, top);
	why = why ?: check_counts();
	return why ?: check_ways();
}

static int add_sys(unsigned int gate)
{
	const char *stub = pl_sys_stubs + gate * PL_SYS_STUB_BYTES;
	int err = pl_kcall_bind_jump(stub, callees[gate].at);

	return err ?: pl_text_add(pl_kernel_text, callees[gate].call, PL_SLOT_SYS, OP_CALL, stub,
				  CALL_BYTES);
}

static int add_exc(u8 vector, const char *handler, const char *entry)
{
	const char *const pieces[] = { entry, NULL };

	if (!pl_symbol_try(handler))
		return 0;
	return PTR_ERR_OR_ZERO(pl_gate_add(PL_SLOT_EXC, vector, handler, pieces));
}

int pl_ring3_gates_find(void)
{
	int err = 0;

	lockdep_assert_held(&pl_texts_mutex);
	pl_ring3_refuse(look());
	if (pl_ring3_refusal())
		return 0;
	pl_core.machine_check = NULL;
	for (unsigned int i = 0; i < PL_GATES; i++)
		if (pl_core.gates[i].vector == X86_TRAP_MC)
			pl_core.machine_check = pl_core.gates[i].call;
	for (unsigned int gate = 0; gate < PL_SYS_GATES && !err; gate++)
		if (callees[gate].at)
			err = add_sys(gate);
	err = err ?: add_exc(X86_TRAP_DB, "noist_exc_debug", "asm_exc_debug");
	if (pl_core.machine_check)
		err = err ?: add_exc(X86_TRAP_MC, "noist_exc_machine_check",
				     "asm_exc_machine_check");
	return err;
}
