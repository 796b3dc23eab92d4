/* SPDX-License-Identifier: GPL-2.0-only */
/* What detour.c times, and the room that its copies get. */
#include <linux/linkage.h>

	.text
/* A thousand pairs of cli and sti; the labels are where breakpoints go. */
SYM_FUNC_START(detour_pairs)
	mov	$1000, %ecx
SYM_INNER_LABEL(detour_pair_cli, SYM_L_GLOBAL)
	cli
SYM_INNER_LABEL(detour_pair_sti, SYM_L_GLOBAL)
	sti
	dec	%ecx
	jnz	detour_pair_cli
	RET
SYM_FUNC_END(detour_pairs)

	.balign	4096, 0xcc
SYM_DATA_START(detour_area)
	.fill	65536, 1, 0xcc
SYM_DATA_END(detour_area)
