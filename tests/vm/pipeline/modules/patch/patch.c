// SPDX-License-Identifier: GPL-2.0-only
/*
 * A live patch: /proc/cmdline reads "patched" while it is in force. In and out by
 * /sys/kernel/livepatch/patch/enabled, like any other.
 */
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/seq_file.h>

static int cmdline_proc_show_patched(struct seq_file *m, void *v)
{
	seq_puts(m, "patched\n");
	return 0;
}

static struct klp_func functions[] = {
	{ .old_name = "cmdline_proc_show", .new_func = cmdline_proc_show_patched }, {}
};

static struct klp_object objects[] = { { .funcs = functions }, {} };

static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objects };

static int __init patch_init(void)
{
	return klp_enable_patch(&patch);
}

static void __exit patch_exit(void)
{
}

module_init(patch_init);
module_exit(patch_exit);
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("A live patch of /proc/cmdline");
