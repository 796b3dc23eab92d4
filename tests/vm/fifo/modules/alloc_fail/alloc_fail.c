// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes one allocation fail, in one process: stock kernels have no fault injection.
 *
 * Writing N to /proc/alloc_fail has the Nth allocation from then on fail that the writing
 * process makes by one of the functions below, for whatever it is; 0: none. Reading it ends
 * that and says how many there were.
 *
 * A return probe replaces the result by NULL. What had been allocated is freed at the read.
 */
#include <linux/gfp.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

enum kind { SLAB, VMALLOC, PAGE };

static struct {
	const char *name;
	enum kind kind;
	struct kretprobe probe;
} functions[] = {	/* each kernel has some of them */
	{ "kmalloc_trace", SLAB }, { "__kmalloc_cache_noprof", SLAB },
	{ "vmalloc_user", VMALLOC }, { "vmalloc_user_noprof", VMALLOC },
	{ "get_zeroed_page", PAGE }, { "get_zeroed_page_noprof", PAGE },
};

static struct task_struct *victim;
static int countdown, seen;
static void *withheld;
static enum kind withheld_kind;

static int on_entry(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	return READ_ONCE(victim) != current;	/* not 0: leave it alone */
}
NOKPROBE_SYMBOL(on_entry);

static enum kind kind_of(struct kretprobe_instance *instance)
{
	struct kretprobe *probe = get_kretprobe(instance);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(functions); i++)
		if (probe == &functions[i].probe)
			return functions[i].kind;
	return SLAB;
}

static int on_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	seen++;
	if (countdown && !--countdown) {
		withheld = (void *)regs_return_value(regs);
		withheld_kind = kind_of(instance);
		regs_set_return_value(regs, 0);
	}
	return 0;
}
NOKPROBE_SYMBOL(on_return);

static void give_back(void)
{
	if (withheld_kind == SLAB)
		kfree(withheld);
	else if (withheld_kind == VMALLOC)
		vfree(withheld);
	else if (withheld)
		free_page((unsigned long)withheld);
	withheld = NULL;
}

static ssize_t control_write(struct file *file, const char __user *buf, size_t len, loff_t *off)
{
	int n;

	if (victim)
		return -EBUSY;
	if (kstrtoint_from_user(buf, len, 0, &n) || n < 0)
		return -EINVAL;
	countdown = n;
	seen = 0;
	WRITE_ONCE(victim, current);
	return len;
}

static ssize_t control_read(struct file *file, char __user *buf, size_t len, loff_t *off)
{
	char text[16];

	if (victim != current)
		return -EINVAL;
	WRITE_ONCE(victim, NULL);
	give_back();
	snprintf(text, sizeof(text), "%d\n", seen);
	*off = 0;
	return simple_read_from_buffer(buf, len, off, text, strlen(text));
}

static const struct proc_ops control_ops = {
	.proc_read = control_read,
	.proc_write = control_write,
};

static void unregister_all(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(functions); i++)
		if (functions[i].probe.handler)
			unregister_kretprobe(&functions[i].probe);
}

static int __init alloc_fail_init(void)
{
	unsigned int i, kinds = 0;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		struct kretprobe *probe = &functions[i].probe;

		probe->kp.symbol_name = functions[i].name;
		probe->entry_handler = on_entry;
		probe->handler = on_return;
		if (register_kretprobe(probe))
			probe->handler = NULL;
		else
			kinds |= 1 << functions[i].kind;
	}
	if (kinds == 7 && proc_create("alloc_fail", 0600, NULL, &control_ops))
		return 0;
	unregister_all();
	return kinds == 7 ? -ENOMEM : -ENOENT;
}

static void __exit alloc_fail_exit(void)
{
	remove_proc_entry("alloc_fail", NULL);
	unregister_all();
	give_back();
}

module_init(alloc_fail_init);
module_exit(alloc_fail_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tactus: makes one allocation of one process fail");
