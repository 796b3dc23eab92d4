// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooking functions of the kernel's APIC driver: the EOI; the reading of registers, where
 * Linux looks for interrupts that have arrived; and the IPI to oneself, by which irq_work
 * asks for its interrupt. They are pointers in struct apic, from 6.6 on static calls.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/static_call.h>
#include <asm/apic.h>
#include "compat/compat.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/x86/patch/alias.h"
#include "pipeline/x86/irq/apichook.h"
#include "pipeline/x86/irq/lapic.h"
#include "pipeline/x86/client.h"
#include "pipeline/x86/patch/symbols.h"

/* @kernels: where the kernel's own function is kept for the core */
static struct hook {
	const char *key_name, *tramp_name;
	size_t member;
	void *ours;
	void **kernels;
	struct static_call_key *key;
	void *tramp;
	struct pl_alias alias;
} hooks[] = {
	{ "__SCK__apic_call_eoi", "__SCT__apic_call_eoi", COMPAT_APIC_EOI, pl_eoi,
	  &pl_core.eoi },
	{ "__SCK__apic_call_read", "__SCT__apic_call_read", offsetof(struct apic, read),
	  pl_apic_read, (void **)&pl_core.apic_read },
	{ "__SCK__apic_call_send_IPI_self", "__SCT__apic_call_send_IPI_self",
	  offsetof(struct apic, send_IPI_self), pl_ipi_self, (void **)&pl_core.ipi_self },
};

#define for_each_hook(hook) \
	for (struct hook *hook = hooks; hook < hooks + ARRAY_SIZE(hooks); hook++)

static void **member_of(const struct hook *hook)
{
	return (void *)pl_apic + hook->member;
}

/*
 * Where a store of APIC_EOI_ACK is what the kernel's EOI does, and nothing else. A hypervisor's has
 * more to do; x2APIC's is an MSR.
 */
static void find_eoi(void)
{
	bool stores = (unsigned long)pl_core.eoi == pl_symbol_try(COMPAT_MEM_EOI);
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(pl_cpu.eoi_at, cpu) = stores ? pl_lapic_register(APIC_EOI) : NULL;
}

#if COMPAT_APIC_STATIC_CALL
static void (*static_call_update_fn)(struct static_call_key *key, void *tramp, void *func);

int pl_apichook_find(void)
{
	static_call_update_fn = (void *)pl_symbol("__static_call_update");
	if (!static_call_update_fn)
		return -EOPNOTSUPP;
	for_each_hook(hook) {
		hook->key = (void *)pl_symbol(hook->key_name);
		hook->tramp = (void *)pl_symbol(hook->tramp_name);
		if (!hook->key || !hook->tramp)
			return -EOPNOTSUPP;
		*hook->kernels = *member_of(hook);
	}
	find_eoi();
	return 0;
}

/* Not inside stop_machine: it takes locks. */
void pl_apichook_before_on(void)
{
	for_each_hook(hook)
		static_call_update_fn(hook->key, hook->tramp, hook->ours);
}

void pl_apichook_after_off(void)
{
	for_each_hook(hook)
		static_call_update_fn(hook->key, hook->tramp, *hook->kernels);
}

void pl_apichook_switch(bool on) { }
void pl_apichook_forget(void) { }
#else
int pl_apichook_find(void)
{
	int err = 0;

	for_each_hook(hook) {
		*hook->kernels = *member_of(hook);
		err = err ?: pl_alias_map(&hook->alias, (unsigned long)member_of(hook),
					  sizeof(void *));
	}
	if (err)
		pl_apichook_forget();
	find_eoi();
	return err;
}

void pl_apichook_before_on(void) { }
void pl_apichook_after_off(void) { }

void pl_apichook_switch(bool on)
{
	for_each_hook(hook)
		*(void **)hook->alias.to = on ? hook->ours : *hook->kernels;
}

void pl_apichook_forget(void)
{
	for_each_hook(hook)
		pl_alias_unmap(&hook->alias);
}
#endif
