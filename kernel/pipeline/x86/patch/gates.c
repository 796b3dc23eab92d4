// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gates: the places in the kernel where interrupts and exceptions reach Linux's C handlers,
 * and a few single instructions that must be ours: found by name and by what stands there.
 */
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <asm/desc.h>
#include <asm/irq_vectors.h>
#include <asm/trapnr.h>
#include "compat/compat.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/x86/patch/gates.h"
#include "pipeline/x86/client.h"
#include "pipeline/x86/patch/kcall.h"
#include "pipeline/x86/patch/slots.h"
#include "pipeline/x86/patch/symbols.h"
#include "pipeline/x86/patch/texts.h"

#define FIRST_IRQ_VECTOR 0x20
#define LAST_EXCEPTION 0x1f

static unsigned int nr_gates;
u8 pl_rt_vector;

static const void *stub_of(enum pl_slot_kind kind, unsigned int gate)
{
	const char *stubs = kind == PL_SLOT_IRQ ? pl_irq_stubs :
			    kind == PL_SLOT_EXC ? pl_exc_stubs : pl_nmi_stubs;

	if (kind == PL_SLOT_IRQ && gate == PL_SPURIOUS_GATE)
		return pl_rt_irq;
	return stubs + gate * PL_GATE_STUB_BYTES;
}

struct pl_gate *pl_gate_add(enum pl_slot_kind kind, u8 vector, const char *handler,
			    const char *const pieces[])
{
	unsigned int number = nr_gates;
	struct pl_gate *gate = &pl_core.gates[number];
	unsigned long callee = pl_symbol(handler);
	int found = 0, err;

	lockdep_assert_held(&pl_texts_mutex);
	if (number == PL_GATES)
		return ERR_PTR(pl_refuse("more gates than expected"));
	err = pl_kcall_bind(PL_KCALL_GATE + number, callee);
	if (err)
		return ERR_PTR(err);
	for (; *pieces; pieces++) {
		unsigned long at = pl_symbol_try(*pieces), start, size;

		if (!at || !pl_symbol_at(at, &start, &size, NULL))
			continue;
		err = pl_text_add_calls(pl_kernel_text, start, size, callee, kind,
					stub_of(kind, number));
		if (err < 0)
			return ERR_PTR(err);
		found += err;
	}
	if (!found || (found > 1 && kind != PL_SLOT_NMI)) {
		pr_err("refused: %d calls of %s found in its entry; nothing was changed\n", found,
		       handler);
		return ERR_PTR(-EOPNOTSUPP);
	}
	gate->call = pl_kcall(PL_KCALL_GATE + number);
	gate->vector = vector;
	nr_gates++;
	return gate;
}

/* asm_sysvec_foo calls sysvec_foo, asm_exc_foo calls exc_foo: the name behind "asm_". */
static struct pl_gate *add_entry(enum pl_slot_kind kind, u8 vector, const char *entry)
{
	const char *const pieces[] = { entry, NULL };

	return pl_gate_add(kind, vector, entry + strlen("asm_"), pieces);
}

struct stub_range {
	unsigned long start, size;
};

static int find_stubs(const char *symbol, struct stub_range *range)
{
	unsigned long at = pl_symbol(symbol);

	if (!at || !pl_symbol_at(at, &range->start, &range->size, NULL))
		return -EOPNOTSUPP;
	return 0;
}

static bool leads_into(const struct stub_range *range, unsigned long addr)
{
	return addr - range->start < range->size;
}

static int odd_gate(unsigned int vector, unsigned long addr)
{
	pr_err("refused: vector %#x leads to %pS, which is unknown; nothing was changed\n",
	       vector, (void *)addr);
	return -EOPNOTSUPP;
}

/*
 * Follow the IDT: each vector leads to a common stub, to the spurious stub (then the
 * vector is unused), or to an entry of its own.
 */
static noinline_for_stack int find_irq_gates(const gate_desc *idt)
{
	struct pl_gate *common, *spurious, *gate;
	struct stub_range device, unused;
	char entry[KSYM_NAME_LEN];
	int err;

	err = find_stubs("irq_entries_start", &device);
	err = err ?: find_stubs("spurious_entries_start", &unused);
	if (err)
		return err;
	spurious = add_entry(PL_SLOT_IRQ, 0, "asm_spurious_interrupt");
	if (IS_ERR(spurious))
		return PTR_ERR(spurious);
	if (spurious != &pl_core.gates[PL_SPURIOUS_GATE])
		return pl_refuse("the spurious interrupt's gate is not the first");
	common = add_entry(PL_SLOT_IRQ, 0, "asm_common_interrupt");
	if (IS_ERR(common))
		return PTR_ERR(common);
	pl_core.oob_vector = LOCAL_TIMER_VECTOR;
	pl_rt_vector = 0;

	for (unsigned int vector = FIRST_IRQ_VECTOR; vector < PL_VECTORS; vector++) {
		unsigned long at = gate_offset(&idt[vector]), start, size;

		if (leads_into(&device, at)) {
			pl_core.vector_call[vector] = common->call;
			continue;
		}
		if (leads_into(&unused, at)) {
			pl_core.vector_call[vector] = spurious->call;
			/* The highest free one, in the APIC's highest class, is ours. */
			if (vector > LOCAL_TIMER_VECTOR) {
				pl_core.oob_vector = vector;
				pl_rt_vector = vector;
			}
			continue;
		}
		if (vector == IA32_SYSCALL_VECTOR)
			continue;
		if (!pl_symbol_at(at, &start, &size, entry) || start != at ||
		    !strstarts(entry, "asm_sysvec_"))
			return odd_gate(vector, at);
		gate = add_entry(PL_SLOT_IRQ, vector, entry);
		if (IS_ERR(gate))
			return PTR_ERR(gate);
		pl_core.vector_call[vector] = gate->call;
	}
	return 0;
}

/* Left over from boot: the CPU, or this kernel, does not have that exception. */
static bool never_set(unsigned long handler)
{
	unsigned long start, size;
	char name[KSYM_NAME_LEN];

	return pl_symbol_at(handler, &start, &size, name) &&
	       !strcmp(name, "early_idt_handler_array");
}

/* An exception on a stack of its own. */
static int add_nmi_gate(const gate_desc *idt, u8 vector, const char *handler,
			const char *const pieces[])
{
	if (never_set(gate_offset(&idt[vector])))
		return 0;
	return PTR_ERR_OR_ZERO(pl_gate_add(PL_SLOT_NMI, vector, handler, pieces));
}

static noinline_for_stack int find_exception_gates(const gate_desc *idt)
{
	/* The NMI entry holds labels that the symbol table takes for functions. */
	static const char *const nmi[] = { "asm_exc_nmi", "nested_nmi", "first_nmi",
					   "repeat_nmi", "end_repeat_nmi", NULL };
	static const char *const debug[] = { "asm_exc_debug", NULL };
	static const char *const df[] = { "asm_exc_double_fault", NULL };
	static const char *const mce[] = { "asm_exc_machine_check", NULL };
	char entry[KSYM_NAME_LEN];
	int err;

	for (unsigned int vector = 0; vector <= LAST_EXCEPTION; vector++) {
		unsigned long at = gate_offset(&idt[vector]), start, size;

		switch (vector) {
		case X86_TRAP_DB:
		case X86_TRAP_NMI:
		case X86_TRAP_DF:
		case X86_TRAP_MC:
			continue;	/* below */
		case X86_TRAP_VC:	/* encrypted guests' own */
			continue;
		}
		if (!at)
			continue;
		if (never_set(at))
			continue;
		if (!pl_symbol_at(at, &start, &size, entry) || start != at ||
		    !strstarts(entry, "asm_exc_"))
			return odd_gate(vector, at);
		err = PTR_ERR_OR_ZERO(add_entry(PL_SLOT_EXC, vector, entry));
		if (err)
			return err;
	}
	err = add_nmi_gate(idt, X86_TRAP_NMI, "exc_nmi", nmi);
	err = err ?: add_nmi_gate(idt, X86_TRAP_DB, "exc_debug", debug);
	err = err ?: add_nmi_gate(idt, X86_TRAP_DF, "exc_double_fault", df);
	return err ?: add_nmi_gate(idt, X86_TRAP_MC, "exc_machine_check", mce);
}

/* One jump in each function, from what stands there: compilers differ in registers. */
static const struct {
	const char *function;
	struct {
		u8 pattern[8], bytes;
		const char *target;
	} ways[2];
} jumps[] = {
	/* sti; hlt */
	{ COMPAT_SAFE_HALT, { { { 0xfb, 0xf4 }, 2, pl_safe_halt } } },
	/* swapgs; wrgsbase %rdi, by clang %rsi */
	{ "__wrgsbase_inactive", {
		{ { 0x0f, 0x01, 0xf8, 0xf3, 0x48, 0x0f, 0xae, 0xdf }, 8, pl_wrgsbase },
		{ { 0x0f, 0x01, 0xf8, 0xf3, 0x48, 0x0f, 0xae, 0xde }, 8, pl_wrgsbase_rsi },
	} },
	/* swapgs; rdgsbase %rax */
	{ "__rdgsbase_inactive", {
		{ { 0x0f, 0x01, 0xf8, 0xf3, 0x48, 0x0f, 0xae, 0xc8 }, 8, pl_rdgsbase },
	} },
	/* mov %edi,%eax; out %al,$0x70; in $0x71,%al */
	{ "rtc_cmos_read", { { { 0x89, 0xf8, 0xe6, 0x70, 0xe4, 0x71 }, 6, pl_cmos_read } } },
	/* mov %esi,%eax; out %al,$0x70; mov %edi,%eax; out %al,$0x71 */
	{ "rtc_cmos_write", {
		{ { 0x89, 0xf0, 0xe6, 0x70, 0x89, 0xf8, 0xe6, 0x71 }, 8, pl_cmos_write },
	} },
};

static int add_jump(unsigned int i)
{
	unsigned long at = pl_symbol(jumps[i].function), start, size;

	if (!at || !pl_symbol_at(at, &start, &size, NULL))
		return -EOPNOTSUPP;
	for (unsigned int way = 0; way < ARRAY_SIZE(jumps[i].ways); way++) {
		unsigned int bytes = jumps[i].ways[way].bytes;

		at = bytes ? pl_text_find(start, size, jumps[i].ways[way].pattern, bytes) : 0;
		if (at)
			return pl_text_add(pl_kernel_text, at, PL_SLOT_MISC, PL_OP_JMP,
					   jumps[i].ways[way].target, PL_CALL_BYTES);
	}
	pr_err("refused: %s is not the code it was expected to be; nothing was changed\n",
	       jumps[i].function);
	return -EOPNOTSUPP;
}

/* The one call in @symbol of @callee leads to @stub. */
static int add_one_call(const char *symbol, const char *callee, const void *stub)
{
	unsigned long at = pl_symbol(symbol), to = pl_symbol(callee), start, size;
	int found;

	if (!at || !to || !pl_symbol_at(at, &start, &size, NULL))
		return -EOPNOTSUPP;
	found = pl_text_add_calls(pl_kernel_text, start, size, to, PL_SLOT_MISC, stub);
	if (found < 0 || found == 1)
		return min(found, 0);
	pr_err("refused: %d calls of %s in %s, not one; nothing was changed\n", found, callee,
	       symbol);
	return -EOPNOTSUPP;
}

static int find_misc(void)
{
	unsigned long fixup_irqs;
	int err;

	for (unsigned int i = 0; i < ARRAY_SIZE(jumps); i++) {
		err = add_jump(i);
		if (err)
			return err;
	}
	err = pl_kcall_bind(PL_KCALL_LOAD_GS, pl_symbol("asm_load_gs_index"));
	pl_load_gs_target = pl_kcall(PL_KCALL_LOAD_GS);
	err = err ?: add_one_call("native_load_gs_index", "asm_load_gs_index", pl_load_gs_index);
	if (err || !IS_ENABLED(CONFIG_HOTPLUG_CPU))
		return err;
	/* Compilers put a copy of its caller into that one's callers. */
	fixup_irqs = pl_symbol("fixup_irqs");
	err = pl_kcall_bind(PL_KCALL_FIXUP_IRQS, fixup_irqs);
	if (err)
		return err;
	pl_core.fixup_irqs = pl_kcall(PL_KCALL_FIXUP_IRQS);
	err = pl_text_add_all_calls(pl_kernel_text, fixup_irqs, PL_SLOT_MISC, pl_fixup_irqs);
	if (!err)
		return pl_refuse("nobody calls fixup_irqs");
	return err < 0 ? err : 0;
}

int pl_gates_find(void)
{
	struct desc_ptr idt;
	int err;

	lockdep_assert_held(&pl_texts_mutex);
	nr_gates = 0;
	store_idt(&idt);
	err = find_irq_gates((const gate_desc *)idt.address);
	err = err ?: find_exception_gates((const gate_desc *)idt.address);
	err = err ?: find_misc();
	return err ?: pl_ring3_gates_find();
}
