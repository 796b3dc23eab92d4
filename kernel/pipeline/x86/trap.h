/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults of RT code, contained. Private to pipeline/x86. */
#ifndef _TACTUS_FAULT_H
#define _TACTUS_FAULT_H

#include <linux/percpu.h>
#include <linux/types.h>

struct pt_regs;

/* Set by guard.S: the stack of the innermost guarded call on this CPU, or NULL. */
DECLARE_PER_CPU(void *, pl_guard_sp);

/*
 * pl_fault - struct pl_hooks's fault
 *
 * Context: exception entry, out-of-band, hardware interrupts off.
 */
bool pl_fault(struct pt_regs *regs, unsigned long error_code, unsigned int vector);

/** pl_fault_find - find what that needs of the kernel; 0 or -EOPNOTSUPP after a log line */
int pl_fault_find(void);

#endif
