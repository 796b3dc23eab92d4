/* SPDX-License-Identifier: GPL-2.0 */
/* cpuid_count(): a header of its own from 6.17 on, a part of another one before. */
#ifndef _TACTUS_COMPAT_CPUID_H
#define _TACTUS_COMPAT_CPUID_H

#if __has_include(<asm/cpuid/api.h>)
#include <asm/cpuid/api.h>
#else
#include <asm/processor.h>
#endif

#endif
