// SPDX-License-Identifier: GPL-2.0-only
/*
 * An RT handler on a level-triggered line: that of QEMU's "edu" PCI device.
 *
 * Loading raises the line ROUNDS times while Linux has interrupts off, and with locked=1 also
 * holds the I/O APIC's lock; /sys/module/rt_level/parameters/results says what came of it, as
 * "name=value" words. After the last round the line stays with RT until unload.
 */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/irq.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <rt/irq.h>
#include "../unexported.h"

#define EDU_STATUS	0x24
#define EDU_RAISE	0x60
#define EDU_ACK		0x64

static unsigned int rounds = 100;
module_param(rounds, uint, 0444);

static bool locked;
module_param(locked, bool, 0444);

static bool fail;
module_param(fail, bool, 0444);
MODULE_PARM_DESC(fail, "the last handler touches no memory of anybody's");

static char results[128];
module_param_string(results, results, sizeof(results), 0444);

static void __iomem *regs;
static unsigned int handled;
static bool last;

/* Context: RT interrupt. */
static void on_irq(void)
{
	iowrite32(ioread32(regs + EDU_STATUS), regs + EDU_ACK);
	WRITE_ONCE(handled, handled + 1);
	if (fail && last)
		*(volatile int *)8 = 0;
}

static unsigned int raise_all(raw_spinlock_t *lock)
{
	unsigned int missed = 0;

	for (unsigned int round = 1; round <= rounds; round++) {
		last = round == rounds;
		local_irq_disable();
		if (locked)
			raw_spin_lock(lock);
		iowrite32(1, regs + EDU_RAISE);
		udelay(10);
		if (locked)
			raw_spin_unlock(lock);
		missed += READ_ONCE(handled) != round;
		local_irq_enable();
		udelay(10);
	}
	return missed;
}

static int rt_level_probe(struct pci_dev *dev, const struct pci_device_id *id)
{
	raw_spinlock_t *lock = find_symbol("ioapic_lock");
	int err = pcim_enable_device(dev);
	unsigned int missed;

	if (err || !lock)
		return err ?: -ENOENT;
	regs = pcim_iomap(dev, 0, 0);
	if (!regs)
		return -ENOMEM;
	err = request_RTirq(dev->irq, on_irq);
	if (err) {
		scnprintf(results, sizeof(results), "err=%d", err);
		return err;
	}
	missed = raise_all(lock);
	scnprintf(results, sizeof(results), "err=0 handled=%u missed=%u chip=%s level=%d", handled,
		  missed, irq_get_chip(dev->irq)->name,
		  irqd_is_level_type(irq_get_irq_data(dev->irq)));
	return 0;
}

static void rt_level_remove(struct pci_dev *dev)
{
	free_RTirq(dev->irq);
}

static const struct pci_device_id rt_level_ids[] = { { PCI_DEVICE(0x1234, 0x11e8) }, {} };

static struct pci_driver rt_level_driver = {
	.name = "rt_level",
	.id_table = rt_level_ids,
	.probe = rt_level_probe,
	.remove = rt_level_remove,
};

module_pci_driver(rt_level_driver);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("An RT handler on a level-triggered line");
