/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From one RT stack, or Linux's, to another (thesis, 3.2: "pushing all integer registers
 * on the stack and changing the stack pointer"). The compiler keeps caller-saved ones.
 */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>
#include "compat/canary.h"

#define FRAME_SP 0
#define FRAME_CANARY 8
#define FRAME_ON_CPU 16

	/* Beside rt_path functions, whose page begins here: this file is linked first. */
	.section .text.hot.path, "ax"
	.balign 4096

/*
 * void rt_switch(struct rt_frame *from, struct rt_frame *to)
 *
 * Hardware interrupts off. The canary goes with the stack: functions that are active
 * on a stack check it against the value they put there. Once nobody uses @from's stack any more,
 * its on_cpu says so, by a store-release, as each store of this CPU is: it pairs with the acquire
 * in rt_task_free() and is the last touch of @from.
 */
SYM_FUNC_START(rt_switch)
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15

	movq	COMPAT_CANARY, %rax
	movq	%rax, FRAME_CANARY(%rdi)
	movq	%rsp, FRAME_SP(%rdi)

	movq	FRAME_SP(%rsi), %rsp
	movq	FRAME_CANARY(%rsi), %rax
	movq	%rax, COMPAT_CANARY
	movl	$0, FRAME_ON_CPU(%rdi)

	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	RET
SYM_FUNC_END(rt_switch)

	.section .text, "ax"

/*
 * The first "return" of a new task comes here; the stack looks as if this had been called
 * from address 0, which is where unwinders stop. %rbx is the task.
 */
SYM_FUNC_START(rt_task_entry)
	movq	%rbx, %rdi
	jmp	rt_task_main
SYM_FUNC_END(rt_task_entry)
