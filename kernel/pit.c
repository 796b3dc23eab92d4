// SPDX-License-Identifier: GPL-2.0-only
/*
 * Channel 0 of the 8254 in interrupt-on-terminal-count mode (thesis, 3.4): the output,
 * which is interrupt 0, rises once when the count has run out.
 *
 * Who else writes the chip's ports:
 *  - Linux's drivers of channel 2 (the PC speaker), under i8253_lock, which RT cannot take.
 *    It need not: a control word names its channel in its top bits and touches no other, and
 *    each channel has its own place in the low-byte-high-byte sequence. So ours may fall
 *    between any two of their writes, and theirs, on another CPU, between any two of ours.
 *  - Linux's clock event device "pit" writes channel 0. Taken is only one that is not in use as
 *    a tick, and its functions do nothing meanwhile.
 *  - Linux's HPET in legacy mode takes the 8254's place at interrupt 0: refused.
 *
 * Only one CPU writes channel 0 while it is lent: that which interrupt 0 comes to.
 *
 * To the pipeline it is a client: a line with an RT handler, and a timer that is lent.
 */
#include <linux/clockchips.h>
#include <linux/cpu.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/irq.h>
#include <linux/string.h>
#include <asm/hpet.h>
#include <rt/irq.h>
#include "pipeline/pipeline.h"
#include "pipeline/shot.h"
#include "pipeline/x86/patch/symbols.h"
#include "pit.h"
#include "pit_count.h"

#define PIT_IRQ 0

#define CHANNEL0 0x40
#define CONTROL 0x43
#define TERMINAL_COUNT 0x30	/* channel 0, low then high byte, mode 0, binary */
#define READ_STATUS 0xe2	/* read-back command: the status of channel 0 */
#define STATUS_MODE 0x3f	/* what a control word says of the channel */
#define STATUS_PERIODIC 0x04	/* modes 2 and 3 */

static struct clock_event_device *events;	/* Linux's */
static struct clock_event_device saved;
static u8 saved_mode;
static int served = -1;		/* the CPU, while lent */

/* ---- the shot ---- */

/* The first byte stops the count before, the second starts the new one. */
static void pit_arm(u64 wait_ns)
{
	u16 count = pl_pit_count(wait_ns);

	outb(count & 0xff, CHANNEL0);
	outb(count >> 8, CHANNEL0);
}

/* A control word without a count stops the channel, its output low. */
static void pit_disarm(void)
{
	outb(TERMINAL_COUNT, CONTROL);
}

static const struct pl_shot pit_shot = { "pit", PL_PIT_LONGEST_NS, pit_arm, pit_disarm };

/* ---- Linux's clock event device, while we have the channel. Context: Linux. ---- */

static int ignore_next_event(unsigned long ticks, struct clock_event_device *dev)
{
	return 0;
}

static int ignore_state(struct clock_event_device *dev)
{
	return 0;
}

/* ---- take-over. Context: Linux process; may sleep. ---- */

static void take_channel(void)
{
	saved = *events;
	events->set_next_event = ignore_next_event;
	events->set_state_periodic = ignore_state;
	events->set_state_oneshot = ignore_state;
	events->set_state_shutdown = ignore_state;
	outb(READ_STATUS, CONTROL);
	saved_mode = inb(CHANNEL0) & STATUS_MODE;
	pit_disarm();
}

static void release_channel(void)
{
	events->set_next_event = saved.set_next_event;
	events->set_state_periodic = saved.set_state_periodic;
	events->set_state_oneshot = saved.set_state_oneshot;
	events->set_state_shutdown = saved.set_state_shutdown;
	pit_disarm();
	outb(saved_mode, CONTROL);
	/* One that nobody uses runs on as firmware left it: its longest period. */
	if (saved_mode & STATUS_PERIODIC) {
		outb(0, CHANNEL0);
		outb(0, CHANNEL0);
	}
}

static int refuse(const char *why)
{
	pr_err("refused: timer=pit: %s; nothing was changed\n", why);
	return -EOPNOTSUPP;
}

/* The CPU that interrupt 0 comes to, or nr_cpu_ids. */
static unsigned int its_cpu(struct irq_data *data)
{
	return cpumask_first_and(irq_data_get_effective_affinity_mask(data), cpu_online_mask);
}

int rt_pit_find(void)
{
	struct irq_data *data = irq_get_irq_data(PIT_IRQ);
	int err = pl_symbols_init();

	if (err)
		return err;
	events = (struct clock_event_device *)pl_symbol("i8253_clockevent");
	if (!events)
		return -EOPNOTSUPP;
	if (is_hpet_enabled())
		return refuse("the HPET has the 8254's place at interrupt 0 (boot with hpet=disable)");
	if (clockevent_state_periodic(events))
		return refuse("the 8254 is Linux's tick");
	/* Of an 8259 the end of the interrupt would be told in another way. */
	if (!data || !data->chip || !strstr(data->chip->name, "IO-APIC") ||
	    irqd_is_level_type(data))
		return refuse("interrupt 0 is not an edge-triggered line of an I/O APIC");
	if (irq_has_action(PIT_IRQ) && (irqd_irq_disabled(data) || irqd_irq_masked(data)))
		return refuse("Linux has interrupt 0 switched off");
	if (its_cpu(data) >= nr_cpu_ids)
		return refuse("interrupt 0 comes to no CPU");
	return 0;
}

int rt_pit_start(void)
{
	unsigned int cpu;
	int err = pl_line_take(PIT_IRQ, pl_shot_due, true);

	if (err) {
		pr_err("timer=pit: interrupt 0 cannot be had (error %d)\n", err);
		return err;
	}
	take_channel();
	/* The line stays where it is from now on, and so does the CPU once it has the timer. */
	cpus_read_lock();
	cpu = its_cpu(irq_get_irq_data(PIT_IRQ));
	err = cpu < nr_cpu_ids ? pl_shot_lend(cpu, &pit_shot) : -ENXIO;
	cpus_read_unlock();
	served = cpu;
	if (err) {
		pr_err("timer=pit: interrupt 0 comes to no CPU\n");
		rt_pit_stop();
	}
	return err;
}

void rt_pit_stop(void)
{
	if (served < 0)
		return;
	if (served < nr_cpu_ids)
		pl_shot_lend(served, NULL);
	served = -1;
	release_channel();
	free_RTirq(PIT_IRQ);
}
