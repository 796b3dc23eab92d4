// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switch-over: all CPUs stand still, hardware interrupts off, while one of them looks
 * whether every slot can be written, and then writes all or none.
 *
 * On the way back every interrupt that waits for Linux is handed over.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/stop_machine.h>
#include <asm/apic.h>
#include <asm/sync_core.h>
#include <asm/text-patching.h>
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/irq/apichook.h"
#include "pipeline/x86/client.h"
#include "pipeline/x86/irq/lines.h"
#include "pipeline/x86/patch/gates.h"
#include "pipeline/x86/patch/nmigate.h"
#include "pipeline/x86/irq/oneshot.h"
#include "pipeline/x86/patch/slots.h"
#include "pipeline/x86/switchover.h"
#include "pipeline/x86/patch/texts.h"

#define SWITCH_TRIES 100
#define SWITCH_RETRY_MS 10

u64 pl_pause_ns;
atomic_t pl_handed_edge, pl_handed_level;

/* ---- who stands where they must not ---- */

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

				if (turning_on ? pl_texts_inside_slot(value) :
						 value == (unsigned long)pl_cli)
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
	atomic_t left;		/* those that go on */
	u64 start, end;		/* of the standstill, ns of pl_clock() */
	int done;		/* the last one has decided and written */
	int err;
	const struct pl_slot *odd;
};

static int write_all(struct switch_over *s)
{
	struct pl_text *text;
	int cpu;

	list_for_each_entry(text, &pl_texts, node) {
		s->odd = pl_text_check(text, !s->on);
		if (s->odd)
			return -EBUSY;
	}
	if (somebody_inside(s->on))
		return -EAGAIN;
	if (!pl_nmi_gate_close())
		return -EIO;
	list_for_each_entry(text, &pl_texts, node)
		pl_text_write(text, s->on);
	pl_nmi_gate_open();
	pl_apichook_switch(s->on);
	pl_core.active = s->on;
	for_each_possible_cpu(cpu) {
		per_cpu(pl_cpu.rt_vector, cpu) = s->on ? pl_rt_vector : 0;
		/* A CPU that comes later starts with interrupts off. */
		if (!cpu_online(cpu))
			per_cpu(pl_cpu.state, cpu) = PL_STATE_NEW & (s->on ? ~PL_VIF : ~0);
	}
	return 0;
}

void pl_hand_over(void)
{
	struct pl_cpu *cpu = this_cpu_ptr(&pl_cpu);
	int vector;

	/* Level-triggered: let the line fire again. */
	while ((vector = pl_eoi_in_service(&cpu->eois)) >= 0) {
		cpu->eois.of[vector] = PL_EOI_NONE;
		pl_vecset_del(&cpu->pending, vector);
		pl_ack();
		atomic_inc(&pl_handed_level);
	}
	for (vector = 0; vector < PL_VECTORS; vector++) {
		if (cpu->eois.of[vector] == PL_EOI_MASKED) {
			pl_vecset_del(&cpu->pending, vector);
			pl_line_unmask(cpu->masked[vector], vector);
			atomic_inc(&pl_handed_level);
		}
		cpu->eois.of[vector] = PL_EOI_NONE;
	}
	/* Edge-triggered: send it again. */
	while ((vector = pl_vecset_top(&cpu->pending)) >= 0) {
		pl_vecset_del(&cpu->pending, vector);
		pl_core.ipi_self(vector);
		atomic_inc(&pl_handed_edge);
	}
	__this_cpu_and(pl_cpu.state, 0xff ^ PL_ANY);
	cpu->logged_tsc = 0;
}

void pl_serve_cpu(void *unused)
{
	pl_oneshot_take();
	__this_cpu_write(pl_cpu.served, true);
}

void pl_leave_cpu(void *unused)
{
	__this_cpu_write(pl_cpu.served, false);
	pl_oneshot_release();
}

static int switch_cpu(void *arg)
{
	unsigned long flags = pl_hard_save();
	struct switch_over *s = arg;
	int arrived = atomic_inc_return(&s->arrived);

	if (arrived == 1)
		s->start = pl_clock();
	/* No CPU comes or goes meanwhile: stop_machine() holds the CPU lock. */
	if (arrived == num_online_cpus()) {
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
		pl_set_vif(0);
		pl_serve_cpu(NULL);
	} else {
		pl_set_vif(PL_VIF);
		pl_leave_cpu(NULL);
		pl_hand_over();
	}
	if (atomic_inc_return(&s->left) == num_online_cpus())
		s->end = pl_clock();
	return 0;
}

int pl_switch_over(bool on)
{
	struct switch_over s;

	lockdep_assert_held(&pl_texts_mutex);
	for (int tries = 0; tries < SWITCH_TRIES; tries++) {
		s = (struct switch_over){ .on = on };
		stop_machine(switch_cpu, &s, cpu_online_mask);
		if (s.err != -EAGAIN)
			break;
		msleep(SWITCH_RETRY_MS);
	}
	if (s.err == -EBUSY)
		pr_err("%s: %s %pS; nothing was changed\n", on ? "refused" : "stays active",
		       *(const u8 *)s.odd->addr == INT3_INSN_OPCODE ?
		       "there is a breakpoint (a kprobe?) at" : "somebody else has changed the text at",
		       (void *)s.odd->addr);
	else if (s.err == -EAGAIN)
		pr_err("%s: a task keeps being pre-empted inside a slot; nothing was changed\n",
		       on ? "refused" : "stays active");
	else if (s.err == -EIO)
		pr_err("%s: a CPU did not take an NMI; nothing was changed\n",
		       on ? "refused" : "stays active");
	else
		pl_pause_ns = s.end - s.start;
	return s.err ? -EBUSY : 0;
}
