/* SPDX-License-Identifier: GPL-2.0-only */
/* CPUs that do not answer Linux. Private to pipeline/x86. */
#ifndef _TACTUS_ROUSE_H
#define _TACTUS_ROUSE_H

struct pt_regs;

/** pl_rouse_late - is it late, see pl_rouse_start()? Then help this CPU. Context: NMI. */
void pl_rouse_late(struct pt_regs *regs);

#endif
