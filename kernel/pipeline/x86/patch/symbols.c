// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's symbol table and instruction decoder, neither of which is exported.
 * A kprobe knows addresses by name; one on kallsyms_lookup_name() leads to the rest.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/printk.h>
#include "pipeline/x86/patch/kcall.h"
#include "pipeline/x86/patch/oddity.h"
#include "pipeline/x86/patch/symbols.h"

int pl_symbols_init(void)
{
	struct kprobe probe = {
		.symbol_name = "kallsyms_lookup_name",
		.flags = KPROBE_FLAG_DISABLED,	/* only asked where it is: no text is changed */
	};
	int err = register_kprobe(&probe);
	unsigned long lookup;

	if (err) {
		pr_err("refused: the kernel's symbol table cannot be reached (kprobes: %d); nothing was changed\n",
		       err);
		return -EOPNOTSUPP;
	}
	/* The probe may sit behind an endbr64: ask for the start by that very function. */
	lookup = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	err = pl_kcall_bind(PL_KCALL_LOOKUP_NAME, lookup);
	if (err)
		return err;

	err = pl_kcall_bind(PL_KCALL_SIZE_OFFSET, pl_symbol("kallsyms_lookup_size_offset"));
	err = err ?: pl_kcall_bind(PL_KCALL_SYMBOL_NAME, pl_symbol("lookup_symbol_name"));
	err = err ?: pl_kcall_bind(PL_KCALL_INSN_DECODE, pl_symbol("insn_decode"));
	return err;
}

unsigned long pl_symbol_try(const char *name)
{
	return pl_kcall_lookup_name(name);
}

unsigned long pl_symbol(const char *name)
{
	unsigned long addr = pl_symbol_try(name);

	if (!addr)
		pr_err("refused: this kernel has no symbol %s; nothing was changed\n", name);
	return addr;
}

int pl_symbol_range(const char *start, const char *end, struct pl_range *range)
{
	*range = (struct pl_range){ pl_symbol(start), pl_symbol(end) };
	return range->start && range->end ? 0 : -EOPNOTSUPP;
}

bool pl_symbol_at(unsigned long addr, unsigned long *start, unsigned long *size, char *name)
{
	unsigned long offset;

	if (!pl_kcall_size_offset(addr, size, &offset))
		return false;
	*start = addr - offset;
	return !name || !pl_kcall_symbol_name(addr, name);
}

int pl_insn_length(unsigned long addr)
{
	const u8 *byte = (const u8 *)addr;
	int length = pl_oddity_length(byte);
	struct insn insn;

	if (length)
		return length;
	if (pl_kcall_insn_decode(&insn, byte, MAX_INSN_SIZE, INSN_MODE_KERN) < 0)
		return -EINVAL;
	return insn.length;
}
