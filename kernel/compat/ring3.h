/* SPDX-License-Identifier: GPL-2.0-only */
/* What RT code in ring 3 has to know of a kernel's version. See compat.h. */
#ifndef _TACTUS_COMPAT_RING3_H
#define _TACTUS_COMPAT_RING3_H

#include <linux/version.h>
#include <asm/cpufeature.h>
#include <asm/current.h>

/* The per-CPU variable with the top of the current thread's kernel stack: where it is, or 0. */
static inline unsigned long compat_top_of_stack(unsigned long (*symbol)(const char *name))
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0) || LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	return symbol("cpu_current_top_of_stack");
#else
	return (unsigned long)&pcpu_hot.top_of_stack;
#endif
}

/* 6.6: a thread can have a shadow stack */
#ifdef X86_FEATURE_USER_SHSTK
#define compat_user_shadow_stack() boot_cpu_has(X86_FEATURE_USER_SHSTK)
#else
#define compat_user_shadow_stack() false
#endif

#endif
