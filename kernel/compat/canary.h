/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the kernel keeps the stack protector's canary of this CPU, for assembly.
 *
 * Linux gives each of its tasks a canary and rewrites this word at each of its task
 * switches, so a switch to or from an RT stack must do the same.
 *
 * Up to 6.14 the compiler's fixed place, %gs:40; later a per-CPU symbol.
 */
#ifndef _TACTUS_COMPAT_CANARY_H
#define _TACTUS_COMPAT_CANARY_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#define COMPAT_CANARY %gs:40
#else
#define COMPAT_CANARY %gs:__ref_stack_chk_guard(%rip)
#endif

#endif
