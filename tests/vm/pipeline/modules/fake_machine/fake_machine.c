// SPDX-License-Identifier: GPL-2.0-only
/*
 * A machine that no emulator here is: a fake. Linux's own notes about CPU and hypervisor are
 * changed while this is loaded, and nothing else of the machine is.
 *
 * as=hyperv|sev|tdx|fred; as=lapic gives Linux a rate of the APIC's timer that is 3 % wrong, on the
 * CPU that loads this; as=unstable has Linux find its TSC unstable, for good.
 */
#include <linux/clockchips.h>
#include <linux/module.h>
#include <linux/string.h>
#include <asm/coco.h>
#include <asm/cpufeature.h>
#include <asm/hypervisor.h>
#include <asm/msr-index.h>
#include <asm/processor-flags.h>
#include <asm/tsc.h>
#include "../unexported.h"

static char *as = "";
module_param(as, charp, 0444);

/* What Linux protects after its boot is written, too. */
static void write_over(void *to, const void *from, size_t bytes)
{
	unsigned long flags, cr0;

	local_irq_save(flags);
	asm volatile("mov %%cr0, %0" : "=r" (cr0));
	asm volatile("mov %0, %%cr0" : : "r" (cr0 & ~X86_CR0_WP) : "memory");
	memcpy(to, from, bytes);
	asm volatile("mov %0, %%cr0" : : "r" (cr0) : "memory");
	local_irq_restore(flags);
}

static struct {
	void *place;
	size_t bytes;
	u64 before;
} changed[2];
static int changes;

static int change(void *place, u64 value, size_t bytes)
{
	if (!place || changes == ARRAY_SIZE(changed))
		return -ENOENT;
	changed[changes].place = place;
	changed[changes].bytes = bytes;
	memcpy(&changed[changes++].before, place, bytes);
	write_over(place, &value, bytes);
	return 0;
}

static int add_feature(unsigned int feature)
{
	u32 *word = &boot_cpu_data.x86_capability[feature / 32];

	return change(word, *word | 1U << feature % 32, sizeof(*word));
}

static int change_lapic_rate(void)
{
	struct clock_event_device __percpu *events = (void __percpu __force *)find_symbol("lapic_events");
	struct clock_event_device *dev = raw_cpu_ptr(events);

	return events ? change(&dev->mult, (u64)dev->mult * 103 / 100, sizeof(dev->mult)) : -ENOENT;
}

static void fake_machine_exit(void)
{
	while (changes--)
		write_over(changed[changes].place, &changed[changes].before, changed[changes].bytes);
}

static int __init fake_machine_init(void)
{
	int err = -EINVAL;

	if (!strcmp(as, "hyperv")) {
		err = change(&x86_hyper_type, X86_HYPER_MS_HYPERV, sizeof(x86_hyper_type));
	} else if (!strcmp(as, "sev")) {
		err = change(find_symbol("sev_status"), MSR_AMD64_SEV_ES_ENABLED, sizeof(u64));
		err = err ?: change(find_symbol("cc_vendor"), CC_VENDOR_AMD, sizeof(CC_VENDOR_AMD));
	} else if (!strcmp(as, "tdx")) {
		err = add_feature(X86_FEATURE_TDX_GUEST);
#ifdef X86_FEATURE_FRED
	} else if (!strcmp(as, "fred")) {
		err = add_feature(X86_FEATURE_FRED);
#endif
	} else if (!strcmp(as, "lapic")) {
		err = change_lapic_rate();
	} else if (!strcmp(as, "unstable")) {
		mark_tsc_unstable("fake_machine");
		err = 0;
	}
	if (err)
		fake_machine_exit();
	return err;
}

module_init(fake_machine_init);
module_exit(fake_machine_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A machine that the pipeline is refused on, faked");
