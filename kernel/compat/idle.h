/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's idle function without a cpuidle driver: where its choice is kept (a pointer, from
 * 6.8 on a static call), and how it comes back.
 */
#ifndef _TACTUS_COMPAT_IDLE_H
#define _TACTUS_COMPAT_IDLE_H

#include <linux/version.h>

/* Until 6.2 it enabled interrupts, from 6.3 on it comes back with interrupts off. */
#define COMPAT_IDLE_ENABLES (LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0))

#ifndef __ASSEMBLY__
#include <linux/static_call.h>

/* Return: the function; 0 if the kernel has made no choice. */
static inline unsigned long compat_idle_function(unsigned long (*symbol)(const char *name))
{
	unsigned long *pointer = (unsigned long *)symbol("x86_idle");
	struct static_call_key *key = (struct static_call_key *)symbol("__SCK__x86_idle");

	return pointer ? *pointer : key ? (unsigned long)key->func : 0;
}
#endif

#endif
