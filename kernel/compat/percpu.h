/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A per-CPU variable as an operand of inline assembly.
 *
 * Up to 6.7 it is the variable itself; later it is cast to the compiler's address space of %gs,
 * where that has one, and prints its own prefix then.
 */
#ifndef _TACTUS_COMPAT_PERCPU_H
#define _TACTUS_COMPAT_PERCPU_H

#include <linux/percpu.h>

/* In the template, of the operand [name]. */
#define COMPAT_PERCPU(name) __percpu_arg([name])

/* In the list of operands, as "m". */
#ifdef __my_cpu_var
#define COMPAT_MY_CPU(var) __my_cpu_var(var)
#else
#define COMPAT_MY_CPU(var) (var)
#endif

#endif
