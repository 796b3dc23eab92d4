/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's interrupt and exception gates as slots. Private to pipeline/x86. */
#ifndef _TACTUS_GATES_H
#define _TACTUS_GATES_H

/**
 * pl_gates_find - add every gate, and the single instructions that must be ours, to the
 * kernel's slots
 *
 * Context: Linux process; may sleep; pl_texts_mutex held, pl_kernel_text scanned.
 * Return: 0, -ENOMEM, or -EOPNOTSUPP after a line in the log.
 */
int pl_gates_find(void);

#endif
