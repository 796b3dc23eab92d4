// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a kernel function was called: the clock at each call, for a driver that keeps no times.
 *
 *	modprobe stamp_calls symbol=pcsp_do_timer; cat /sys/kernel/debug/stamp_calls > file
 *
 * The file holds the calls so far, s64 ns each (CLOCK_MONOTONIC). The function must run on one
 * CPU at a time.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

static char *symbol = "";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "the function");

static unsigned int room = 200000;
module_param(room, uint, 0444);
MODULE_PARM_DESC(room, "calls that are kept (default 200000); the rest are lost");

static s64 *stamps;
static struct debugfs_blob_wrapper blob;	/* its size grows with the calls */
static struct dentry *file;

static int called(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned int n = blob.size / sizeof(*stamps);

	if (n < room) {
		stamps[n] = ktime_get_mono_fast_ns();
		WRITE_ONCE(blob.size, blob.size + sizeof(*stamps));
	}
	return 0;
}

static struct kprobe probe = { .pre_handler = called };

static int __init stamp_calls_init(void)
{
	int err;

	stamps = vzalloc(array_size(room, sizeof(*stamps)));
	if (!stamps)
		return -ENOMEM;
	blob.data = stamps;
	probe.symbol_name = symbol;
	err = register_kprobe(&probe);
	if (err) {
		pr_err("cannot probe %s: %d\n", symbol, err);
		vfree(stamps);
		return err;
	}
	file = debugfs_create_blob(KBUILD_MODNAME, 0444, NULL, &blob);
	return 0;
}

static void __exit stamp_calls_exit(void)
{
	unregister_kprobe(&probe);
	debugfs_remove(file);
	vfree(stamps);
}

module_init(stamp_calls_init);
module_exit(stamp_calls_exit);

MODULE_DESCRIPTION("Times of the calls of a kernel function");
MODULE_LICENSE("GPL");
