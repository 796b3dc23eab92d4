// SPDX-License-Identifier: GPL-2.0
/* Binding and calling the stubs of kstubs.S. */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/printk.h>
#include <linux/string.h>
#include "pipeline/x86/patch/alias.h"
#include "pipeline/x86/patch/kcall.h"
#include "pipeline/x86/patch/symbols.h"

#define STUB_BYTES 16
#define JMP_OFFSET 4	/* of the jmp in a stub, behind its endbr64 */
#define JMP_BYTES 5
#define OP_JMP 0xe9
#define MOST_BEFORE_JMP 3

extern u8 pl_kcall_stubs[];

void *pl_kcall(unsigned int which)
{
	return pl_kcall_stubs + which * STUB_BYTES;
}

static int bind(unsigned long jmp, unsigned long target)
{
	struct pl_alias alias;
	s64 distance;
	s32 rel;
	int err;

	distance = target - (jmp + JMP_BYTES);
	rel = distance;
	if (rel != distance) {
		pr_err("refused: %pS is out of a jump's reach; nothing was changed\n",
		       (void *)target);
		return -EOPNOTSUPP;
	}
	err = pl_alias_map(&alias, jmp, JMP_BYTES);
	if (err)
		return err;
	/* Nobody calls a stub before it is bound, so no other CPU can be reading it. */
	memcpy(alias.to + 1, &rel, sizeof(rel));
	pl_alias_unmap(&alias);
	return 0;
}

int pl_kcall_bind(unsigned int which, unsigned long target)
{
	u8 *stub = pl_kcall(which);

	if (!target)
		return -EOPNOTSUPP;
	OPTIMIZER_HIDE_VAR(stub);	/* else objtool sees a pointer past the endbr64 */
	return bind((unsigned long)stub + JMP_OFFSET, target);
}

int pl_kcall_bind_jump(const void *stub, unsigned long target)
{
	unsigned long at = (unsigned long)stub;
	int length;

	for (int i = 0; *(const u8 *)at != OP_JMP; i++, at += length) {
		length = pl_insn_length(at);
		if (length <= 0 || i == MOST_BEFORE_JMP)
			return -EOPNOTSUPP;
	}
	return bind(at, target);
}

unsigned long pl_kcall_lookup_name(const char *name)
{
	unsigned long (*call)(const char *) = pl_kcall(PL_KCALL_LOOKUP_NAME);

	return call(name);
}

int pl_kcall_size_offset(unsigned long addr, unsigned long *size, unsigned long *offset)
{
	int (*call)(unsigned long, unsigned long *, unsigned long *) =
		pl_kcall(PL_KCALL_SIZE_OFFSET);

	return call(addr, size, offset);
}

int pl_kcall_symbol_name(unsigned long addr, char *name)
{
	int (*call)(unsigned long, char *) = pl_kcall(PL_KCALL_SYMBOL_NAME);

	return call(addr, name);
}

int pl_kcall_insn_decode(struct insn *insn, const void *at, int bytes, enum insn_mode mode)
{
	int (*call)(struct insn *, const void *, int, enum insn_mode) =
		pl_kcall(PL_KCALL_INSN_DECODE);

	return call(insn, at, bytes, mode);
}
