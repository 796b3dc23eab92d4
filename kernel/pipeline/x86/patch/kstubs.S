/* SPDX-License-Identifier: GPL-2.0-only */
/* The stubs of kcall.h: "endbr64; jmp target", sixteen bytes each. */
#include <linux/linkage.h>
#include <asm/unwind_hints.h>
#include "pipeline/x86/patch/kcall.h"

	.section .text, "ax"
	.balign 16
SYM_CODE_START(pl_kcall_stubs)
	.rept PL_KCALL_COUNT
	UNWIND_HINT_FUNC
	.byte	0xf3, 0x0f, 0x1e, 0xfa	/* endbr64 */
	.byte	0xe9			/* jmp: to the ud2 below until bound */
	.long	unbound - . - 4
	.balign 16, 0xcc
	.endr
	UNWIND_HINT_FUNC
unbound:
	ud2
SYM_CODE_END(pl_kcall_stubs)
