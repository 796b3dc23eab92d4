// SPDX-License-Identifier: GPL-2.0-only
/*
 * Those who rewrite the kernel's text beside us: jump labels, static calls, ftrace and kprobes.
 *
 * Each of them keeps the lengths of instructions, so only the moments in which a breakpoint
 * stands for one matter: these are under the kernel's text_mutex. A kprobe is such a moment
 * that lasts. One on a function's entry goes by ftrace and is harmless.
 *
 * Nor may a kprobe be set on a slot of ours: kprobes emulates a call as if it were five bytes
 * long, and ours has a prefix. Slots are put on the kernel's own list of places that must not
 * be probed.
 */
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include "pipeline/x86/patch/patchers.h"
#include "pipeline/x86/patch/texts.h"
#include "pipeline/x86/patch/slots.h"
#include "pipeline/x86/patch/symbols.h"

/* Private to the kernel's kprobes.c, KPROBE_HASH_BITS there; the same since there are kprobes. */
#define KPROBE_TABLE_BITS 6

static struct mutex *kernel_kprobe_mutex, *kernel_text_mutex;
static struct hlist_head *kprobe_table;
static unsigned long kprobe_rows;
static struct list_head *forbidden;	/* of struct kprobe_blacklist_entry */

int pl_patchers_find(void)
{
	unsigned long start, bytes;

	kernel_kprobe_mutex = (struct mutex *)pl_symbol("kprobe_mutex");
	kernel_text_mutex = (struct mutex *)pl_symbol("text_mutex");
	kprobe_table = (struct hlist_head *)pl_symbol("kprobe_table");
	forbidden = (struct list_head *)pl_symbol("kprobe_blacklist");
	if (!kernel_kprobe_mutex || !kernel_text_mutex || !kprobe_table || !forbidden ||
	    !pl_symbol_at((unsigned long)kprobe_table, &start, &bytes, NULL))
		return -EOPNOTSUPP;
	/* The symbol's size is the way to the next one: more than the table where it is padded. */
	kprobe_rows = min(bytes / sizeof(*kprobe_table), 1UL << KPROBE_TABLE_BITS);
	return 0;
}

void pl_patchers_hold(void)
{
	lockdep_assert_held(&pl_texts_mutex);
	/* As register_kprobe() does. */
	mutex_lock(kernel_kprobe_mutex);
	mutex_lock(kernel_text_mutex);
}

void pl_patchers_let(void)
{
	lockdep_assert_held(&pl_texts_mutex);
	mutex_unlock(kernel_text_mutex);
	mutex_unlock(kernel_kprobe_mutex);
}

int pl_patchers_check(void)
{
	for (unsigned long row = 0; row < kprobe_rows; row++) {
		struct kprobe *probe;

		hlist_for_each_entry(probe, &kprobe_table[row], hlist) {
			/* A disabled one counts: it has a copy of what it found, for later. */
			if (kprobe_gone(probe) || kprobe_ftrace(probe))
				continue;
			pr_err("refused: there is a kprobe at %pS: remove it, and set it again afterwards; nothing was changed\n",
			       probe->addr);
			return -EBUSY;
		}
	}
	return 0;
}

static bool is_forbidden(unsigned long addr)
{
	const struct kprobe_blacklist_entry *entry;

	list_for_each_entry(entry, forbidden, list)
		if (addr >= entry->start_addr && addr < entry->end_addr)
			return true;
	return false;
}

int pl_patchers_fence(struct pl_text *text)
{
	struct kprobe_blacklist_entry *fence;

	lockdep_assert_held(&pl_texts_mutex);
	fence = kvcalloc(text->count, sizeof(*fence), GFP_KERNEL);
	if (!fence && text->count)
		return -ENOMEM;
	for (unsigned int i = 0; i < text->count; i++) {
		const struct pl_slot *slot = &text->slots[i];

		fence[i].start_addr = slot->addr;
		fence[i].end_addr = slot->addr + slot->bytes;
		/*
		 * When a module goes, kprobes frees what it finds in that module's forbidden text.
		 */
		if (text->mod && is_forbidden(slot->addr))
			INIT_LIST_HEAD(&fence[i].list);
		else
			list_add_tail_rcu(&fence[i].list, forbidden);
	}
	text->fence = fence;
	return 0;
}

void pl_patchers_unfence(struct pl_text *text)
{
	lockdep_assert_held(&pl_texts_mutex);
	if (!text->fence)
		return;
	mutex_lock(kernel_kprobe_mutex);
	for (unsigned int i = 0; i < text->count; i++)
		if (!list_empty(&text->fence[i].list))
			list_del_rcu(&text->fence[i].list);
	mutex_unlock(kernel_kprobe_mutex);
	synchronize_rcu();
	kvfree(text->fence);
	text->fence = NULL;
}
