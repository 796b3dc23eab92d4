// SPDX-License-Identifier: GPL-2.0
/*
 * Switching the pipeline on and off: a transaction.
 *
 *   check the kernel, the CPUs, the idle loop, the timer
 *   find every slot in the kernel and in every module
 *   stop all CPUs, hardware interrupts off:
 *       every slot still as found? nobody pre-empted inside one?  else undo, refuse
 *       write the slots, hook the EOI, take the timers
 *
 * Nothing is written before the last step, and that step writes all or nothing.
 * Switching off is the same backwards; interrupts that wait for Linux are handed over.
 *
 * Locking: install_mutex around all of it; inside it the kernel's module_mutex while
 * the list of modules is read, and then stop_machine's CPU lock. The module notifier
 * takes install_mutex alone.
 */
#define pr_fmt(fmt) "tactus: " fmt

#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/static_call.h>
#include <linux/stop_machine.h>
#include <linux/sysfs.h>
#include <asm/apic.h>
#include <asm/desc.h>
#include <asm/irq_vectors.h>
#include <asm/sync_core.h>
#include <asm/trapnr.h>
#include "compat/compat.h"
#include "pipeline/core.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/idle.h"
#include "pipeline/x86/install.h"
#include "pipeline/x86/kcall.h"
#include "pipeline/x86/lapic.h"
#include "pipeline/x86/lines.h"
#include "pipeline/x86/slots.h"
#include "pipeline/x86/symbols.h"

#define FIRST_IRQ_VECTOR 0x20
#define LAST_EXCEPTION 0x1f
#define SWITCH_TRIES 100
#define SWITCH_RETRY_MS 10
#define TICK_WAIT_MS 5000
#define TICK_POLL_MS 50

struct apic *pl_apic;
const struct pl_client *pl_client;

static DEFINE_MUTEX(install_mutex);
static LIST_HEAD(texts);		/* of struct pl_text; the kernel's first */
static struct pl_text *kernel_text;
static struct mutex *kernel_module_mutex;
static struct list_head *kernel_modules;
static unsigned int nr_irq_gates, nr_exc_gates, nr_nmi_gates;
static u64 active_since_ns, pause_ns;
static atomic_t handed_back;

/* ---- EOI hook ---- */

#if COMPAT_EOI_STATIC_CALL
static void (*static_call_update_fn)(struct static_call_key *key, void *tramp, void *func);
static struct static_call_key *eoi_key;
static void *eoi_tramp;

static int eoi_find(void)
{
	static_call_update_fn = (void *)pl_symbol("__static_call_update");
	eoi_key = (void *)pl_symbol("__SCK__apic_call_eoi");
	eoi_tramp = (void *)pl_symbol("__SCT__apic_call_eoi");
	if (!static_call_update_fn || !eoi_key || !eoi_tramp)
		return -EOPNOTSUPP;
	pl_core.eoi = compat_apic_eoi_member(pl_apic);
	return 0;
}

/* Not inside stop_machine: it takes locks. pl_eoi passes through until active. */
static void eoi_before_on(void) { static_call_update_fn(eoi_key, eoi_tramp, pl_eoi); }
static void eoi_after_off(void) { static_call_update_fn(eoi_key, eoi_tramp, pl_core.eoi); }
static void eoi_switch(bool on) { }
static void eoi_forget(void) { }
#else
static struct pl_alias eoi_alias;

static int eoi_find(void)
{
	pl_core.eoi = compat_apic_eoi_member(pl_apic);
	return pl_alias_map(&eoi_alias, (unsigned long)&compat_apic_eoi_member(pl_apic),
			    sizeof(void *));
}

static void eoi_before_on(void) { }
static void eoi_after_off(void) { }

static void eoi_switch(bool on)
{
	*(void **)eoi_alias.to = on ? (void *)pl_eoi : pl_core.eoi;
}

static void eoi_forget(void)
{
	pl_alias_unmap(&eoi_alias);
}
#endif

/* ---- checks ---- */

static int refuse(const char *why)
{
	pr_err("refused: %s; nothing was changed\n", why);
	return -EOPNOTSUPP;
}

static int check_kernel(void)
{
	if (!IS_ENABLED(CONFIG_PARAVIRT_XXL))
		return refuse("this kernel is built without CONFIG_PARAVIRT_XXL, so its cli and sti cannot be found");
	if (boot_cpu_has(X86_FEATURE_XENPV))
		return refuse("this is a Xen PV guest, whose interrupts are the hypervisor's");
	if (compat_fred_enabled())
		return refuse("this CPU delivers interrupts by FRED, which is not handled yet");
	if (pl_core_abi != PL_CORE_ABI)
		return refuse("the resident tactus_core is of another version; reboot to replace it");
	return 0;
}

static int first_cpu_not_ready(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (!pl_lapic_ready(cpu))
			return cpu;
	return -1;
}

/*
 * In the first seconds after boot Linux's tick is still periodic: it becomes one-shot when
 * a clock has been found good enough for it. So a module loaded that early waits.
 */
static int check_ticks(void)
{
	int cpu = first_cpu_not_ready();

	for (int waited = 0; cpu >= 0 && waited < TICK_WAIT_MS; waited += TICK_POLL_MS) {
		msleep(TICK_POLL_MS);
		cpu = first_cpu_not_ready();
	}
	if (cpu < 0)
		return 0;
	pr_err("refused: CPU %d's tick is not the local APIC's one-shot timer; nothing was changed\n",
	       cpu);
	return -EOPNOTSUPP;
}

/* ---- the kernel's slots ---- */

/* One call in @symbol of @callee leads to @stub. Return: 0 or -errno. */
static int add_one_call(const char *symbol, const char *callee, enum pl_slot_kind kind,
			const void *stub)
{
	unsigned long at = pl_symbol(symbol), to = pl_symbol(callee), start, size;
	int found;

	if (!at || !to || !pl_symbol_at(at, &start, &size, NULL))
		return -EOPNOTSUPP;
	found = pl_text_add_calls(kernel_text, start, size, to, kind, stub);
	if (found == 1)
		return 0;
	if (found >= 0)
		pr_err("refused: %d calls of %s in %s, not one; nothing was changed\n",
		       found, callee, symbol);
	return found < 0 ? found : -EOPNOTSUPP;
}

static const void *stub_of(const char *stubs, unsigned int gate)
{
	return stubs + gate * PL_GATE_STUB_BYTES;
}

/* @vector: 0 if the entry code passes it */
static int add_irq_gate(const char *entry, const char *handler, u8 vector)
{
	unsigned int gate = nr_irq_gates;
	int err;

	if (gate == PL_MAX_IRQ_GATES)
		return refuse("more interrupt gates than expected");
	err = add_one_call(entry, handler, PL_SLOT_IRQ, stub_of(pl_irq_stubs, gate));
	if (err)
		return err;
	err = pl_kcall_bind(PL_KCALL_GATE + gate, pl_symbol(handler));
	if (err)
		return err;
	pl_core.gate_vector[gate] = vector;
	pl_core.irq_call[gate] = pl_kcall(PL_KCALL_GATE + gate);
	nr_irq_gates++;
	return 0;
}

struct stub_range {
	unsigned long start, size;
};

static int find_stubs(const char *symbol, struct stub_range *range)
{
	unsigned long at = pl_symbol(symbol);

	if (!at || !pl_symbol_at(at, &range->start, &range->size, NULL))
		return -EOPNOTSUPP;
	return 0;
}

static bool leads_into(const struct stub_range *range, unsigned long addr)
{
	return addr - range->start < range->size;
}

static int odd_gate(unsigned int vector, unsigned long addr)
{
	pr_err("refused: vector %#x leads to %pS, which is unknown; nothing was changed\n",
	       vector, (void *)addr);
	return -EOPNOTSUPP;
}

/* asm_sysvec_foo calls sysvec_foo, asm_exc_foo calls exc_foo: the name behind "asm_". */
static const char *handler_name(const char *entry)
{
	return entry + strlen("asm_");
}

/*
 * Follow the IDT: each vector leads to a common stub, to the spurious stub (then the
 * vector is unused), or to an entry of its own.
 */
static int find_irq_gates(const gate_desc *idt)
{
	struct stub_range device, unused;
	char entry[KSYM_NAME_LEN];
	int err;

	err = find_stubs("irq_entries_start", &device);
	err = err ?: find_stubs("spurious_entries_start", &unused);
	err = err ?: add_irq_gate("asm_common_interrupt", "common_interrupt", 0);
	err = err ?: add_irq_gate("asm_spurious_interrupt", "spurious_interrupt", 0);
	if (err)
		return err;
	pl_core.oob_vector = LOCAL_TIMER_VECTOR;

	for (unsigned int vector = FIRST_IRQ_VECTOR; vector < PL_VECTORS; vector++) {
		unsigned long at = gate_offset(&idt[vector]), start, size;

		if (leads_into(&device, at)) {
			pl_core.vector_call[vector] = pl_core.irq_call[0];
			continue;
		}
		if (leads_into(&unused, at)) {
			pl_core.vector_call[vector] = pl_core.irq_call[1];
			/* The highest free one, in the APIC's highest class, is ours. */
			if (vector > LOCAL_TIMER_VECTOR)
				pl_core.oob_vector = vector;
			continue;
		}
		if (vector == IA32_SYSCALL_VECTOR)
			continue;
		if (!pl_symbol_at(at, &start, &size, entry) || start != at ||
		    !strstarts(entry, "asm_sysvec_"))
			return odd_gate(vector, at);
		err = add_irq_gate(entry, handler_name(entry), vector);
		if (err)
			return err;
		pl_core.vector_call[vector] = pl_core.irq_call[nr_irq_gates - 1];
	}
	return 0;
}

static int add_exc_gate(const char *entry)
{
	unsigned int gate = nr_exc_gates;
	const char *handler = handler_name(entry);
	int err;

	if (gate == PL_MAX_EXC_GATES)
		return refuse("more exception gates than expected");
	err = add_one_call(entry, handler, PL_SLOT_EXC, stub_of(pl_exc_stubs, gate));
	if (err)
		return err;
	err = pl_kcall_bind(PL_KCALL_EXCEPTION + gate, pl_symbol(handler));
	if (err)
		return err;
	pl_core.exc_call[gate] = pl_kcall(PL_KCALL_EXCEPTION + gate);
	nr_exc_gates++;
	return 0;
}

/* Left over from boot: the CPU, or this kernel, does not have that exception. */
static bool never_set(unsigned long handler)
{
	unsigned long start, size;
	char name[KSYM_NAME_LEN];

	return pl_symbol_at(handler, &start, &size, name) &&
	       !strcmp(name, "early_idt_handler_array");
}

/* Exceptions on stacks of their own: all calls of the handler, in all given pieces. */
static int add_nmi_gate(const gate_desc *idt, const char *handler, const char *const pieces[])
{
	unsigned int gate = nr_nmi_gates;
	unsigned long callee;
	int found = 0, err;

	if (never_set(gate_offset(idt)))
		return 0;
	callee = pl_symbol(handler);
	if (gate == PL_MAX_NMI_GATES)
		return refuse("more NMI gates than expected");
	err = pl_kcall_bind(PL_KCALL_NMI + gate, callee);
	if (err)
		return err;
	for (; *pieces; pieces++) {
		unsigned long at = pl_symbol_try(*pieces), start, size;

		if (!at || !pl_symbol_at(at, &start, &size, NULL))
			continue;
		err = pl_text_add_calls(kernel_text, start, size, callee, PL_SLOT_NMI,
					stub_of(pl_nmi_stubs, gate));
		if (err < 0)
			return err;
		found += err;
	}
	if (!found) {
		pr_err("refused: no call of %s found; nothing was changed\n", handler);
		return -EOPNOTSUPP;
	}
	pl_core.nmi_call[gate] = pl_kcall(PL_KCALL_NMI + gate);
	nr_nmi_gates++;
	return 0;
}

static int find_exception_gates(const gate_desc *idt)
{
	/* The NMI entry holds labels that the symbol table takes for functions. */
	static const char *const nmi[] = { "asm_exc_nmi", "nested_nmi", "first_nmi",
					   "repeat_nmi", "end_repeat_nmi", NULL };
	static const char *const debug[] = { "asm_exc_debug", NULL };
	static const char *const mce[] = { "asm_exc_machine_check", NULL };
	char entry[KSYM_NAME_LEN];
	int err;

	for (unsigned int vector = 0; vector <= LAST_EXCEPTION; vector++) {
		unsigned long at = gate_offset(&idt[vector]), start, size;

		switch (vector) {
		case X86_TRAP_DB:
		case X86_TRAP_NMI:
		case X86_TRAP_MC:
			continue;	/* below */
		case X86_TRAP_DF:	/* does not return */
		case X86_TRAP_VC:	/* encrypted guests' own */
			continue;
		}
		if (!at)
			continue;
		if (never_set(at))
			continue;
		if (!pl_symbol_at(at, &start, &size, entry) || start != at ||
		    !strstarts(entry, "asm_exc_"))
			return odd_gate(vector, at);
		err = add_exc_gate(entry);
		if (err)
			return err;
	}
	err = add_nmi_gate(&idt[X86_TRAP_NMI], "exc_nmi", nmi);
	err = err ?: add_nmi_gate(&idt[X86_TRAP_DB], "exc_debug", debug);
	return err ?: add_nmi_gate(&idt[X86_TRAP_MC], "exc_machine_check", mce);
}

static const struct {
	const char *function;
	u8 pattern[8], bytes;
	const char *target;
} jumps[] = {
	/* sti; hlt */
	{ COMPAT_SAFE_HALT, { 0xfb, 0xf4 }, 2, pl_safe_halt },
	/* swapgs; wrgsbase %rdi */
	{ "__wrgsbase_inactive", { 0x0f, 0x01, 0xf8, 0xf3, 0x48, 0x0f, 0xae, 0xdf }, 8,
	  pl_wrgsbase },
	/* swapgs; rdgsbase %rax */
	{ "__rdgsbase_inactive", { 0x0f, 0x01, 0xf8, 0xf3, 0x48, 0x0f, 0xae, 0xc8 }, 8,
	  pl_rdgsbase },
	/* mov %edi,%eax; out %al,$0x70; in $0x71,%al */
	{ "rtc_cmos_read", { 0x89, 0xf8, 0xe6, 0x70, 0xe4, 0x71 }, 6, pl_cmos_read },
	/* mov %esi,%eax; out %al,$0x70; mov %edi,%eax; out %al,$0x71 */
	{ "rtc_cmos_write", { 0x89, 0xf0, 0xe6, 0x70, 0x89, 0xf8, 0xe6, 0x71 }, 8,
	  pl_cmos_write },
};

static int find_misc(void)
{
	int err;

	for (unsigned int i = 0; i < ARRAY_SIZE(jumps); i++) {
		unsigned long at = pl_symbol(jumps[i].function), start, size;

		if (!at || !pl_symbol_at(at, &start, &size, NULL))
			return -EOPNOTSUPP;
		at = pl_text_find(start, size, jumps[i].pattern, jumps[i].bytes);
		if (!at) {
			pr_err("refused: %s is not the code it was expected to be; nothing was changed\n",
			       jumps[i].function);
			return -EOPNOTSUPP;
		}
		err = pl_text_add(kernel_text, at, PL_SLOT_MISC, 0xe9, jumps[i].target, 5);
		if (err)
			return err;
	}
	err = pl_kcall_bind(PL_KCALL_LOAD_GS, pl_symbol("asm_load_gs_index"));
	pl_load_gs_target = pl_kcall(PL_KCALL_LOAD_GS);
	return err ?: add_one_call("native_load_gs_index", "asm_load_gs_index", PL_SLOT_MISC,
				   pl_load_gs_index);
}

static int find_kernel(void)
{
	unsigned long start = pl_symbol("_stext"), end = pl_symbol("_etext");
	struct desc_ptr idt;
	int err;

	if (!start || !end)
		return -EOPNOTSUPP;
	kernel_text = pl_text_open(NULL, start, end - start);
	if (IS_ERR(kernel_text))
		return PTR_ERR(kernel_text);
	list_add(&kernel_text->node, &texts);
	err = pl_text_scan(kernel_text);
	if (err)
		return err;
	if (!kernel_text->kinds[PL_SLOT_CLI] || !kernel_text->kinds[PL_SLOT_STI] ||
	    !kernel_text->kinds[PL_SLOT_SAVE_FL])
		return refuse("no cli, sti or save_fl slots found in the kernel");
	nr_irq_gates = nr_exc_gates = nr_nmi_gates = 0;
	store_idt(&idt);
	err = find_irq_gates((const gate_desc *)idt.address);
	err = err ?: find_exception_gates((const gate_desc *)idt.address);
	return err ?: find_misc();
}

/* ---- modules ---- */

static bool module_known(const struct module *mod)
{
	const struct pl_text *text;

	list_for_each_entry(text, &texts, node)
		if (text->mod == mod)
			return true;
	return false;
}

static void forget_module(const struct module *mod, bool init_only)
{
	unsigned long init_base, init_bytes;
	struct pl_text *text, *next;

	compat_module_text(mod, COMPAT_TEXT_INIT, &init_base, &init_bytes);
	list_for_each_entry_safe(text, next, &texts, node) {
		if (text->mod != mod || (init_only && text->base != init_base))
			continue;
		list_del(&text->node);
		pl_text_close(text);
	}
}

/* Context: install_mutex held. */
static int find_module_slots(struct module *mod, bool with_init)
{
	int err = 0;

	/* The resident core's own interrupt flag handling is hard by design. */
	if (!strcmp(mod->name, "tactus_core"))
		return 0;
	for (int which = 0; which < (with_init ? COMPAT_TEXTS : 1) && !err; which++) {
		unsigned long base, bytes;
		struct pl_text *text;

		compat_module_text(mod, which, &base, &bytes);
		if (!bytes)
			continue;
		text = pl_text_open(mod, base, bytes);
		if (IS_ERR(text)) {
			err = PTR_ERR(text);
			break;
		}
		list_add_tail(&text->node, &texts);
		err = pl_text_scan(text);
	}
	if (err)
		forget_module(mod, false);
	return err;
}

static int find_modules(void)
{
	struct module *mod;
	int err = 0;

	mutex_lock(kernel_module_mutex);
	list_for_each_entry(mod, kernel_modules, list) {
		/* One still being linked will meet the notifier. */
		if (mod->state == MODULE_STATE_UNFORMED || module_known(mod))
			continue;
		err = find_module_slots(mod, mod->state == MODULE_STATE_COMING);
		if (err)
			break;
	}
	mutex_unlock(kernel_module_mutex);
	return err;
}

/* A module that comes is patched before its first instruction runs, or not let in. */
static int module_coming(struct module *mod)
{
	const struct pl_slot *odd;
	struct pl_text *text;
	unsigned long flags;
	int err;

	if (module_known(mod))
		return 0;
	err = find_module_slots(mod, true);
	if (err || !pl_core.active)
		return err;
	list_for_each_entry(text, &texts, node) {
		if (text->mod != mod)
			continue;
		odd = pl_text_check(text, false);
		if (odd) {
			pr_err("module %s refused: its text changes at %pS\n", mod->name,
			       (void *)odd->addr);
			forget_module(mod, false);
			return -EBUSY;
		}
	}
	flags = pl_hard_save();
	list_for_each_entry(text, &texts, node)
		if (text->mod == mod)
			pl_text_write(text, true);
	pl_hard_restore(flags);
	return 0;
}

static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;
	int err = 0;

	mutex_lock(&install_mutex);
	switch (event) {
	case MODULE_STATE_COMING:
		err = module_coming(mod);
		break;
	case MODULE_STATE_LIVE:
		forget_module(mod, true);	/* its init text is about to be freed */
		if (pl_core.active)
			pl_idle_recheck();
		break;
	case MODULE_STATE_GOING:
		forget_module(mod, false);
		break;
	}
	mutex_unlock(&install_mutex);
	return notifier_from_errno(err);
}

static struct notifier_block module_notifier = { .notifier_call = module_event };

/* ---- who stands where they must not ---- */

/* Is @addr inside a slot, behind its first instruction? Then it cannot be rewritten now. */
static bool inside_slot(unsigned long addr)
{
	const struct pl_text *text;

	list_for_each_entry(text, &texts, node) {
		unsigned int low = 0, high = pl_text_scanned(text);

		if (addr - text->base >= text->bytes)
			continue;
		while (low < high) {
			unsigned int middle = (low + high) / 2;

			if (text->slots[middle].addr < addr)
				low = middle + 1;
			else
				high = middle;
		}
		return low && addr - text->slots[low - 1].addr < text->slots[low - 1].bytes;
	}
	return false;
}

/*
 * A task pre-empted between the two instructions of a save_fl slot would come back
 * into the middle of our call; one pre-empted at the start of the soft cli would,
 * after the switch-off, come back to a cli that does nothing. Only a task that is on
 * a run queue and not running can have been pre-empted (its state says nothing: it may
 * have been about to sleep); its stack is searched for such an address. That finds too
 * much rather than too little.
 *
 * Context: all CPUs stopped.
 */
static bool somebody_inside(bool turning_on)
{
	struct task_struct *group, *task;

	if (!IS_ENABLED(CONFIG_PREEMPTION))
		return false;
	for_each_process_thread(group, task) {
		unsigned long *word, *end;

		if (task->on_rq && !task->on_cpu && task_stack_page(task)) {
			word = (unsigned long *)READ_ONCE(task->thread.sp);
			end = (unsigned long *)((char *)task_stack_page(task) + THREAD_SIZE);
			if (word < (unsigned long *)task_stack_page(task) || word > end)
				continue;
			for (; word < end; word++) {
				/* Any word: also those that a sanitizer guards. */
				unsigned long value = READ_ONCE_NOCHECK(*word);

				if (turning_on ? inside_slot(value) : value == (unsigned long)pl_cli)
					return true;
			}
		}
	}
	return false;
}

/* ---- the switch-over ---- */

struct switch_over {
	bool on;
	atomic_t arrived;	/* CPUs that stand still */
	int done;		/* the last one has decided and written */
	int err;
	const struct pl_slot *odd;
};

static int write_all(struct switch_over *s)
{
	struct pl_text *text;

	list_for_each_entry(text, &texts, node) {
		s->odd = pl_text_check(text, !s->on);
		if (s->odd)
			return -EBUSY;
	}
	if (somebody_inside(s->on))
		return -EAGAIN;
	list_for_each_entry(text, &texts, node)
		pl_text_write(text, s->on);
	eoi_switch(s->on);
	pl_core.active = s->on;
	return 0;
}

/* Give Linux natively what it has not been given yet. Context: switched off, this CPU. */
static void hand_over(void)
{
	struct pl_cpu *cpu = this_cpu_ptr(&pl_cpu);
	int vector;

	/* Level-triggered: let the line fire again. */
	while ((vector = pl_vecset_top(&cpu->held)) >= 0) {
		pl_vecset_del(&cpu->held, vector);
		pl_vecset_del(&cpu->owed, vector);
		pl_vecset_del(&cpu->pending, vector);
		pl_ack();
		atomic_inc(&handed_back);
	}
	for (vector = 0; vector < PL_VECTORS; vector++) {
		if (!cpu->masked[vector])
			continue;
		pl_vecset_del(&cpu->pending, vector);
		pl_line_unmask(cpu->masked[vector], vector);
		cpu->masked[vector] = NULL;
		atomic_inc(&handed_back);
	}
	/* Edge-triggered: send it again. */
	while ((vector = pl_vecset_top(&cpu->pending)) >= 0) {
		pl_vecset_del(&cpu->pending, vector);
		pl_apic->send_IPI_self(vector);
		atomic_inc(&handed_back);
	}
	__this_cpu_write(pl_any, 0);
}

static int switch_cpu(void *arg)
{
	unsigned long flags = pl_hard_save();
	struct switch_over *s = arg;

	/* No CPU comes or goes meanwhile: stop_machine() holds the CPU lock. */
	if (atomic_inc_return(&s->arrived) == num_online_cpus()) {
		s->err = write_all(s);
		smp_store_release(&s->done, 1);
	} else {
		/* Pairs with the release above: the slots are written. */
		while (!smp_load_acquire(&s->done))
			cpu_relax();
	}
	sync_core();
	if (s->err) {
		pl_hard_restore(flags);
		return 0;
	}
	/*
	 * The stopper has interrupts off by the old rules and will put them on by the
	 * new ones. Hardware interrupts stay off until then.
	 */
	if (s->on) {
		__this_cpu_write(pl_vif, 0);
		pl_lapic_take();
	} else {
		__this_cpu_write(pl_vif, 1);
		pl_lapic_release();
		hand_over();
	}
	return 0;
}

static int switch_over(bool on)
{
	struct switch_over s;
	u64 start;

	for (int tries = 0; tries < SWITCH_TRIES; tries++) {
		s = (struct switch_over){ .on = on };
		start = ktime_get_ns();
		stop_machine(switch_cpu, &s, cpu_online_mask);
		pause_ns = ktime_get_ns() - start;
		if (s.err != -EAGAIN)
			break;
		msleep(SWITCH_RETRY_MS);
	}
	if (s.err == -EBUSY)
		pr_err("%s: the text at %pS was changed by somebody else; nothing was changed\n",
		       on ? "refused" : "stays active", (void *)s.odd->addr);
	else if (s.err == -EAGAIN)
		pr_err("%s: a task keeps being pre-empted inside a slot; nothing was changed\n",
		       on ? "refused" : "stays active");
	return s.err == -EAGAIN ? -EBUSY : s.err;
}

/* ---- CPUs that come and go ---- */

static int hotplug_state, online_state;

static int refuse_hotplug(unsigned int cpu)
{
	if (!READ_ONCE(pl_core.active))
		return 0;
	pr_warn("CPU %u: no CPU can come or go while the pipeline is active\n", cpu);
	return -EBUSY;
}

/* ---- install, remove ---- */

static void forget_all(void)
{
	struct pl_text *text, *next;

	list_for_each_entry_safe(text, next, &texts, node) {
		list_del(&text->node);
		pl_text_close(text);
	}
	kernel_text = NULL;
	eoi_forget();
}

static int find_all(void)
{
	struct apic **apic_ptr;
	int err;

	err = check_kernel();
	err = err ?: pl_symbols_init();
	err = err ?: pl_idle_find();
	if (err)
		return err;
	apic_ptr = (struct apic **)pl_symbol("apic");
	kernel_module_mutex = (struct mutex *)pl_symbol("module_mutex");
	kernel_modules = (struct list_head *)pl_symbol("modules");
	if (!apic_ptr || !kernel_module_mutex || !kernel_modules)
		return -EOPNOTSUPP;
	pl_apic = *apic_ptr;
	pl_core.apic_read = pl_apic->read;
	err = eoi_find();
	err = err ?: pl_lines_find();
	err = err ?: pl_lapic_find();
	err = err ?: check_ticks();
	return err ?: find_kernel();
}

int pl_install(const struct pl_client *client)
{
	int err;

	mutex_lock(&install_mutex);
	pl_client = client;
	pl_core.hooks = &pl_line_hooks;
	err = find_all();
	mutex_unlock(&install_mutex);
	if (err)
		goto forget;

	err = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "tactus:active", refuse_hotplug,
					NULL);
	if (err < 0)
		goto forget;
	hotplug_state = err;
	err = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "tactus:online", NULL,
					refuse_hotplug);
	if (err < 0)
		goto hotplug;
	online_state = err;

	/* Modules that come from here on wait for us, then meet an active pipeline. */
	err = register_module_notifier(&module_notifier);
	if (err)
		goto online;
	mutex_lock(&install_mutex);
	err = find_modules();
	if (!err) {
		pl_core_pin();
		eoi_before_on();
		pl_idle_wrap();
		err = switch_over(true);
		if (err) {
			pl_idle_unwrap();
			eoi_after_off();
		} else {
			active_since_ns = ktime_get_boottime_ns();
		}
	}
	mutex_unlock(&install_mutex);
	if (!err)
		return 0;

	unregister_module_notifier(&module_notifier);
online:
	cpuhp_remove_state_nocalls(online_state);
hotplug:
	cpuhp_remove_state_nocalls(hotplug_state);
forget:
	mutex_lock(&install_mutex);
	forget_all();
	mutex_unlock(&install_mutex);
	return err;
}

/* Return from this with interrupts on, and no shot on our vector can be in flight any more. */
static void use_vector(void *vector)
{
	unsigned long flags = pl_hard_save();

	pl_lapic_use_vector((unsigned long)vector);
	pl_hard_restore(flags);
}

int pl_remove(void)
{
	int err;

	mutex_lock(&install_mutex);
	atomic_set(&handed_back, 0);
	on_each_cpu(use_vector, (void *)LOCAL_TIMER_VECTOR, 1);
	err = switch_over(false);
	if (err) {
		on_each_cpu(use_vector, (void *)(unsigned long)pl_core.oob_vector, 1);
	} else {
		pl_idle_unwrap();
		eoi_after_off();
	}
	mutex_unlock(&install_mutex);
	if (err)
		return err;
	unregister_module_notifier(&module_notifier);
	cpuhp_remove_state_nocalls(online_state);
	cpuhp_remove_state_nocalls(hotplug_state);
	mutex_lock(&install_mutex);
	forget_all();
	mutex_unlock(&install_mutex);
	return 0;
}

void pl_get_summary(struct pl_summary *summary)
{
	const struct pl_text *text;

	*summary = (struct pl_summary){};
	mutex_lock(&install_mutex);
	summary->active = pl_core.active;
	summary->since_ns = active_since_ns;
	summary->pause_ns = pause_ns;
	summary->handed_back = atomic_read(&handed_back);
	list_for_each_entry(text, &texts, node) {
		summary->cli += text->kinds[PL_SLOT_CLI];
		summary->cli_hard += text->kinds[PL_SLOT_CLI_HARD];
		summary->sti += text->kinds[PL_SLOT_STI];
		summary->save_fl += text->kinds[PL_SLOT_SAVE_FL];
		summary->irq += text->kinds[PL_SLOT_IRQ];
		summary->exc += text->kinds[PL_SLOT_EXC];
		summary->nmi += text->kinds[PL_SLOT_NMI];
		summary->misc += text->kinds[PL_SLOT_MISC];
		summary->modules += text->mod != NULL;
	}
	mutex_unlock(&install_mutex);
}

ssize_t pl_stats_show(char *buf)
{
	ssize_t bytes = sysfs_emit(buf, "cpu\tdirect\tlogged\treplayed\toob\thidden\teoi_swallowed\teoi_held\tlines_masked\n");
	int cpu;

	for_each_online_cpu(cpu) {
		const struct pl_stats *s = &per_cpu(pl_cpu, cpu).stats;

		bytes += sysfs_emit_at(buf, bytes, "%d\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\n",
				       cpu, s->direct, s->logged, s->replayed, s->oob, s->hidden,
				       s->eoi_swallowed, s->eoi_held, s->lines_masked);
	}
	return bytes;
}

ssize_t pl_slots_read(char *buf, loff_t offset, size_t count)
{
	unsigned int first = div_u64(offset, PL_SLOT_LINE), i;
	size_t done = 0;

	if (offset % PL_SLOT_LINE)
		return -EINVAL;
	mutex_lock(&install_mutex);
	for (i = first; kernel_text && i < kernel_text->count; i++) {
		const struct pl_slot *slot = &kernel_text->slots[i];
		char line[PL_SLOT_LINE + 1];

		if (done + PL_SLOT_LINE > count)
			break;
		scnprintf(line, sizeof(line), "%016lx %-8s\n", slot->addr,
			  pl_slot_name[slot->kind]);
		memcpy(buf + done, line, PL_SLOT_LINE);
		done += PL_SLOT_LINE;
	}
	mutex_unlock(&install_mutex);
	return done;
}
