/* SPDX-License-Identifier: GPL-2.0-only */
/* RT code in ring 3: what the rest of the pipeline has to know. Private to pipeline/x86. */
#ifndef _TACTUS_RING3_H
#define _TACTUS_RING3_H

#include "pipeline/ring3.h"

/** pl_ring3_refuse - RT code must stay in the kernel, for this reason; NULL: it need not */
void pl_ring3_refuse(const char *why);

/**
 * pl_ring3_find - find what the state is switched by; a step of pl_install()
 *
 * What is missing is no error: pl_ring3_refusal() says so.
 *
 * Context: Linux process; may sleep; the symbol table is there, gates are not found yet.
 * Return: 0.
 */
int pl_ring3_find(void);

/* The core's hooks. */
void pl_ring3_trap(struct pt_regs *regs, unsigned long error_code, unsigned int vector);
void pl_ring3_call(struct pt_regs *regs, unsigned long nr, unsigned int gate);

#endif
