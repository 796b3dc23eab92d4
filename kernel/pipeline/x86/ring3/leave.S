/* SPDX-License-Identifier: GPL-2.0-only */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/nospec-branch.h>

#define PT_REGS_WORDS 21

	.text
/*
 * void __noreturn pl_ring3_leave(const struct pt_regs *regs, void *top, void *to_ring3)
 *
 * Registers to the top of the stack, where entry code would have put them, and out by @to_ring3.
 * This stack's frames are given up: they hold nothing. Hardware interrupts off.
 */
SYM_FUNC_START(pl_ring3_leave)
	leaq	-PT_REGS_WORDS*8(%rsi), %rsp
	movq	%rdx, %rax
	movq	%rdi, %rsi
	movq	%rsp, %rdi
	movl	$PT_REGS_WORDS, %ecx
	cld
	rep	movsq
	JMP_NOSPEC rax
SYM_FUNC_END(pl_ring3_leave)
STACK_FRAME_NON_STANDARD pl_ring3_leave
