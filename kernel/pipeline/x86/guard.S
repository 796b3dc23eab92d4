/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of RT interrupt handlers that survive a fault of theirs; see fault.h. */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>
#include <asm/percpu.h>

	.text

/*
 * bool pl_guarded(void *fn, void *arg)
 *
 * A fault sends the handler to pl_guard_landing with the stack pointer that is noted here
 * and 1 in %eax. Guards nest.
 */
SYM_FUNC_START(pl_guarded)
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	pushq	PER_CPU_VAR(pl_guard_sp)
	movq	%rsp, PER_CPU_VAR(pl_guard_sp)
	movq	%rdi, %rax
	movq	%rsi, %rdi
	CALL_NOSPEC rax
	xorl	%eax, %eax
SYM_INNER_LABEL(pl_guard_landing, SYM_L_GLOBAL)
	popq	PER_CPU_VAR(pl_guard_sp)
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	RET
SYM_FUNC_END(pl_guarded)
