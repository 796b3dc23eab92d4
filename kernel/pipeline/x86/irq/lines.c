// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupt lines.
 *
 * RT interrupts (thesis, A.3): a handler in rt_lines[] is found by the Linux number
 * of the vector that arrived, and runs at once. If no Linux driver uses the line,
 * Linux is asked for it in the usual way, so that it sets the controller up and shows
 * it in /proc/interrupts; if one does and may be robbed (take_irq), its action stays
 * installed and simply is not called until the line is given back. Meanwhile the line stays on
 * its CPU: Linux completes a move when its own handler acknowledges, and that does not run.
 *
 * Stalled level-triggered lines: see ack_arrival() in dispatch.c. Only worth it while
 * there are RT interrupts that a held EOI could keep waiting: lines, or in class 0xe the timer.
 *
 * rt_lines[] is written under lines_mutex in Linux's context and read out-of-band
 * without a lock: an entry is published whole and freed when no CPU can be using it.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>
#include <asm/apic.h>
#include <asm/hw_irq.h>
#include <rt/irq.h>
#include <rt/post.h>
#include "compat/table.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/x86/ring3/ring3.h"
#include "pipeline/hosted.h"
#include "pipeline/control.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/trap.h"
#include "pipeline/x86/client.h"
#include "pipeline/x86/irq/lines.h"
#include "pipeline/x86/irq/oneshot.h"
#include "pipeline/x86/irq/stall.h"
#include "pipeline/x86/switchover.h"
#include "pipeline/x86/patch/symbols.h"

#define MAX_LINES 1024		/* highest Linux interrupt number that can be RT's, + 1 */
#define MAX_TAKEN 16

struct rt_line {
	void (*handler)(void);
	unsigned int irq;
	bool level;
	/* if level-triggered behind interrupt remapping; else NULL */
	struct irq_data *remapped;
	bool taken;		/* a Linux driver has it, and waits */
	bool dead;		/* its handler failed: Linux's, until it is freed */
	bool movable;		/* to another CPU, before and afterwards */
	unsigned long count;
};

static struct rt_line *rt_lines[MAX_LINES];
static DEFINE_MUTEX(lines_mutex);
static unsigned int used;		/* entries of it */
static void (*used_changed)(void);

static int take_irq[MAX_TAKEN] = { 8 };
static int nr_take_irq = 1;
module_param_array(take_irq, int, &nr_take_irq, 0444);
MODULE_PARM_DESC(take_irq,
	"interrupts that request_RTirq() may take from a Linux driver (default 8, the RTC; -1 for none)");

static struct irq_desc **vectors;	/* Linux's vector_irq: a per-CPU array */
static raw_spinlock_t *ioapic_lock;

/* What a CPU's next RT interrupt is to do; bits, as several may ask at once. */
enum { IPI_CLIENT, IPI_UNSTALL };

/* ---- which line is behind a vector ---- */

static struct irq_desc *desc_of(unsigned int vector)
{
	struct irq_desc **mine = this_cpu_ptr((struct irq_desc * __percpu *)vectors);
	struct irq_desc *desc = mine[vector];

	return IS_ERR_OR_NULL(desc) ? NULL : desc;
}

static struct rt_line *rt_line(unsigned int vector)
{
	struct irq_desc *desc = desc_of(vector);
	struct rt_line *line;

	if (!desc || desc->irq_data.irq >= MAX_LINES)
		return NULL;
	/* Pairs with the release in request_RTirq(): the line is filled in. */
	line = smp_load_acquire(&rt_lines[desc->irq_data.irq]);
	return line && likely(!line->dead) ? line : NULL;
}

static struct rt_post dead_post;

/* ---- out-of-band. Context: RT interrupt. ---- */

/*
 * End a level-triggered interrupt. Behind interrupt remapping the local APIC's EOI does not reach
 * the I/O APIC; the chip's own function ends it there, too, under ioapic_lock. If that is taken,
 * it may be by the very code that was interrupted.
 *
 * Return: false if that is left to Linux's handler, which finds a placeholder.
 */
static bool end_level(struct rt_line *line, unsigned int vector)
{
	struct pl_cpu *cpu = this_cpu_ptr(&pl_cpu);
	int interrupted = cpu->current_vector;

	if (!line->remapped) {
		pl_ack();
		return true;
	}
	if (raw_spin_is_locked(ioapic_lock) || irqd_is_setaffinity_pending(line->remapped)) {
		pl_eoi_hold(vector);
		return false;
	}
	/* pl_eoi() is to end this one, not that whose handler was interrupted. */
	cpu->current_vector = -1;
	line->remapped->chip->irq_eoi(line->remapped);
	cpu->current_vector = interrupted;
	return true;
}

/* Whom each RT handler is told to, or NULL. */
static void (*tracer)(unsigned int irq, bool over);

void pl_trace_lines(void (*told)(unsigned int irq, bool over))
{
	WRITE_ONCE(tracer, told);
}

/* Context: RT interrupt, hardware interrupts off. */
static void tell(const struct rt_line *line, bool over)
{
	void (*told)(unsigned int irq, bool over) = READ_ONCE(tracer);

	if (unlikely(told))
		told(line->irq, over);
}

static bool oob_line(struct rt_line *line, unsigned int vector)
{
	bool failed;

	line->count++;
	/* An edge that comes while the handler runs must be latched; a level must not refire. */
	if (!line->level)
		pl_ack();
	tell(line, false);
	failed = pl_guarded(line->handler, NULL);
	tell(line, true);
	if (unlikely(failed)) {
		WRITE_ONCE(line->dead, true);
		rt_post(&dead_post);
		if (line->level)
			pl_eoi_hold(vector);
		return false;
	}
	return !line->level || end_level(line, vector);
}

static noinline bool oob_vector_in_full(void)
{
	if (__this_cpu_read(pl_cpu.asked)) {
		/* Other CPUs may ask for more just now: this_cpu_xchg() would not do. */
		if (unlikely(xchg(this_cpu_ptr(&pl_cpu.asked), 0) & BIT(IPI_UNSTALL)))
			this_cpu_write(pl_cpu.inband_vif, PL_VIF);
		pl_client->ipi();
	}
	/* On a CPU that is coming or going the timer is Linux's own. */
	return !__this_cpu_read(pl_cpu.served) || pl_oneshot_due();
}

rt_path static bool oob_vector(void)
{
	if (unlikely(__this_cpu_read(pl_cpu.asked) || !__this_cpu_read(pl_cpu.served)))
		return oob_vector_in_full();
	return pl_oneshot_due();
}

/*
 * Is RT's vector in no class with devices'? Where Linux or its hypervisor uses the highest vectors
 * up, it is not, and an EOI that is held holds RT's timer up.
 */
static bool above_devices(void)
{
	return pl_core.oob_vector >= 0xf0;
}

/*
 * Masking writes the I/O APIC's index and data ports under ioapic_lock. If the lock
 * is taken, the interrupted code itself may hold it: then the line stays unmasked.
 */
static struct irq_desc *mask_line(unsigned int vector)
{
	struct irq_desc *desc;
	u8 vif;

	if ((!pl_core.rt_lines && above_devices()) || raw_spin_is_locked(ioapic_lock))
		return NULL;
	desc = desc_of(vector);
	if (!desc || !desc->irq_data.chip || !desc->irq_data.chip->irq_mask ||
	    !desc->irq_data.chip->irq_unmask)
		return NULL;
	vif = pl_stall();
	desc->irq_data.chip->irq_mask(&desc->irq_data);
	pl_unstall(vif);
	return desc;
}

/* ---- back in Linux ---- */

void pl_line_unmask(struct irq_desc *desc, unsigned int vector)
{
	struct irq_data *data = &desc->irq_data;

	/* The vector was given to somebody else meanwhile: its new owner set it up. */
	if (desc_of(vector) != desc)
		return;
	/*
	 * Linux wants it masked (a threaded handler has yet to run), or is just moving
	 * it to another CPU and will unmask it afterwards.
	 */
	if (irqd_irq_masked(data) || irqd_is_setaffinity_pending(data))
		return;
	data->chip->irq_unmask(data);
}

static struct pl_hooks hooks = {
	.rt_line = rt_line,
	.oob_line = oob_line,
	.mask_line = mask_line,
	.unmask_line = pl_line_unmask,
	.stalled = pl_stall_look,
	.fault = pl_fault,
	.cpu_dies = pl_hand_over,
	.ring3_trap = pl_ring3_trap,
	.ring3_call = pl_ring3_call,
};

const struct pl_hooks *pl_line_hooks(void)
{
	static_call_update(pl_core_vector, oob_vector);
	/* Straight to the executive: it is the last call before every job. */
	static_call_update(pl_core_resched, pl_client->resched);
	return &hooks;
}

/* ---- IPI ---- */

static __always_inline void send_ipi(void *to)
{
	int cpu = (long)to;
	u32 icr2;

	if (x2apic_enabled()) {
		pl_apic->send_IPI(cpu, pl_core.oob_vector);
	} else {
		/* Linux may have been interrupted between its two writes of an IPI. */
		icr2 = pl_apic->read(APIC_ICR2);
		pl_apic->send_IPI(cpu, pl_core.oob_vector);
		pl_apic->write(APIC_ICR2, icr2);
	}
}

void pl_line_ipi(int cpu)
{
	if (unlikely(!READ_ONCE(pl_core.active)))
		return;
	set_bit(IPI_CLIENT, per_cpu_ptr(&pl_cpu.asked, cpu));
	pl_stalled(send_ipi, (void *)(long)cpu);
}

void pl_line_unstall(void)
{
	set_bit(IPI_UNSTALL, this_cpu_ptr(&pl_cpu.asked));
	pl_core.ipi_self(pl_core.oob_vector);
}

/* ---- installing RT interrupts ---- */

unsigned int pl_lines_used(void)
{
	return READ_ONCE(used);
}

void pl_lines_tell(void (*changed)(void))
{
	used_changed = changed;
}

static void count_used(int more)
{
	WRITE_ONCE(used, used + more);
	used_changed();
}

static bool may_take(unsigned int irq)
{
	/* A hosted handler is a Linux driver's itself. */
	if (pl_hosted())
		return false;
	for (int i = 0; i < nr_take_irq; i++)
		if (take_irq[i] == irq)
			return true;
	return false;
}

/*
 * Stands in for a driver in Linux's eyes. In hosted mode it is the driver. Else it is called only
 * when the RT handler has failed or the pipeline is off: then nobody serves the device, and a
 * level-triggered line would fire for ever.
 */
static irqreturn_t placeholder(int irq, void *cookie)
{
	struct rt_line *line = cookie;

	if (pl_hosted()) {
		line->count++;
		tell(line, false);
		pl_hosted_interrupt(line->handler);
		tell(line, true);
	} else if (line->dead || !READ_ONCE(pl_core.active)) {
		disable_irq_nosync(irq);
	}
	return IRQ_HANDLED;
}

int pl_line_take(unsigned int irq, void (*handler)(void), bool from_any)
{
	struct rt_line *line;
	struct irq_data *data;
	int err = 0;

	data = irq < MAX_LINES ? irq_get_irq_data(irq) : NULL;
	if (!handler || !data)
		return -EINVAL;
	if (irq_is_percpu_devid(irq))
		return -EOPNOTSUPP;
	line = kzalloc(sizeof(*line), GFP_KERNEL);
	if (!line)
		return -ENOMEM;

	mutex_lock(&lines_mutex);
	if (rt_lines[irq]) {
		err = -EBUSY;
	} else if (irq_has_action(irq)) {
		line->taken = from_any || may_take(irq);
		err = line->taken ? 0 : -EBUSY;
	} else {
		err = request_irq(irq, placeholder, IRQF_NO_THREAD, "tactus", line);
	}
	if (err) {
		kfree(line);
		goto out;
	}
	line->irq = irq;
	line->handler = handler;
	line->level = irqd_is_level_type(data);
	if (line->level && data->chip->irq_eoi && strstarts(data->chip->name, "IR-"))
		line->remapped = data;
	line->movable = irqd_can_balance(data);
	irq_set_status_flags(irq, IRQ_NO_BALANCING);
	pl_core.rt_lines++;
	/* Pairs with the acquire in rt_line(). */
	smp_store_release(&rt_lines[irq], line);
	count_used(1);
	if (line->taken)
		pr_info("interrupt %u taken over from its Linux driver\n", irq);
out:
	mutex_unlock(&lines_mutex);
	return err;
}

static void nothing(void *unused)
{
}

static void remove_line(unsigned int irq, bool if_dead)
{
	struct rt_line *line;

	mutex_lock(&lines_mutex);
	line = rt_lines[irq];
	if (!line || (if_dead && !READ_ONCE(line->dead)))
		goto out;
	if (if_dead)
		pr_err("interrupt %u: its RT handler failed and is removed\n", irq);
	WRITE_ONCE(rt_lines[irq], NULL);
	/* A CPU that answers is in Linux, so it has left any handler it was in. */
	on_each_cpu(nothing, NULL, 1);
	pl_core.rt_lines--;
	count_used(-1);
	if (line->movable)
		irq_clear_status_flags(irq, IRQ_NO_BALANCING);
	if (line->taken)
		pr_info("interrupt %u given back to its Linux driver\n", irq);
	else
		free_irq(irq, line);
	kfree(line);
out:
	mutex_unlock(&lines_mutex);
}

int request_RTirq(unsigned int irq, void (*handler)(void))
{
	if (pl_oob())
		return -EPERM;
	if (!pl_active())
		return -ENODEV;
	return pl_line_take(irq, handler, false);
}
EXPORT_SYMBOL_GPL(request_RTirq);

void free_RTirq(unsigned int irq)
{
	if (irq < MAX_LINES && !pl_oob())
		remove_line(irq, false);
}
EXPORT_SYMBOL_GPL(free_RTirq);

/* ---- handlers that failed ---- */

static void free_dead(struct work_struct *work)
{
	for (unsigned int irq = 0; irq < MAX_LINES; irq++)
		remove_line(irq, true);
}

static DECLARE_WORK(dead_work, free_dead);

static void post_dead(struct rt_post *post)
{
	schedule_work(&dead_work);
}

void pl_lines_show(struct rt_table *table)
{
	rt_table_head(table, "irq\tcount\ttaken\n");
	mutex_lock(&lines_mutex);
	for (unsigned int irq = 0; irq < MAX_LINES; irq++)
		if (rt_lines[irq])
			rt_table_row(table, "%u\t%lu\t%d", irq, rt_lines[irq]->count,
				     rt_lines[irq]->taken);
	mutex_unlock(&lines_mutex);
}

int pl_lines_find(void)
{
	vectors = (struct irq_desc **)pl_symbol("vector_irq");
	ioapic_lock = (raw_spinlock_t *)pl_symbol("ioapic_lock");
	rt_post_init(&dead_post, post_dead);
	return vectors && ioapic_lock ? 0 : -EOPNOTSUPP;
}

void pl_lines_exit(void)
{
	rt_post_sync(&dead_post);
	flush_work(&dead_work);
}
