// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ledger: interrupts that devices raised against interrupts that Linux handled.
 *
 * Two of QEMU's "edu" PCI devices: the first interrupts by its INTx line (level-triggered), the
 * second by MSI (edge-triggered). Writing to a register of theirs raises an interrupt and sets a
 * status bit, which the handler clears. A device is told to raise again only when the last
 * raise was handled, so that no two can ever become one: one raise, one call of the handler.
 *
 * A thread per line raises for ever, in turn: in the open; inside an interrupts-off section; at
 * a section's very end; from a hard timer's function; and, if thread=1, by the device's own
 * thread, which raises when it has computed a factorial, at a moment that nobody chose. A raise
 * that is not handled in patience_ms is counted lost and taken back.
 *
 *	/sys/kernel/ledger/running	write 1 or 0; 0 returns when nothing is under way
 *	/sys/kernel/ledger/ledger	a line per line: its counts
 *	/sys/kernel/ledger/probe	write a function's name: from now on both lines are also
 *					raised when it is called (see on_call.h), each on the CPU
 *					that its interrupts go to. An empty line: no more
 *	/sys/kernel/ledger/irr		read it for what Linux finds in the APIC's request registers
 *					when the edge line was raised in an interrupts-off section
 *
 * Nothing in here knows of Tactus.
 */
#include <linux/bitops.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/kobject.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/sysfs.h>
#include <asm/apic.h>

#include "compat/hrtimer.h"
#include "../on_call.h"
#include "../unexported.h"

#ifndef PCI_IRQ_INTX		/* its name until 6.8 */
#define PCI_IRQ_INTX PCI_IRQ_LEGACY
#endif

#define EDU_FACTORIAL	0x08
#define EDU_CONTROL	0x20
#define EDU_STATUS	0x24
#define EDU_RAISE	0x60
#define EDU_ACK		0x64
#define EDU_IRQ_WHEN_DONE 0x80
#define BY_HAND		0x02	/* status bits; the device's thread uses 1 */
#define SECTION_TURNS	8
#define HRTIMER_NS	20000

static unsigned int pause_us = 100;
module_param(pause_us, uint, 0444);
MODULE_PARM_DESC(pause_us, "between a raise that was handled and the next");

static unsigned int patience_ms = 5000;	/* the host may be busy elsewhere for one */
module_param(patience_ms, uint, 0444);
MODULE_PARM_DESC(patience_ms, "a raise not handled by then is lost");

static bool thread;
module_param(thread, bool, 0444);
MODULE_PARM_DESC(thread, "have the device's own thread raise, too");

static bool together;
module_param(together, bool, 0444);
MODULE_PARM_DESC(together, "both lines go to the last CPU");

enum way { OPEN, SECTION, SECTION_END, TIMER, DEVICE, WAYS };

/* Bits of struct line's state. */
#define BUSY	0
#define ARMED	1

/*
 * struct line - one device, its interrupt and its side of the ledger
 * @state: BUSY, a raise is under way: who sets it may raise. ARMED, the timer is to raise, or the
 *	probe if it comes first: who clears it does
 * @done: BUSY was cleared
 * @raised, @handled: the ledger
 * @at_probe: of @raised, those of the probed function
 * @spurious: the handler was called and the device had not raised
 * @lost: raises that were given up
 * @cpu: where its interrupts go, and whose probe hits raise it
 */
struct line {
	const char *name;
	void __iomem *regs;
	unsigned int irq, cpu;
	unsigned long state;
	struct completion done;
	atomic_t raised, handled, at_probe, spurious, lost;
	struct hrtimer timer;
	struct task_struct *raiser;
};

static struct line lines[2] = { { .name = "level" }, { .name = "edge" } };
static unsigned int nr_lines;
static struct kobject *kobj;
static DEFINE_MUTEX(control);

/* The device and Linux must have settled the last raise; the ledger counts before the device acts. */
static void raise(struct line *line)
{
	atomic_inc(&line->raised);
	iowrite32(BY_HAND, line->regs + EDU_RAISE);
}

static irqreturn_t handle(int irq, void *cookie)
{
	struct line *line = cookie;
	u32 status = ioread32(line->regs + EDU_STATUS);

	if (!status) {
		atomic_inc(&line->spurious);
		return IRQ_NONE;
	}
	iowrite32(status, line->regs + EDU_ACK);
	atomic_add(hweight32(status), &line->handled);
	clear_bit_unlock(BUSY, &line->state);
	complete(&line->done);
	return IRQ_HANDLED;
}

static enum hrtimer_restart raise_in_timer(struct hrtimer *timer)
{
	struct line *line = container_of(timer, struct line, timer);

	if (test_and_clear_bit(ARMED, &line->state))
		raise(line);
	return HRTIMER_NORESTART;
}

/* Not udelay(): its "pause" makes an emulated CPU leave its fast path at each turn. */
static void pass_time(void)
{
	for (int turn = 0; turn < SECTION_TURNS; turn++)
		asm volatile(".fill 1000, 1, 0x90");
}

static void raise_one_way(struct line *line, enum way way)
{
	unsigned long flags;

	switch (way) {
	case SECTION:
	case SECTION_END:
		local_irq_save(flags);
		if (way == SECTION_END)
			pass_time();
		raise(line);
		if (way == SECTION)
			pass_time();
		local_irq_restore(flags);
		break;
	case TIMER:
		set_bit(ARMED, &line->state);
		hrtimer_start(&line->timer, ns_to_ktime(HRTIMER_NS), HRTIMER_MODE_REL_HARD);
		break;
	case DEVICE:
		atomic_inc(&line->raised);
		iowrite32(EDU_IRQ_WHEN_DONE, line->regs + EDU_CONTROL);
		iowrite32(5, line->regs + EDU_FACTORIAL);
		break;
	default:
		raise(line);
	}
}

/* Take a raise back that was not handled. It may still come: then that is spurious. */
static void give_up(struct line *line)
{
	unsigned long flags;

	hrtimer_cancel(&line->timer);
	clear_bit(ARMED, &line->state);
	local_irq_save(flags);
	if (test_bit(BUSY, &line->state)) {
		atomic_inc(&line->lost);
		iowrite32(ioread32(line->regs + EDU_STATUS), line->regs + EDU_ACK);
		clear_bit_unlock(BUSY, &line->state);
	}
	local_irq_restore(flags);
}

/* Context: process. Returns when nothing is under way. */
static void settle(struct line *line)
{
	while (test_bit(BUSY, &line->state))
		if (!wait_for_completion_timeout(&line->done, msecs_to_jiffies(patience_ms)))
			give_up(line);
}

static int raiser(void *cookie)
{
	struct line *line = cookie;
	unsigned int way = 0;

	while (!kthread_should_stop()) {
		settle(line);
		if (!test_and_set_bit_lock(BUSY, &line->state)) {
			raise_one_way(line, way);
			way = (way + 1) % (thread ? WAYS : DEVICE);
		}
		settle(line);
		usleep_range(pause_us, pause_us + 1);
	}
	settle(line);
	return 0;
}

/* ---- raising in a probed function ---- */

static int at_probe(struct kprobe *probe, struct pt_regs *regs)
{
	/* The edge first: a level line that waits for its EOI may keep its class from the CPU. */
	for (int i = nr_lines - 1; i >= 0; i--) {
		struct line *line = &lines[i];

		if (line->cpu != smp_processor_id())
			continue;
		if (test_and_clear_bit(ARMED, &line->state) ||
		    !test_and_set_bit_lock(BUSY, &line->state)) {
			atomic_inc(&line->at_probe);
			raise(line);
		}
	}
	return 0;
}
NOKPROBE_SYMBOL(at_probe);

DEFINE_ON_CALL(probed, at_probe);

static ssize_t probe_store(struct kobject *k, struct kobj_attribute *attr, const char *buf,
			   size_t count)
{
	return on_call_set(&probed, buf) ?: count;
}

static ssize_t probe_show(struct kobject *k, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", probed.name);
}

/* ---- control ---- */

static void stop(struct line *line)
{
	if (line->raiser)
		kthread_stop(line->raiser);
	line->raiser = NULL;
}

static int start(struct line *line)
{
	struct task_struct *task;

	if (line->raiser)
		return 0;
	task = kthread_run(raiser, line, "ledger/%s", line->name);
	if (IS_ERR(task))
		return PTR_ERR(task);
	line->raiser = task;
	return 0;
}

static ssize_t running_store(struct kobject *k, struct kobj_attribute *attr, const char *buf,
			     size_t count)
{
	bool on;
	int err = kstrtobool(buf, &on);

	mutex_lock(&control);
	for (unsigned int i = 0; i < nr_lines && !err; i++) {
		if (on)
			err = start(&lines[i]);
		else
			stop(&lines[i]);
	}
	mutex_unlock(&control);
	return err ?: count;
}

static ssize_t running_show(struct kobject *k, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", lines[0].raiser != NULL);
}

static ssize_t ledger_show(struct kobject *k, struct kobj_attribute *attr, char *buf)
{
	ssize_t bytes = 0;

	for (unsigned int i = 0; i < nr_lines; i++) {
		struct line *line = &lines[i];

		bytes += sysfs_emit_at(buf, bytes,
				       "%s raised=%d handled=%d lost=%d spurious=%d at_probe=%d\n",
				       line->name, atomic_read(&line->raised),
				       atomic_read(&line->handled), atomic_read(&line->lost),
				       atomic_read(&line->spurious),
				       atomic_read(&line->at_probe));
	}
	return bytes;
}

/* ---- the APIC's request registers, as Linux reads them ---- */

static u32 (*read_apic)(u32 reg);

/* The kernel's own way, which is not exported: a static call, or, on old kernels, a pointer. */
static void find_read_apic(void)
{
	read_apic = find_symbol("__SCT__apic_call_read");
	if (!read_apic)
		read_apic = apic->read;
}

static ssize_t irr_show(struct kobject *k, struct kobj_attribute *attr, char *buf)
{
	struct line *line = &lines[1];
	unsigned int before = 0, after = 0;
	unsigned long flags;

	find_read_apic();
	local_irq_save(flags);
	if (test_and_set_bit_lock(BUSY, &line->state)) {
		local_irq_restore(flags);
		return -EBUSY;
	}
	for (int n = 0; n < 8; n++)
		before += hweight32(read_apic(APIC_IRR + n * 0x10));
	raise(line);
	pass_time();
	for (int n = 0; n < 8; n++)
		after += hweight32(read_apic(APIC_IRR + n * 0x10));
	local_irq_restore(flags);
	settle(line);
	return sysfs_emit(buf, "before=%u after=%u\n", before, after);
}

static struct kobj_attribute running_file = __ATTR_RW(running);
static struct kobj_attribute ledger_file = __ATTR_RO(ledger);
static struct kobj_attribute probe_file = __ATTR_RW(probe);
static struct kobj_attribute irr_file = __ATTR_RO(irr);
static const struct attribute *files[] = {
	&running_file.attr, &ledger_file.attr, &probe_file.attr, &irr_file.attr, NULL
};

/* ---- devices ---- */

static int ledger_probe(struct pci_dev *dev, const struct pci_device_id *id)
{
	bool msi = nr_lines == 1;
	struct line *line;
	int err;

	if (nr_lines == ARRAY_SIZE(lines))
		return -ENODEV;
	line = &lines[nr_lines];
	err = pcim_enable_device(dev);
	if (err)
		return err;
	pci_set_master(dev);
	line->regs = pcim_iomap(dev, 0, 0);
	if (!line->regs)
		return -ENOMEM;
	err = pci_alloc_irq_vectors(dev, 1, 1, msi ? PCI_IRQ_MSI : PCI_IRQ_INTX);
	if (err < 0)
		return err;
	line->irq = pci_irq_vector(dev, 0);
	init_completion(&line->done);
	compat_hrtimer_setup(&line->timer, raise_in_timer, CLOCK_MONOTONIC,
			     HRTIMER_MODE_REL_HARD);
	err = request_irq(line->irq, handle, msi ? 0 : IRQF_SHARED, line->name, line);
	if (err) {
		pci_free_irq_vectors(dev);
		return err;
	}
	/* The level line's on the first CPU, the edge's on the last. */
	line->cpu = msi || together ? cpumask_last(cpu_online_mask) : cpumask_first(cpu_online_mask);
	irq_set_affinity(line->irq, cpumask_of(line->cpu));
	pci_set_drvdata(dev, line);
	nr_lines++;
	return 0;
}

static void ledger_remove(struct pci_dev *dev)
{
	struct line *line = pci_get_drvdata(dev);

	stop(line);
	hrtimer_cancel(&line->timer);
	free_irq(line->irq, line);
	pci_free_irq_vectors(dev);
}

static const struct pci_device_id ledger_ids[] = { { PCI_DEVICE(0x1234, 0x11e8) }, {} };

static struct pci_driver ledger_driver = {
	.name = "ledger",
	.id_table = ledger_ids,
	.probe = ledger_probe,
	.remove = ledger_remove,
};

static int __init ledger_init(void)
{
	int err = pci_register_driver(&ledger_driver);

	if (err)
		return err;
	kobj = kobject_create_and_add("ledger", kernel_kobj);
	err = nr_lines == ARRAY_SIZE(lines) && kobj ? sysfs_create_files(kobj, files) : -ENODEV;
	err = err ?: on_call_init(&probed);
	if (err) {
		kobject_put(kobj);
		pci_unregister_driver(&ledger_driver);
	}
	return err;
}

static void __exit ledger_exit(void)
{
	kobject_put(kobj);
	on_call_exit(&probed);
	pci_unregister_driver(&ledger_driver);
}

module_init(ledger_init);
module_exit(ledger_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Interrupts raised by devices against interrupts handled by Linux");
