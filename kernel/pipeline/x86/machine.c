// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the pipeline is refused on, before anything is looked for: kernels whose text it may not
 * enter, hypervisors that have interrupts of their own, and clocks that are none.
 */
#include <linux/cc_platform.h>
#include <linux/clocksource.h>
#include <linux/delay.h>
#include <linux/kconfig.h>
#include <linux/list.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/hypervisor.h>
#include <asm/i8259.h>
#include <asm/processor.h>
#include <asm/tsc.h>
#include "compat/compat.h"
#include "pipeline/control.h"
#include "pipeline/x86/client.h"
#include "pipeline/x86/irq/deadline.h"
#include "pipeline/x86/machine.h"
#include "pipeline/x86/patch/symbols.h"
#include "pipeline/x86/resident/tactus_core.h"

#define CLOCK_WAIT_MS 5000
#define CLOCK_POLL_MS 10

/* ---- kernel and CPU ---- */

static const char *kernel_fault(void)
{
	if (!IS_ENABLED(CONFIG_PARAVIRT_XXL))
		return "this kernel is built without CONFIG_PARAVIRT_XXL, so its cli and sti cannot be found";
	if (IS_BUILTIN(CONFIG_KVM))
		return "this kernel has KVM built in, whose cli must stay hard and is looked for in modules only";
	if (boot_cpu_has(X86_FEATURE_XENPV))
		return "this is a Xen PV guest, whose interrupts are the hypervisor's";
	if (compat_fred_enabled())
		return "this CPU delivers interrupts by FRED, which is not handled yet (boot with fred=off)";
	if (compat_call_depth())
		return "Linux counts the depth of calls, so that its entry code calls no function itself (boot without retbleed=stuff)";
	if (pl_core_abi != PL_CORE_ABI)
		return "the resident tactus_core is of another version; reboot to replace it";
	return NULL;
}

/* ---- hypervisor ---- */

/*
 * In a guest with encrypted registers an APIC register or MSR is reached by an exception (#VC,
 * #VE), which RT code may not cause while Linux is in the middle of one.
 */
static const char *guest_fault(void)
{
	if (cc_platform_has(CC_ATTR_GUEST_STATE_ENCRYPT))
		return "this is an encrypted guest (SEV-ES or SEV-SNP), which reaches its APIC by exceptions";
	if (boot_cpu_has(X86_FEATURE_TDX_GUEST))
		return "this is an encrypted guest (TDX), which reaches its APIC by exceptions";
	return NULL;
}

/* One that Linux has no name for gives its own. */
static bool hypervisor_is_tried(char name[13])
{
	static const char *const tried[] = { "TCGTCGTCGTCG", "KVMKVMKVM" };
	u32 highest, words[3];

	if (!boot_cpu_has(X86_FEATURE_HYPERVISOR) || hypervisor_is_type(X86_HYPER_KVM))
		return true;
	cpuid(0x40000000, &highest, &words[0], &words[1], &words[2]);
	memcpy(name, words, sizeof(words));
	name[sizeof(words)] = '\0';
	return hypervisor_is_type(X86_HYPER_NATIVE) &&
	       match_string(tried, ARRAY_SIZE(tried), name) >= 0;
}

int pl_machine_check(void)
{
	const char *fault = kernel_fault() ?: guest_fault();
	char name[13];

	if (fault)
		return pl_refuse(fault);
	if (!hypervisor_is_tried(name)) {
		pr_err("refused: the pipeline was never tried under the hypervisor \"%s\" (mode=hosted works); nothing was changed\n",
		       name);
		return -EOPNOTSUPP;
	}
	return 0;
}

/*
 * We call Linux's functions by other types than theirs, and Linux ours, some of which are assembly:
 * each check of that would trap, in RT code as well.
 */
int pl_machine_check_calls(void)
{
	unsigned long mode;
	int err;

	if (!COMPAT_CFI)
		return 0;
	err = pl_symbols_init();
	if (err)
		return err;
	mode = pl_symbol_try("cfi_mode");
	if (!mode || !compat_cfi_is_off(mode))
		return pl_refuse("this kernel checks whom its indirect calls reach (CONFIG_CFI), which traps those of functions that are not its own (boot with cfi=off)");
	return 0;
}

/* ---- interrupt controller ---- */

/* Context: any CPU, from on_each_cpu(). */
static void look_for_extint(void *found)
{
	u32 lvt0 = pl_apic->read(APIC_LVT0);

	if (!(lvt0 & APIC_LVT_MASKED) && GET_APIC_DELIVERY_MODE(lvt0) == APIC_MODE_EXTINT)
		WRITE_ONCE(*(bool *)found, true);
}

int pl_machine_check_apic(void)
{
	bool found = false;

	/* Such an interrupt is not in service at the APIC, so an EOI would end another. */
	on_each_cpu(look_for_extint, &found, 1);
	if (found && nr_legacy_irqs())
		return pl_refuse("interrupts come from the 8259 (noapic?), not from an I/O APIC");
	return 0;
}

/* ---- clock ---- */

static const char *clock_fault(void)
{
	if (!tsc_khz)
		return "the TSC's frequency is not known";
	if (check_tsc_unstable())
		return "Linux has found the TSC unstable, and RT has no other clock";
	/* A hypervisor may keep it steady and not say so. */
	if (!boot_cpu_has(X86_FEATURE_HYPERVISOR) && (!boot_cpu_has(X86_FEATURE_CONSTANT_TSC) ||
						      !boot_cpu_has(X86_FEATURE_NONSTOP_TSC)))
		return "this CPU's TSC changes its rate or stops in idle, and RT has no other clock";
	return NULL;
}

/* Until Linux has compared the TSC with a chip's clock for a second, its rate is a guess. */
static bool rate_is_final(const struct clocksource *early)
{
	return boot_cpu_has(X86_FEATURE_TSC_KNOWN_FREQ) || list_empty(&early->list);
}

int pl_machine_find_clock(void)
{
	const struct clocksource *early = (void *)pl_symbol("clocksource_tsc_early");
	const char *fault;

	if (!early)
		return -EOPNOTSUPP;
	for (int waited = 0; !rate_is_final(early); waited += CLOCK_POLL_MS) {
		if (waited >= CLOCK_WAIT_MS)
			return pl_refuse("Linux is still measuring the TSC's rate (clocksource tsc-early)");
		msleep(CLOCK_POLL_MS);
	}
	fault = clock_fault();
	if (fault)
		return pl_refuse(fault);
	if (!boot_cpu_has(X86_FEATURE_CONSTANT_TSC))
		pr_warn("the hypervisor does not promise that the TSC keeps its rate, and RT has no other clock\n");
	pl_tsc_init(tsc_khz);
	return 0;
}

const char *pl_clock_name(void)
{
	return check_tsc_unstable() ? "tsc-unstable" : "tsc";
}
