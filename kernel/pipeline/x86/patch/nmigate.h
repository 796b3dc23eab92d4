/* SPDX-License-Identifier: GPL-2.0-only */
/* NMIs of our own, and none while slots are written. Private to pipeline/x86. */
#ifndef _TACTUS_NMIGATE_H
#define _TACTUS_NMIGATE_H

#include <linux/types.h>

struct pt_regs;

/* What a CPU does in an NMI with what that interrupted. Context: NMI. */
typedef void (*pl_nmi_fn)(struct pt_regs *regs);

/** pl_nmi_gate_init - prepare; 0 or -errno. Context: Linux process; may sleep. */
int pl_nmi_gate_init(void);

/** pl_nmi_gate_exit - the reverse. Context: Linux process; may sleep. */
void pl_nmi_gate_exit(void);

/**
 * pl_nmi_send - have another CPU do something in an NMI; nobody waits for that
 * @cpu: which
 * @fn: what
 *
 * Context: any, hardware interrupts off or in a process that stays on its CPU.
 */
void pl_nmi_send(int cpu, pl_nmi_fn fn);

/**
 * pl_nmi_gate_close - have all other CPUs wait inside an NMI handler
 *
 * Context: inside the switch-over: all CPUs stand still.
 * Return: true; or false if one did not come: then none waits.
 */
bool pl_nmi_gate_close(void);

/** pl_nmi_gate_open - let them go on. Context: as above. */
void pl_nmi_gate_open(void);

#endif
