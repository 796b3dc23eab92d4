/* SPDX-License-Identifier: GPL-2.0-only */
/* No NMI while slots are written. Private to pipeline/x86. */
#ifndef _TACTUS_NMIGATE_H
#define _TACTUS_NMIGATE_H

#include <linux/types.h>

/** pl_nmi_gate_init - prepare; 0 or -errno. Context: Linux process; may sleep. */
int pl_nmi_gate_init(void);

/** pl_nmi_gate_exit - the reverse. Context: Linux process; may sleep. */
void pl_nmi_gate_exit(void);

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
