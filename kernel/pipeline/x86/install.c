// SPDX-License-Identifier: GPL-2.0-only
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
 * Switching off is the same backwards, see steps[]; interrupts that wait for Linux are handed over.
 *
 * Locking: pl_texts_mutex around all of it, inside it stop_machine's CPU lock.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/smp.h>
#include <linux/sysfs.h>
#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include "compat/table.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/control.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/irq/apichook.h"
#include "pipeline/x86/trap.h"
#include "pipeline/x86/patch/gates.h"
#include "pipeline/x86/hotplug.h"
#include "pipeline/x86/idle.h"
#include "pipeline/x86/client.h"
#include "pipeline/x86/irq/lapic.h"
#include "pipeline/x86/irq/lines.h"
#include "pipeline/x86/machine.h"
#include "pipeline/x86/patch/nmigate.h"
#include "pipeline/x86/irq/oneshot.h"
#include "pipeline/x86/irq/stall.h"
#include "pipeline/x86/patch/patchers.h"
#include "pipeline/x86/ring3/ring3.h"
#include "pipeline/x86/patch/slots.h"
#include "pipeline/x86/switchover.h"
#include "pipeline/x86/patch/symbols.h"
#include "pipeline/x86/patch/texts.h"

static u64 active_since_ns;

/* ---- checks ---- */

static int check_ticks(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (pl_tick_wait(cpu))
			continue;
		pr_err("refused: CPU %d's tick is not the local APIC's one-shot timer; nothing was changed\n",
		       cpu);
		return -EOPNOTSUPP;
	}
	return 0;
}

/* ---- install, remove ---- */

static const char *timer_wanted;

static int find_apic(void)
{
	struct apic **apic = (struct apic **)pl_symbol("apic");

	if (!apic)
		return -EOPNOTSUPP;
	pl_apic = *apic;
	return 0;
}

static int find_timer(void)
{
	return pl_oneshot_find(timer_wanted);
}

static int find_kernel(void)
{
	int err;

	pl_patchers_hold();
	err = pl_patchers_check();
	err = err ?: pl_texts_find_kernel();
	err = err ?: pl_gates_find();
	err = err ?: pl_idle_add();
	pl_patchers_let();
	if (err)
		pl_texts_forget();
	return err;
}

static int find_modules(void)
{
	int err;

	pl_patchers_hold();
	err = pl_patchers_check();
	err = err ?: pl_texts_find_modules();
	err = err ?: pl_texts_fence();
	pl_patchers_let();
	return err;
}

static int hook_apic(void)
{
	pl_core_pin();
	pl_core.hooks = pl_line_hooks();
	pl_apichook_before_on();
	return 0;
}

static int switch_on(void)
{
	int err = pl_switch_over(true);

	if (!err) {
		active_since_ns = ktime_get_boottime_ns();
		pr_info("RT's vector is %#x\n", pl_core.oob_vector);
	}
	return err;
}

/* Return: 0, or -EBUSY after a line in the log: it stays on. */
static int switch_off(void)
{
	int err;

	mutex_lock(&pl_texts_mutex);
	atomic_set(&pl_handed_edge, 0);
	atomic_set(&pl_handed_level, 0);
	on_each_cpu(pl_use_vector, (void *)LOCAL_TIMER_VECTOR, 1);
	err = pl_switch_over(false);
	if (err)
		on_each_cpu(pl_use_vector, (void *)(unsigned long)pl_core.oob_vector, 1);
	mutex_unlock(&pl_texts_mutex);
	return err;
}

/*
 * The way up; the way down is the same backwards. A @start that fails has changed nothing.
 * @locked: pl_texts_mutex is held, from one such step to the next without a gap.
 * @looks: changes nothing of Linux's; all of these come first, and are a dry run
 */
static const struct step {
	int (*start)(void);
	void (*stop)(void);
	bool locked, looks;
} steps[] = {
	{ pl_machine_check, .looks = true },
	{ pl_machine_check_calls, .looks = true },
	{ pl_symbols_init, .looks = true },
	{ pl_machine_find_clock, .looks = true },
	{ pl_slots_find, .looks = true },
	{ pl_idle_find, .looks = true },
	{ find_apic, .looks = true },
	{ pl_machine_check_apic, .looks = true },
	{ pl_apichook_find, pl_apichook_forget, .looks = true },
	{ pl_fault_find, .looks = true },
	{ pl_lines_find, pl_lines_exit, .looks = true },
	{ find_timer, .looks = true },
	{ pl_patchers_find, .looks = true },
	{ pl_ring3_find, .looks = true },
	{ check_ticks, .looks = true },
	{ pl_lapic_find_rate, .looks = true },
	{ find_kernel, pl_texts_forget, .locked = true, .looks = true },
	{ pl_nmi_gate_init, pl_nmi_gate_exit },
	{ pl_hotplug_watch, pl_hotplug_ignore },
	/* Modules that come from here on wait for us, then meet an active pipeline. */
	{ pl_texts_watch_modules, pl_texts_ignore_modules },
	{ pl_stall_watch, pl_stall_ignore },
	{ find_modules, NULL, .locked = true },
	{ hook_apic, pl_apichook_after_off, .locked = true },
	{ switch_on, NULL, .locked = true },	/* the way back may fail: switch_off() */
};

static void lock_texts(bool *locked, bool wanted)
{
	if (wanted && !*locked)
		mutex_lock(&pl_texts_mutex);
	else if (!wanted && *locked)
		mutex_unlock(&pl_texts_mutex);
	*locked = wanted;
}

static void stop_steps(unsigned int count)
{
	bool locked = false;

	while (count--) {
		lock_texts(&locked, steps[count].locked);
		if (steps[count].stop)
			steps[count].stop();
	}
	lock_texts(&locked, false);
}

static int start_steps(unsigned int count)
{
	bool locked = false;
	int err = 0;

	for (unsigned int i = 0; i < count; i++) {
		lock_texts(&locked, steps[i].locked);
		err = steps[i].start();
		if (err) {
			count = i;
			break;
		}
	}
	lock_texts(&locked, false);
	if (err)
		stop_steps(count);
	return err;
}

int pl_install(const struct pl_client *client, const char *timer)
{
	pl_client = client;
	pl_oneshot_serve(client->timer);
	timer_wanted = timer;
	return start_steps(ARRAY_SIZE(steps));
}

static unsigned int count_looks(void)
{
	unsigned int count = 0;

	while (steps[count].looks)
		count++;
	return count;
}

int pl_dry_run(const char *timer)
{
	int err;

	timer_wanted = timer;
	err = start_steps(count_looks());
	if (err)
		return err;
	mutex_lock(&pl_texts_mutex);
	pl_patchers_hold();
	err = pl_patchers_check();
	err = err ?: pl_texts_find_modules();
	pl_patchers_let();
	mutex_unlock(&pl_texts_mutex);
	if (err)
		pl_dry_end();
	return err;
}

void pl_dry_end(void)
{
	stop_steps(count_looks());
}

int pl_remove(void)
{
	int err = switch_off();

	if (!err)
		stop_steps(ARRAY_SIZE(steps));
	return err;
}

void pl_get_summary(struct pl_summary *summary)
{
	const struct pl_text *text;

	*summary = (struct pl_summary){};
	mutex_lock(&pl_texts_mutex);
	summary->active = pl_core.active;
	summary->since_ns = active_since_ns;
	summary->pause_ns = pl_pause_ns;
	summary->handed_edge = atomic_read(&pl_handed_edge);
	summary->handed_level = atomic_read(&pl_handed_level);
	list_for_each_entry(text, &pl_texts, node) {
		summary->cli += text->kinds[PL_SLOT_CLI];
		summary->cli_hard += text->kinds[PL_SLOT_CLI_HARD];
		summary->sti += text->kinds[PL_SLOT_STI];
		summary->save_fl += text->kinds[PL_SLOT_SAVE_FL];
		summary->irq += text->kinds[PL_SLOT_IRQ];
		summary->exc += text->kinds[PL_SLOT_EXC];
		summary->nmi += text->kinds[PL_SLOT_NMI];
		summary->misc += text->kinds[PL_SLOT_MISC];
		summary->sys += text->kinds[PL_SLOT_SYS];
		summary->modules += !!text->mod;
	}
	mutex_unlock(&pl_texts_mutex);
}

void pl_stats_show(struct rt_table *table)
{
	int cpu;

	rt_table_head(table, "cpu\tdirect\tlogged\treplayed\toob\thidden\teoi_swallowed\teoi_held\tlines_masked\n");
	for_each_online_cpu(cpu) {
		const struct pl_stats *s = &per_cpu(pl_cpu, cpu).stats;

		rt_table_row(table, "%d\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu", cpu,
			     s->direct, s->logged, s->replayed, s->oob, s->hidden,
			     s->eoi_swallowed, s->eoi_held, s->lines_masked);
	}
}

void pl_texts_show(struct rt_table *table)
{
	const struct pl_text *text;

	rt_table_head(table, "text\tslots\n");
	mutex_lock(&pl_texts_mutex);
	list_for_each_entry(text, &pl_texts, node)
		if (text->count)
			rt_table_row(table, "%s\t%u", text->name, text->count);
	mutex_unlock(&pl_texts_mutex);
}

ssize_t pl_slots_read(char *buf, loff_t offset, size_t count)
{
	unsigned int first = div_u64(offset, PL_SLOT_LINE), i;
	size_t done = 0;

	if (offset % PL_SLOT_LINE)
		return -EINVAL;
	mutex_lock(&pl_texts_mutex);
	for (i = first; pl_kernel_text && i < pl_kernel_text->count; i++) {
		const struct pl_slot *slot = &pl_kernel_text->slots[i];
		char line[PL_SLOT_LINE + 1];

		if (done + PL_SLOT_LINE > count)
			break;
		scnprintf(line, sizeof(line), "%016lx %-8s\n", slot->addr,
			  pl_slot_name[slot->kind]);
		memcpy(buf + done, line, PL_SLOT_LINE);
		done += PL_SLOT_LINE;
	}
	mutex_unlock(&pl_texts_mutex);
	return done;
}
