/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of kernel functions that are not exported.
 *
 * Kernels with IBT seal functions that nobody calls indirectly: an indirect call of
 * one faults. So each is called through a stub of ours, a direct jump whose target
 * is filled in when it is bound. Private to pipeline/x86.
 */
#ifndef _TACTUS_KCALL_H
#define _TACTUS_KCALL_H

#include "pipeline/x86/resident/tactus_core.h"

#define PL_KCALL_LOOKUP_NAME	0
#define PL_KCALL_SIZE_OFFSET	1
#define PL_KCALL_SYMBOL_NAME	2
#define PL_KCALL_INSN_DECODE	3
#define PL_KCALL_LOAD_GS	4
#define PL_KCALL_FIXUP_IRQS	5
#define PL_KCALL_EXTABLES	6
#define PL_KCALL_BUGS		7
#define PL_KCALL_LOAD_FP	8
#define PL_KCALL_TO_RING3	9
#define PL_KCALL_IDLE		10
#define PL_KCALL_NMI_ENTER	11
#define PL_KCALL_NMI_EXIT	12
#define PL_KCALL_GATE		13	/* one per gate */
#define PL_KCALL_COUNT		(PL_KCALL_GATE + PL_GATES)

#ifndef __ASSEMBLY__
#include <linux/types.h>
#include <asm/insn.h>

/**
 * pl_kcall_bind - fill in where a stub leads
 * @which: PL_KCALL_*
 * @target: address of the kernel function; 0 is refused
 *
 * Context: Linux process; may sleep.
 * Return: 0, -EOPNOTSUPP (no target, or out of reach), -ENOMEM.
 */
int pl_kcall_bind(unsigned int which, unsigned long target);

/**
 * pl_kcall_bind_jump - fill in where the first jump of a stub of tactus_core leads
 * @stub: its other instructions run on to that jump
 * @target: address of the kernel function
 *
 * Context: Linux process; may sleep; the stub is not in use, or leads to @target already.
 * Return: 0, -EOPNOTSUPP (no such jump, or out of reach), -ENOMEM.
 */
int pl_kcall_bind_jump(const void *stub, unsigned long target);

/*
 * pl_kcall_move - copy a call of the kernel's, so that it calls the same from elsewhere
 * @to: PL_KCALL_MOVE_BYTES of code, which nobody runs now
 * @from: the call: through a register, or direct, with or without a prefix
 * @bytes: its length
 *
 * Context: Linux process; may sleep.
 * Return: 0, -EOPNOTSUPP (out of reach), -ENOMEM.
 */
#define PL_KCALL_MOVE_BYTES 6
int pl_kcall_move(void *to, unsigned long from, unsigned int bytes);

/** pl_kcall - a stub's address, to be called in the place of its target */
void *pl_kcall(unsigned int which);

unsigned long pl_kcall_lookup_name(const char *name);
int pl_kcall_size_offset(unsigned long addr, unsigned long *size, unsigned long *offset);
int pl_kcall_symbol_name(unsigned long addr, char *name);
int pl_kcall_insn_decode(struct insn *insn, const void *at, int bytes, enum insn_mode mode);
#endif

#endif
