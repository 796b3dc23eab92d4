/* SPDX-License-Identifier: GPL-2.0-only */
/* See swap.h. */
#ifndef _TACTUS_RING3_STATE_H
#define _TACTUS_RING3_STATE_H

#include <rt/pure.h>

/*
 * struct ring3_state - of a side: RT code in ring 3, or Linux
 * @cr3: page tables
 * @top: where entry code from ring 3 puts the registers: the end of struct pt_regs
 * @fs, @gs: the segments' bases; @gs of ring 3, inactive in the kernel
 * @pkru: protection keys
 */
struct ring3_state {
	u64 cr3, top, fs, gs, pkru;
};

#endif
