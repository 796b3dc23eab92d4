// SPDX-License-Identifier: GPL-2.0-only
/*
 * An awkward neighbour: a module that turns interrupts off by the bare instruction.
 *
 * Write "ROUNDS US" to /sys/kernel/neighbour/raw: so many sections between cli and sti, so long
 * each. Read it: how often Linux's interrupts were off afterwards. The same to "hard" turns them
 * off by popf, which no slot catches: hardware interrupts really are off meanwhile.
 *
 * Nothing in here knows of Tactus.
 */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kobject.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sysfs.h>

static struct kobject *kobj;
static unsigned int stuck;

static void raw_section(unsigned int us)
{
	u64 end;

	asm volatile("cli" : : : "memory");
	end = ktime_get_mono_fast_ns() + 1000ULL * us;
	/* Not udelay(): its "pause" makes an emulated CPU leave its fast path at each turn. */
	while (ktime_get_mono_fast_ns() < end)
		asm volatile(".fill 100, 1, 0x90");
	asm volatile("sti" : : : "memory");
	stuck += irqs_disabled();
}

static ssize_t raw_store(struct kobject *k, struct kobj_attribute *attr, const char *buf,
			 size_t count)
{
	unsigned int rounds, us;

	if (sscanf(buf, "%u %u", &rounds, &us) != 2)
		return -EINVAL;
	while (rounds--) {
		raw_section(us);
		usleep_range(us, us + 100);
	}
	return count;
}

static void flags_write(unsigned long flags)
{
	asm volatile("pushq %0; popfq" : : "r" (flags) : "memory", "cc");
}

static noinline void hard_section(unsigned int us)
{
	unsigned long flags;
	u64 end;

	asm volatile("pushfq; popq %0" : "=r" (flags) : : "memory");
	flags_write(flags & ~X86_EFLAGS_IF);
	end = ktime_get_mono_fast_ns() + 1000ULL * us;
	while (ktime_get_mono_fast_ns() < end)
		asm volatile(".fill 100, 1, 0x90");
	flags_write(flags | X86_EFLAGS_IF);
	asm volatile(".fill 10, 1, 0x90");
}

static ssize_t hard_store(struct kobject *k, struct kobj_attribute *attr, const char *buf,
			  size_t count)
{
	unsigned int rounds, us;

	if (sscanf(buf, "%u %u", &rounds, &us) != 2)
		return -EINVAL;
	while (rounds--)
		hard_section(us);
	return count;
}

static struct kobj_attribute hard_file = __ATTR_WO(hard);

static ssize_t raw_show(struct kobject *k, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", stuck);
}

static struct kobj_attribute raw_file = __ATTR_RW(raw);

static int __init neighbour_init(void)
{
	int err;

	kobj = kobject_create_and_add("neighbour", kernel_kobj);
	err = kobj ? sysfs_create_file(kobj, &raw_file.attr) : -ENOMEM;
	err = err ?: sysfs_create_file(kobj, &hard_file.attr);
	if (err)
		kobject_put(kobj);
	return err;
}

static void __exit neighbour_exit(void)
{
	kobject_put(kobj);
}

module_init(neighbour_init);
module_exit(neighbour_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Interrupts off by the bare instruction");
