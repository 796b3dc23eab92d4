/* SPDX-License-Identifier: GPL-2.0-only */
/* What becomes of RT code that caused a fault. */
#ifndef _TACTUS_EXEC_FAULT_H
#define _TACTUS_EXEC_FAULT_H

#include <linux/types.h>

struct pl_fault;

bool rt_exec_fault(struct pl_fault *fault);
void rt_fault_init(void);
void rt_fault_exit(void);

#endif
