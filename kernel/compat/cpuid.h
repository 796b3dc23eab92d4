/* SPDX-License-Identifier: GPL-2.0-only */
/* cpuid_count() and its like: a header of their own from 6.17 on, a part of another one before. */
#ifndef _TACTUS_COMPAT_CPUID_H
#define _TACTUS_COMPAT_CPUID_H

#if __has_include(<asm/cpuid/api.h>)
#include <asm/cpuid/api.h>
#define compat_hypervisor_base cpuid_base_hypervisor
#else
#include <asm/processor.h>
#define compat_hypervisor_base hypervisor_cpuid_base
#endif

#endif
