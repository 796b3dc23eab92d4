// SPDX-License-Identifier: GPL-2.0-only
/* Binding and calling the stubs of kstubs.S. */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/printk.h>
#include <linux/string.h>
#include "pipeline/x86/patch/alias.h"
#include "pipeline/x86/patch/kcall.h"
#include "pipeline/x86/patch/slots.h"
#include "pipeline/x86/patch/symbols.h"

#define STUB_BYTES 16
#define JMP_OFFSET 4	/* of the jmp in a stub, behind its endbr64 */
#define MOST_BEFORE_JMP 3

extern u8 pl_kcall_stubs[];

void *pl_kcall(unsigned int which)
{
	return pl_kcall_stubs + which * STUB_BYTES;
}

/* Nobody runs that code before it is written, so no other CPU can be reading it. */
static int write_code(const void *at, const void *code, unsigned int bytes)
{
	struct pl_alias alias;
	int err = pl_alias_map(&alias, (unsigned long)at, bytes);

	if (err)
		return err;
	memcpy(alias.to, code, bytes);
	pl_alias_unmap(&alias);
	return 0;
}

/* The direct call or jump @code is to stand at @at and to lead to @target. */
static int aim(u8 *code, const void *at, unsigned long target)
{
	s64 distance = target - ((unsigned long)at + PL_CALL_BYTES);
	s32 rel = distance;

	if (rel != distance) {
		pr_err("refused: %pS is out of a jump's reach; nothing was changed\n",
		       (void *)target);
		return -EOPNOTSUPP;
	}
	memcpy(code + 1, &rel, sizeof(rel));
	return 0;
}

static int bind(const void *jmp, unsigned long target)
{
	u8 code[PL_CALL_BYTES] = { PL_OP_JMP };

	return aim(code, jmp, target) ?: write_code(jmp, code, sizeof(code));
}

int pl_kcall_bind(unsigned int which, unsigned long target)
{
	u8 *stub = pl_kcall(which);

	if (!target)
		return -EOPNOTSUPP;
	OPTIMIZER_HIDE_VAR(stub);	/* else objtool sees a pointer past the endbr64 */
	return bind(stub + JMP_OFFSET, target);
}

int pl_kcall_bind_jump(const void *stub, unsigned long target)
{
	const u8 *at = stub;
	int length;

	for (int i = 0; *at != PL_OP_JMP; i++, at += length) {
		length = pl_insn_length((unsigned long)at);
		if (length <= 0 || i == MOST_BEFORE_JMP)
			return -EOPNOTSUPP;
	}
	return bind(at, target);
}

int pl_kcall_move(void *to, unsigned long from, unsigned int bytes)
{
	const u8 *old = (const u8 *)from;
	u8 code[PL_KCALL_MOVE_BYTES];
	unsigned int at = *old == PL_PREFIX_CS;
	int err = 0;

	memset(code, 0x90, sizeof(code));
	memcpy(code, old, bytes);
	if (code[at] == PL_OP_CALL)
		err = aim(code + at, to + at, pl_call_target(old + at));
	return err ?: write_code(to, code, sizeof(code));
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
