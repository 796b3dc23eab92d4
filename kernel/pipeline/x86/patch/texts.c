// SPDX-License-Identifier: GPL-2.0-only
/*
 * All text that the pipeline rewrites: the kernel's, and that of every module, those that
 * come later included.
 *
 * Locking: pl_texts_mutex; inside it the patchers are held while text is decoded, and inside that
 * the kernel's module_mutex while its list of modules is read.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>
#include "compat/compat.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/idle.h"
#include "pipeline/x86/client.h"
#include "pipeline/x86/patch/patchers.h"
#include "pipeline/x86/patch/slots.h"
#include "pipeline/x86/patch/symbols.h"
#include "pipeline/x86/patch/texts.h"

DEFINE_MUTEX(pl_texts_mutex);	/* of the list, see texts.h */
LIST_HEAD(pl_texts);
struct pl_text *pl_kernel_text;

static struct mutex *kernel_module_mutex;
static struct list_head *kernel_modules;

/* ---- the kernel ---- */

int pl_texts_find_kernel(void)
{
	unsigned long start = pl_symbol("_stext"), end = pl_symbol("_etext");
	struct pl_text *text;
	int err;

	lockdep_assert_held(&pl_texts_mutex);
	kernel_module_mutex = (struct mutex *)pl_symbol("module_mutex");
	kernel_modules = (struct list_head *)pl_symbol("modules");
	if (!start || !end || !kernel_module_mutex || !kernel_modules)
		return -EOPNOTSUPP;
	text = pl_text_open(NULL, start, end - start);
	if (IS_ERR(text))
		return PTR_ERR(text);
	list_add(&text->node, &pl_texts);
	pl_kernel_text = text;
	err = pl_text_scan(text);
	if (err)
		return err;
	if (!text->kinds[PL_SLOT_CLI] || !text->kinds[PL_SLOT_STI] || !text->kinds[PL_SLOT_SAVE_FL])
		return pl_refuse("no cli, sti or save_fl slots found in the kernel");
	return 0;
}

static void forget_text(struct pl_text *text)
{
	pl_patchers_unfence(text);
	list_del(&text->node);
	pl_text_close(text);
}

int pl_texts_fence(void)
{
	struct pl_text *text;
	int err = 0;

	lockdep_assert_held(&pl_texts_mutex);
	list_for_each_entry(text, &pl_texts, node)
		err = err ?: pl_patchers_fence(text);
	return err;
}

void pl_texts_forget(void)
{
	struct pl_text *text, *next;

	lockdep_assert_held(&pl_texts_mutex);
	list_for_each_entry_safe(text, next, &pl_texts, node) {
		forget_text(text);
	}
	pl_kernel_text = NULL;
}

/* ---- modules ---- */

static bool module_known(const struct module *mod)
{
	const struct pl_text *text;

	list_for_each_entry(text, &pl_texts, node)
		if (text->mod == mod)
			return true;
	return false;
}

static void forget_module(const struct module *mod, bool init_only)
{
	unsigned long init_base, init_bytes;
	struct pl_text *text, *next;

	compat_module_text(mod, COMPAT_TEXT_INIT, &init_base, &init_bytes);
	list_for_each_entry_safe(text, next, &pl_texts, node) {
		if (text->mod != mod || (init_only && text->base != init_base))
			continue;
		forget_text(text);
	}
}

/* Context: pl_texts_mutex held. */
static int find_module_slots(struct module *mod, bool with_init)
{
	int err = 0;

	lockdep_assert_held(&pl_texts_mutex);
	/* The resident core's own interrupt flag handling is hard by design. */
	if (!strcmp(mod->name, "tactus_core"))
		return 0;
	for (int which = 0; which < (with_init ? COMPAT_TEXTS : 1) && !err; which++) {
		unsigned long base, bytes;
		struct pl_text *text;

		compat_module_text(mod, which, &base, &bytes);
		if (!bytes)
			continue;
		text = pl_text_open(mod, base, bytes);
		if (IS_ERR(text)) {
			err = PTR_ERR(text);
			break;
		}
		list_add_tail(&text->node, &pl_texts);
		err = pl_text_scan(text);
	}
	if (err)
		forget_module(mod, false);
	return err;
}

int pl_texts_find_modules(void)
{
	struct module *mod;
	int err = 0;

	lockdep_assert_held(&pl_texts_mutex);
	mutex_lock(kernel_module_mutex);
	list_for_each_entry(mod, kernel_modules, list) {
		/* One still being linked will meet the notifier. */
		if (mod->state == MODULE_STATE_UNFORMED || module_known(mod))
			continue;
		err = find_module_slots(mod, mod->state == MODULE_STATE_COMING);
		if (err)
			break;
	}
	mutex_unlock(kernel_module_mutex);
	return err;
}

/* A module that comes is patched before its first instruction runs, or not let in. */
static int module_coming(struct module *mod)
{
	const struct pl_slot *odd;
	struct pl_text *text;
	unsigned long flags;
	int err;

	if (module_known(mod))
		return 0;
	pl_patchers_hold();
	err = find_module_slots(mod, true);
	list_for_each_entry(text, &pl_texts, node)
		if (text->mod == mod && !err)
			err = pl_patchers_fence(text);
	pl_patchers_let();
	if (err)
		forget_module(mod, false);
	if (err || !pl_core.active)
		return err;
	list_for_each_entry(text, &pl_texts, node) {
		if (text->mod != mod)
			continue;
		odd = pl_text_check(text, false);
		if (odd) {
			pr_err("module %s refused: its text changes at %pS\n", mod->name,
			       (void *)odd->addr);
			forget_module(mod, false);
			return -EBUSY;
		}
	}
	flags = pl_hard_save();
	list_for_each_entry(text, &pl_texts, node)
		if (text->mod == mod)
			pl_text_write(text, true);
	pl_hard_restore(flags);
	return 0;
}

static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;
	int err = 0;

	mutex_lock(&pl_texts_mutex);
	switch (event) {
	case MODULE_STATE_COMING:
		err = module_coming(mod);
		break;
	case MODULE_STATE_LIVE:
		forget_module(mod, true);	/* its init text is about to be freed */
		if (pl_core.active)
			pl_idle_recheck();
		break;
	case MODULE_STATE_GOING:
		forget_module(mod, false);
		break;
	}
	mutex_unlock(&pl_texts_mutex);
	return notifier_from_errno(err);
}

/* Before all others: nobody has put a breakpoint into the module yet. */
static struct notifier_block module_notifier = {
	.notifier_call = module_event,
	.priority = INT_MAX,
};

int pl_texts_watch_modules(void)
{
	return register_module_notifier(&module_notifier);
}

void pl_texts_ignore_modules(void)
{
	unregister_module_notifier(&module_notifier);
}

/* ---- lookup ---- */

bool pl_texts_inside_slot(unsigned long addr)
{
	const struct pl_text *text;

	/* Most words of a stack are data's addresses; modules lie above the kernel's text. */
	if (addr < pl_kernel_text->base)
		return false;
	list_for_each_entry(text, &pl_texts, node) {
		unsigned int low = 0, high = pl_text_scanned(text);

		if (addr - text->base >= text->bytes)
			continue;
		while (low < high) {
			unsigned int middle = (low + high) / 2;

			if (text->slots[middle].addr < addr)
				low = middle + 1;
			else
				high = middle;
		}
		return low && addr - text->slots[low - 1].addr < text->slots[low - 1].bytes;
	}
	return false;
}
