/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the patched slots of the kernel lead (thesis, Figures 3.1 and 3.2).
 *
 * cli, sti and save_fl are called with the convention of a paravirt callee-save
 * function: only %rax may change. Everything here runs in Linux's context.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/nospec-branch.h>
#include <asm/percpu.h>
#include "compat/idle.h"
#include "pipeline/x86/resident/tactus_core.h"

	/* That of what a release executes begins with a cache line. */
	.section .text.hot.path, "ax"
	.balign 64
	.section .text, "ax"

/*
 * One stub per gate and kind: says which gate it was. %rdi and %rsi
 * hold regs and error code, as Linux's entry code set them up for its own C function.
 */
.macro PL_STUBS name:req func:req
	.balign 16
SYM_CODE_START(\name)
	ANNOTATE_NOENDBR	/* reached by direct calls only */
	gate = 0
	.rept PL_GATES
	UNWIND_HINT_FUNC
	.byte	0xba			/* mov $gate, %edx */
	.long	gate
	.byte	0xe9			/* jmp func */
	.long	\func - . - 4
	.balign 16, 0xcc
	gate = gate + 1
	.endr
SYM_CODE_END(\name)
.endm

PL_STUBS pl_irq_stubs, pl_irq

/* What direct calls reach only, and all the time: without the ENDBR of SYM_FUNC_START(). */
.macro PL_SLOT_START name:req
SYM_START(\name, SYM_L_GLOBAL, SYM_A_ALIGN)
	ANNOTATE_NOENDBR
.endm

/* S_CLI: one bit. */
PL_SLOT_START pl_cli
	andb	$~PL_VIF, PER_CPU_VAR(pl_cpu + PL_CPU_STATE)
	RET
SYM_FUNC_END(pl_cli)

/* IF is on for Linux if both the virtual and the hardware's are. */
PL_SLOT_START pl_save_fl
	pushfq
	popq	%rax
	andb	PER_CPU_VAR(pl_cpu + PL_CPU_STATE), %ah
	RET
SYM_FUNC_END(pl_save_fl)

/*
 * S_STI: unstall, then replay what was logged before. What comes behind the OR runs at once, since
 * Linux is unstalled already, and replays the rest: then nothing is found here. The jump looks at
 * PL_ANY, the sign of what the OR left: sti keeps it.
 */
PL_SLOT_START pl_sti
	orb	$PL_VIF, PER_CPU_VAR(pl_cpu + PL_CPU_STATE)
	sti
	js	1f
	RET
1:	cli
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%rax
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	movq	9*8(%rsp), %rdi		/* the slot's return address */
	leaq	10*8(%rsp), %rsi	/* the stack pointer behind the slot */
	call	pl_replay_here
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rax
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	sti
	RET
SYM_FUNC_END(pl_sti)

/*
 * In place of the "sti; hlt; ret" at the end of the kernel's safe halt: an interrupt
 * that was logged since Linux stalled must keep the CPU awake.
 */
SYM_FUNC_START(pl_safe_halt)
	cli
	testb	$PL_ANY, PER_CPU_VAR(pl_cpu + PL_CPU_STATE)
	jnz	1f
	orb	$PL_VIF, PER_CPU_VAR(pl_cpu + PL_CPU_STATE)
	sti
	hlt
	RET
1:	jmp	pl_sti
SYM_FUNC_END(pl_safe_halt)

/*
 * In place of cpuidle's call of its driver, enter(dev, drv, index): hard off, and not at all if
 * something is logged, which cpuidle's sti, right behind, replays. The call itself was moved here
 * when it was found, see pl_kcall_move().
 */
SYM_FUNC_START(pl_cpuidle)
	cli
	testb	$PL_ANY, PER_CPU_VAR(pl_cpu + PL_CPU_STATE)
	jnz	1f
SYM_INNER_LABEL(pl_cpuidle_call, SYM_L_GLOBAL)
	.byte	0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00	/* a nop until then */
	sti
	RET
1:	sti
	movl	%edx, %eax
	RET
SYM_FUNC_END(pl_cpuidle)

/*
 * In place of the call of arch_cpu_idle() where that ends in "sti; mwait": with Linux
 * unstalled, since that sti is the CPU's; or it comes back at once, as it would.
 */
SYM_FUNC_START(pl_mwait)
	cli
	testb	$PL_ANY, PER_CPU_VAR(pl_cpu + PL_CPU_STATE)
	jnz	1f
	orb	$PL_VIF, PER_CPU_VAR(pl_cpu + PL_CPU_STATE)
	movq	pl_mwait_target(%rip), %rax
	CALL_NOSPEC rax
	RET
#if COMPAT_IDLE_ENABLES
1:	jmp	pl_sti
#else
1:	sti
	RET
#endif
SYM_FUNC_END(pl_mwait)

/*
 * Between two swapgs in kernel mode no interrupt may come at all: entry code would
 * take the user's GS base for the kernel's. Linux's cli is soft, so these are hard.
 */
SYM_FUNC_START(pl_wrgsbase_rsi)
	movq	%rsi, %rdi
	jmp	pl_wrgsbase
SYM_FUNC_END(pl_wrgsbase_rsi)

SYM_FUNC_START(pl_wrgsbase)
	pushfq
	cli
	swapgs
	wrgsbase %rdi
	swapgs
	popfq
	RET
SYM_FUNC_END(pl_wrgsbase)

SYM_FUNC_START(pl_rdgsbase)
	pushfq
	cli
	swapgs
	rdgsbase %rax
	swapgs
	popfq
	RET
SYM_FUNC_END(pl_rdgsbase)

SYM_FUNC_START(pl_load_gs_index)
	pushfq
	cli
	movq	pl_load_gs_target(%rip), %rax
	CALL_NOSPEC rax
	popfq
	RET
SYM_FUNC_END(pl_load_gs_index)

/*
 * The CMOS chip is an index port and a data port without a lock of its own. An RT
 * handler that came in between would leave its index behind, so Linux's accessors
 * run hard. Arguments and results are those of rtc_cmos_read() and rtc_cmos_write().
 */
SYM_FUNC_START(pl_cmos_read)
	pushfq
	cli
	movl	%edi, %eax
	outb	%al, $0x70
	inb	$0x71, %al
	popfq
	RET
SYM_FUNC_END(pl_cmos_read)

SYM_FUNC_START(pl_cmos_write)
	pushfq
	cli
	movl	%esi, %eax
	outb	%al, $0x70
	movl	%edi, %eax
	outb	%al, $0x71
	popfq
	RET
SYM_FUNC_END(pl_cmos_write)

PL_STUBS pl_exc_stubs, pl_exc
PL_STUBS pl_nmi_stubs, pl_nmi

/*
 * One stub per way to make a system call, in place of Linux's C function. The first jump leads
 * there once it is filled in (pl_kcall_bind_jump()): Linux's own calls pay for these three
 * instructions, and change no register.
 */
	.balign 32
SYM_CODE_START(pl_sys_stubs)
	ANNOTATE_NOENDBR	/* reached by direct calls only */
	gate = 0
	.rept PL_SYS_GATES
	UNWIND_HINT_FUNC
	cmpb	$0, PER_CPU_VAR(pl_ring3)
	jne	1f
	.byte	0xe9			/* jmp: to the ud2 below until bound */
	.long	pl_sys_unbound - . - 4
1:	.byte	0xba			/* mov $gate, %edx */
	.long	gate
	.byte	0xe9			/* jmp pl_sys */
	.long	pl_sys - . - 4
	.balign PL_SYS_STUB_BYTES, 0xcc
	gate = gate + 1
	.endr
	UNWIND_HINT_FUNC
pl_sys_unbound:
	ud2
SYM_CODE_END(pl_sys_stubs)
