/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hosted mode: the seam of pipeline.h on a kernel as it is. Private to
 * kernel/pipeline; control.h starts it.
 */
#ifndef _TACTUS_HOSTED_H
#define _TACTUS_HOSTED_H

#include <linux/types.h>

/** pl_hosted_interrupt - a line's RT handler. Context: Linux's hard-irq handler of the line. */
void pl_hosted_interrupt(void (*handler)(void));

/* What stage.c makes of the calls of pipeline.h. */
u64 pl_hosted_clock(void);
void pl_hosted_arm(u64 when);
void pl_hosted_ipi(int cpu);
void pl_hosted_run(void (*fn)(void *arg), void *arg);
bool pl_hosted_active(void);

#endif
