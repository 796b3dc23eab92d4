// SPDX-License-Identifier: GPL-2.0-only
/*
 * A level-triggered line under test: QEMU's "edu" PCI device, which raises INTx when
 * told to and lowers it when told so.
 *
 * Write "ROUNDS OFF_US" to /sys/kernel/level/raise: each round raises the line inside
 * an interrupts-off section of OFF_US microseconds. Read it for the ledger:
 * "raised handled during rt": interrupts raised and handled, RT interrupts (irq 8,
 * when rt=1) counted during all interrupts-off sections while the line was pending.
 *
 * /sys/kernel/level/lateness tells how late those RT interrupts were, in ns of the emulator's time,
 * and starts to measure anew when written to. It holds under --icount only, where the TSC counts
 * ns: the chip's periods lie on the grid of its 32768 Hz, and so does the first interrupt,
 * which is taken to be less than one step of it late.
 */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/kobject.h>
#include <linux/mc146818rtc.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/sysfs.h>
#include <rt/irq.h>
#include <asm/msr.h>
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/pipeline.h"

#define EDU_STATUS	0x24
#define EDU_RAISE	0x60
#define EDU_ACK		0x64
#define WAIT_US		1000

static bool rt;
module_param(rt, bool, 0444);
MODULE_PARM_DESC(rt, "own interrupt 8 at 8192 Hz meanwhile");

static bool masking = true;
module_param(masking, bool, 0444);
MODULE_PARM_DESC(masking, "0: have the pipeline leave stalled lines unmasked, a negative control");

static void __iomem *regs;
static struct kobject *kobj;
static atomic_t handled;
static unsigned int raised, late;
static unsigned long rt_count, rt_during, off_us_total;

static irqreturn_t level_irq(int irq, void *cookie)
{
	u32 status = ioread32(regs + EDU_STATUS);

	if (!status)
		return IRQ_NONE;
	iowrite32(status, regs + EDU_ACK);
	atomic_inc(&handled);
	return IRQ_HANDLED;
}

/* One step of 32768 Hz and one period of 8192 Hz, in 64ths of a ns. */
#define STEP_64	1953125ULL
#define PERIOD_64 (4 * STEP_64)

static struct {
	u64 first_64;	/* when the first was due; 0: none yet */
	u64 count, expected;
	u64 sum_ns, max_ns;
} lateness;

static void note_lateness(u64 now_ns)
{
	u64 now_64 = now_ns * 64, late_ns;

	if (!lateness.first_64)
		lateness.first_64 = now_64 - now_64 % STEP_64;
	late_ns = (now_64 - lateness.first_64 - lateness.count * PERIOD_64) / 64;
	lateness.expected = (now_64 - lateness.first_64) / PERIOD_64 + 1;
	lateness.count++;
	lateness.sum_ns += late_ns;
	lateness.max_ns = max(lateness.max_ns, late_ns);
}

static ssize_t lateness_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "count=%llu expected=%llu sum_ns=%llu max_ns=%llu\n",
			  lateness.count, lateness.expected, lateness.sum_ns, lateness.max_ns);
}

static ssize_t lateness_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			      size_t count)
{
	unsigned long flags = pl_hard_save();

	memset(&lateness, 0, sizeof(lateness));
	pl_hard_restore(flags);
	return count;
}

static struct kobj_attribute lateness_file = __ATTR_RW(lateness);

/* Context: RT interrupt. */
static void rt_irq(void)
{
	note_lateness(rdtsc());
	CMOS_READ(RTC_REG_C);
	rt_count++;
}

static ssize_t raise_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			   size_t count)
{
	unsigned int rounds, off_us;

	if (sscanf(buf, "%u %u", &rounds, &off_us) != 2)
		return -EINVAL;
	while (rounds--) {
		int before = atomic_read(&handled);
		unsigned long flags, rt_before;

		local_irq_save(flags);
		iowrite32(1, regs + EDU_RAISE);
		rt_before = READ_ONCE(rt_count);
		for (unsigned int us = 0; us < off_us; us += 10)
			udelay(10);
		rt_during += READ_ONCE(rt_count) - rt_before;
		local_irq_restore(flags);
		raised++;
		off_us_total += off_us;

		for (int us = 0; us < WAIT_US && atomic_read(&handled) == before; us++)
			udelay(1);
		if (atomic_read(&handled) != before + 1)
			late++;
	}
	return count;
}

static ssize_t raise_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "raised=%u handled=%d late=%u rt_during=%lu off_us=%lu\n", raised,
			  atomic_read(&handled), late, rt_during, off_us_total);
}

static struct kobj_attribute raise_file = __ATTR_RW(raise);

static int level_probe(struct pci_dev *dev, const struct pci_device_id *id)
{
	int err = pcim_enable_device(dev);

	if (err)
		return err;
	regs = pcim_iomap(dev, 0, 0);
	if (!regs)
		return -ENOMEM;
	err = devm_request_irq(&dev->dev, dev->irq, level_irq, IRQF_SHARED, "level", dev);
	if (err)
		return err;
	kobj = kobject_create_and_add("level", kernel_kobj);
	if (!kobj)
		return -ENOMEM;
	return sysfs_create_file(kobj, &raise_file.attr) ?:
	       sysfs_create_file(kobj, &lateness_file.attr);
}

static void level_remove(struct pci_dev *dev)
{
	kobject_put(kobj);
}

static const struct pci_device_id level_ids[] = { { PCI_DEVICE(0x1234, 0x11e8) }, {} };

static struct pci_driver level_driver = {
	.name = "level",
	.id_table = level_ids,
	.probe = level_probe,
	.remove = level_remove,
};

static u8 saved_a, saved_b;

/* Context: RT interrupt. */
static struct irq_desc *mask_nothing(unsigned int vector)
{
	return NULL;
}

static struct pl_hooks control_hooks;
static const struct pl_hooks *saved_hooks;

static int __init level_init(void)
{
	int err = pci_register_driver(&level_driver);

	if (err || !rt)
		return err;
	err = request_RTirq(8, rt_irq);
	if (err) {
		pci_unregister_driver(&level_driver);
		return err;
	}
	saved_hooks = pl_core.hooks;
	if (!masking) {		/* needs a pipeline */
		control_hooks = *saved_hooks;
		control_hooks.mask_line = mask_nothing;
		WRITE_ONCE(pl_core.hooks, &control_hooks);
	}
	spin_lock_irq(&rtc_lock);
	saved_a = CMOS_READ(RTC_REG_A);
	saved_b = CMOS_READ(RTC_REG_B);
	CMOS_WRITE(0x23, RTC_REG_A);
	CMOS_WRITE((saved_b & 0x8f) | RTC_PIE, RTC_REG_B);
	CMOS_READ(RTC_REG_C);
	spin_unlock_irq(&rtc_lock);
	return 0;
}

static void __exit level_exit(void)
{
	if (rt) {
		WRITE_ONCE(pl_core.hooks, saved_hooks);
		spin_lock_irq(&rtc_lock);
		CMOS_WRITE(saved_a, RTC_REG_A);
		CMOS_WRITE(saved_b, RTC_REG_B);
		spin_unlock_irq(&rtc_lock);
		free_RTirq(8);
	}
	pci_unregister_driver(&level_driver);
}

module_init(level_init);
module_exit(level_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A level-triggered line under test");
