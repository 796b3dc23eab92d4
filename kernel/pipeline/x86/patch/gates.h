/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's interrupt and exception gates as slots. Private to pipeline/x86. */
#ifndef _TACTUS_GATES_H
#define _TACTUS_GATES_H

#include <linux/types.h>
#include "pipeline/x86/patch/slots.h"

struct pl_gate;

/* What pl_cpu.rt_vector is while the pipeline is on. */
extern u8 pl_rt_vector;

/**
 * pl_gates_find - add every gate, and the single instructions that must be ours, to the
 * kernel's slots
 *
 * Context: Linux process; may sleep; pl_texts_mutex held, pl_kernel_text scanned.
 * Return: 0, -ENOMEM, or -EOPNOTSUPP after a line in the log.
 */
int pl_gates_find(void);

/**
 * pl_gate_add - Linux's entry code calls a C function: a gate
 * @kind: PL_SLOT_IRQ, PL_SLOT_EXC, PL_SLOT_NMI; for the last it may be called more than once
 * @vector: 0 if the entry code passes it
 * @handler: the C function
 * @pieces: where it is called, symbols, a kernel may lack some
 *
 * Context: as above.
 * Return: the gate, or an ERR_PTR after a line in the log.
 */
struct pl_gate *pl_gate_add(enum pl_slot_kind kind, u8 vector, const char *handler,
			    const char *const pieces[]);

/**
 * pl_ring3_gates_find - add the ways from ring 3 that only RT code in ring 3 needs
 *
 * Where they are not as expected nothing is added: pl_ring3_refusal() says why.
 *
 * Context: as above.
 * Return: 0, -ENOMEM, or -EOPNOTSUPP after a line in the log.
 */
int pl_ring3_gates_find(void);

#endif
