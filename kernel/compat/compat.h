/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only place that knows kernel versions. Everything else asks here.
 *
 * Features are detected first, versions named last.
 */
#ifndef _TACTUS_COMPAT_H
#define _TACTUS_COMPAT_H

#include <linux/cfi.h>
#include <linux/kconfig.h>
#include <linux/module.h>
#include <linux/stacktrace.h>
#include <linux/version.h>
#include <asm/apic.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "Tactus needs Linux 6.1 or newer"
#endif

/* ---- the APIC driver: pointers in struct apic, from 6.6 on static calls ---- */

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define COMPAT_APIC_STATIC_CALL 1
#define COMPAT_EOI_ARGS void
#define compat_eoi_call(fn) (((void (*)(void))(fn))())
#define COMPAT_APIC_EOI offsetof(struct apic, eoi)
#define COMPAT_MEM_EOI "native_apic_mem_eoi"
#define COMPAT_SAFE_HALT "pv_native_safe_halt"
#else
#define COMPAT_APIC_STATIC_CALL 0
#define COMPAT_EOI_ARGS u32 reg, u32 value
#define compat_eoi_call(fn) (((void (*)(u32, u32))(fn))(APIC_EOI, APIC_EOI_ACK))
#define COMPAT_APIC_EOI offsetof(struct apic, eoi_write)
#define COMPAT_MEM_EOI "native_apic_mem_write"
#define COMPAT_SAFE_HALT "native_safe_halt"
#endif

/* ---- a module's text: core and init ---- */

enum compat_text { COMPAT_TEXT_CORE, COMPAT_TEXT_INIT, COMPAT_TEXTS };

static inline void compat_module_text(const struct module *mod, enum compat_text which,
				      unsigned long *base, unsigned long *size)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	const struct module_memory *mem =
		&mod->mem[which == COMPAT_TEXT_CORE ? MOD_TEXT : MOD_INIT_TEXT];

	*base = (unsigned long)mem->base;
	*size = mem->size;
#else
	const struct module_layout *layout =
		which == COMPAT_TEXT_CORE ? &mod->core_layout : &mod->init_layout;

	*base = (unsigned long)layout->base;
	*size = layout->text_size;
#endif
	if (!*base)
		*size = 0;
}

/* ---- the clock event's escape past set_next_event, new in 7.x ---- */

#ifdef CLOCK_EVT_FEAT_CLOCKSOURCE_COUPLED
#define COMPAT_CLOCKEVENT_BYPASS CLOCK_EVT_FEAT_CLOCKSOURCE_COUPLED
#else
#define COMPAT_CLOCKEVENT_BYPASS 0
#endif

/* ---- FRED: entry without the IDT ---- */

#ifdef X86_FEATURE_FRED
#define compat_fred_enabled() boot_cpu_has(X86_FEATURE_FRED)
#else
#define compat_fred_enabled() false
#endif

/* ---- the depth of calls, counted in thunks, 6.2 ---- */

#ifdef X86_FEATURE_CALL_DEPTH
#define compat_call_depth() boot_cpu_has(X86_FEATURE_CALL_DEPTH)
#else
#define compat_call_depth() false
#endif

/* ---- checks of indirect calls: FineIBT's boot argument turns them off, 6.2 ---- */

#define COMPAT_CFI (IS_ENABLED(CONFIG_CFI_CLANG) || IS_ENABLED(CONFIG_CFI))
#ifdef CONFIG_FINEIBT
#define compat_cfi_is_off(mode) (*(const enum cfi_mode *)(mode) == CFI_OFF)
#else
#define compat_cfi_is_off(mode) false
#endif

/* ---- callers of the current context, its own function first; 0: Linux is built without ---- */

#ifdef CONFIG_STACKTRACE
#define compat_callers(frames, most) stack_trace_save(frames, most, 0)
#else
#define compat_callers(frames, most) 0
#endif

/* ---- sysfs: the read function of a binary file, 6.13: const ---- */

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define compat_bin_attribute const struct bin_attribute
#else
#define compat_bin_attribute struct bin_attribute
#endif

#endif
