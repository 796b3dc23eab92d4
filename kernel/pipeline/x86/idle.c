// SPDX-License-Identifier: GPL-2.0-only
/*
 * Idle without lost wake-ups.
 *
 * Linux idles with interrupts off, and they are off only softly. An interrupt that
 * comes between Linux's last look at its work and the CPU's going to sleep is logged,
 * and nobody would replay it until the next one. So what puts the CPU to sleep is entered with
 * interrupts hard off, after a look at the log. Three places of the kernel's text lead to
 * thunks.S for that:
 *
 *   "sti; hlt" in the kernel's safe halt
 *   cpuidle's call of its driver: mwait as an interrupt-break wakes at an interrupt, which is
 *       taken when the thunk enables them
 *   the call of arch_cpu_idle(), if that is "sti; mwait": called unstalled; its own sti is real
 *
 * Drivers' tables are left alone: ACPI fills in its own anew whenever the power supply changes.
 */
#include <linux/cpu.h>
#include <linux/cpuidle.h>
#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include "compat/compat.h"
#include "compat/idle.h"
#include "pipeline/control.h"
#include "pipeline/x86/client.h"
#include "pipeline/x86/idle.h"
#include "pipeline/x86/patch/kcall.h"
#include "pipeline/x86/patch/slots.h"
#include "pipeline/x86/patch/symbols.h"
#include "pipeline/x86/patch/texts.h"
#include "pipeline/x86/resident/tactus_core.h"

#define REX_B 0x41

static const u8 lfence[] = { 0x0f, 0xae, 0xe8 };

static bool by_mwait;		/* without a driver */

/* ---- which ---- */

/*
 * Only drivers whose states are known to wake at an interrupt that is hard off, and not to enable
 * interrupts before they sleep: mwait as interrupt-break, I/O-port C-states, hlt.
 *
 * Return: NULL, or what is wrong with it.
 */
static const char *driver_fault(const struct cpuidle_driver *driver)
{
	static const char *const known[] = { "intel_idle", "acpi_idle", "haltpoll" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(driver->name, known[i]))
			break;
	if (i == ARRAY_SIZE(known))
		return "is not known to wake at every interrupt";
	for (int state = 0; state < driver->state_count; state++)
		if (driver->states[state].flags & CPUIDLE_FLAG_TIMER_STOP &&
		    !boot_cpu_has(X86_FEATURE_ARAT))
			return "stops the APIC timer";
	return NULL;
}

static int check_arch_idle(void)
{
	static const char *const by_hlt[] = { "default_idle", "amd_e400_idle" };
	unsigned long idle;

	if (boot_cpu_has_bug(X86_BUG_AMD_APIC_C1E)) {
		pr_err("refused: this CPU's APIC timer stops in C1E; nothing was changed\n");
		return -EOPNOTSUPP;
	}
	idle = compat_idle_function(pl_symbol_try);
	by_mwait = idle && idle == pl_symbol_try("mwait_idle");
	if (!idle || by_mwait)
		return 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(by_hlt); i++)
		if (idle == pl_symbol_try(by_hlt[i]))
			return 0;
	pr_err("refused: the idle function %ps is unknown (boot with idle=halt); nothing was changed\n",
	       (void *)idle);
	return -EOPNOTSUPP;
}

int pl_idle_find(void)
{
	const struct cpuidle_driver *driver = cpuidle_get_driver();
	const char *fault = driver ? driver_fault(driver) : NULL;

	if (fault) {
		pr_err("refused: the idle driver %s %s (boot with idle=halt); nothing was changed\n",
		       driver->name, fault);
		return -EOPNOTSUPP;
	}
	return check_arch_idle();
}

/* ---- where ---- */

static bool is_thunk(unsigned long addr)
{
	const u8 *code = (const u8 *)addr;
	unsigned long start, size;
	char name[KSYM_NAME_LEN];

	if (pl_symbol_at(addr, &start, &size, name))
		return strstr(name, "x86_indirect_");
	/* Some are made at boot and have no name: one jump. */
	code += *code == REX_B;
	return code[0] == 0xff && (code[1] & 0xf8) == 0xe0;
}

/*
 * A call through memory, disp(%reg): what kernels without retpolines have. The thunk shifts the
 * stack, so not one off the stack.
 *
 * Return: the bytes of the instruction at @code, 5 or 6; 0 if it is something else.
 */
static unsigned int memory_call(const u8 *code)
{
	bool rex = *code == REX_B;
	const u8 *byte = code + rex;
	int bytes;

	if (byte[0] != 0xff || (byte[1] & 0x38) != 0x10)
		return 0;
	if (byte[1] >> 6 != 1 && byte[1] >> 6 != 2)
		return 0;
	if ((byte[1] & 7) == 4 && (byte[2] & 7) == 4 && !rex)
		return 0;
	bytes = pl_insn_length((unsigned long)code);
	return bytes == PL_CALL_BYTES || bytes == PL_KCALL_MOVE_BYTES ? bytes : 0;
}

/*
 * A call through a register: of a thunk that jumps there; or, made from it at boot on CPUs that
 * need none, the call itself, behind an lfence or before nops; or through memory.
 *
 * Return: its bytes, 5 or 6; 0 if it is something else.
 */
static unsigned int indirect_call(unsigned long addr)
{
	const u8 *code = (const u8 *)addr, *byte = code;
	unsigned int bytes;

	byte += *byte == PL_PREFIX_CS;
	if (*byte == PL_OP_CALL)
		return is_thunk(pl_call_target(byte)) ? byte + PL_CALL_BYTES - code : 0;
	bytes = memory_call(code);
	if (bytes)
		return bytes;
	byte = code;
	if (!memcmp(byte, lfence, sizeof(lfence)))
		byte += sizeof(lfence);
	byte += *byte == REX_B;
	if (byte[0] != 0xff || (byte[1] & 0xf8) != 0xd0)
		return 0;
	bytes = byte + 2 - code;
	/* Nops of one byte and more. */
	if (bytes < PL_CALL_BYTES && byte[2] != 0x90 && byte[2] != 0x66 && byte[2] != 0x0f)
		return 0;
	return max(bytes, PL_CALL_BYTES);
}

/* The one call through a register in cpuidle_enter_state() goes into the thunk, as it is. */
static int add_driver_call(void)
{
	unsigned long at = pl_symbol("cpuidle_enter_state"), start, size, found = 0;
	int length, err;

	if (!at || !pl_symbol_at(at, &start, &size, NULL))
		return -EOPNOTSUPP;
	for (; at < start + size; at += length) {
		length = indirect_call(at);
		if (length) {
			if (found)
				return pl_refuse("cpuidle_enter_state calls more than its driver");
			found = at;
		} else {
			length = pl_insn_length(at);
			if (length <= 0)
				return pl_refuse("cannot decode cpuidle_enter_state");
		}
	}
	if (!found)
		return pl_refuse("no call of the idle driver in cpuidle_enter_state");
	length = indirect_call(found);
	err = pl_kcall_move(pl_cpuidle_call, found, length);
	return err ?: pl_text_add(pl_kernel_text, found, PL_SLOT_MISC, PL_OP_CALL, pl_cpuidle,
				  length);
}

int pl_idle_add(void)
{
	unsigned long arch_idle;
	int err = IS_ENABLED(CONFIG_CPU_IDLE) ? add_driver_call() : 0;

	lockdep_assert_held(&pl_texts_mutex);
	if (err || !by_mwait)
		return err;
	arch_idle = pl_symbol("arch_cpu_idle");
	err = pl_kcall_bind(PL_KCALL_IDLE, arch_idle);
	if (err)
		return err;
	pl_mwait_target = pl_kcall(PL_KCALL_IDLE);
	err = pl_text_add_all_calls(pl_kernel_text, arch_idle, PL_SLOT_MISC, pl_mwait);
	return err ? min(err, 0) : pl_refuse("nobody calls arch_cpu_idle");
}

void pl_idle_recheck(void)
{
	static const struct cpuidle_driver *known;
	struct cpuidle_driver *driver = cpuidle_get_driver();
	const char *fault = driver && driver != known ? driver_fault(driver) : NULL;

	known = driver;
	if (fault)
		pr_warn("the idle driver %s, which came later, %s: Linux may sleep through interrupts\n",
			driver->name, fault);
}

const char *pl_idle_name(void)
{
	const struct cpuidle_driver *driver = cpuidle_get_driver();

	return driver ? driver->name : by_mwait ? "mwait" : "hlt";
}
