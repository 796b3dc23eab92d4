/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupt lines: RT interrupts, and stalled level-triggered ones. Private to pipeline/x86. */
#ifndef _TACTUS_LINES_H
#define _TACTUS_LINES_H

#include <linux/types.h>

struct irq_desc;
struct pl_hooks;

/** pl_line_hooks - for the core; once pl_client is known. Context: Linux process. */
const struct pl_hooks *pl_line_hooks(void);

/** pl_lines_find - find what lines need of the kernel; 0 or -EOPNOTSUPP after a log line */
int pl_lines_find(void);

/** pl_lines_exit - nothing of lines.c runs any more. Context: Linux process; may sleep. */
void pl_lines_exit(void);

/**
 * pl_line_unmask - let a level-triggered line that the pipeline masked fire again
 * @desc: the line
 * @vector: on which this CPU got it
 *
 * Context: Linux's interrupt handler of that line, or the switch-over.
 */
void pl_line_unmask(struct irq_desc *desc, unsigned int vector);

/** pl_line_ipi - see pl_ipi(). Context: any. */
void pl_line_ipi(int cpu);

/** pl_line_unstall - unstall this CPU's Linux by an RT interrupt. Context: NMI. */
void pl_line_unstall(void);

#endif
