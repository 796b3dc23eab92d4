/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For test modules: a function of a module that is not loaded yet gets another in its place, from
 * that module's first instruction on. All that refers to it in the module's text then refers to
 * the other one. Kprobes would not do: Tactus refuses to begin where one hides an instruction.
 */
#ifndef _INSTEAD_H
#define _INSTEAD_H

#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/string.h>
#include "compat/compat.h"
#include "unexported.h"

/**
 * struct instead - one function that is replaced
 * @module: whose it is
 * @function: its name, as "module:function"
 * @by: what is called instead
 * @real: the function itself, once the module is there
 * @modules: private
 */
struct instead {
	const char *module, *function;
	void *by, *real;
	struct notifier_block modules;
};

/* Is there a call of @to at @at, a jump to it, or its address for a store? */
static bool instead_refers(u8 *at, const void *to)
{
	s32 operand;

	memcpy(&operand, at, sizeof(operand));
	if ((at[-1] == 0xe8 || at[-1] == 0xe9) && at + sizeof(operand) + operand == to)
		return true;
	if ((long)operand != (long)to)
		return false;
	for (int before = 3; before <= 8; before++)
		if ((at[-before] & 0xfe) == 0x48 && at[1 - before] == 0xc7)	/* mov $imm32, */
			return true;
	return false;
}

static int instead_put(struct instead *this, struct module *mod)
{
	void *(*poke)(void *at, const void *what, size_t bytes) = find_symbol("text_poke");
	struct mutex *text_mutex = find_symbol("text_mutex");
	unsigned long base, bytes;
	int found = 0;

	this->real = find_symbol(this->function);
	if (!this->real || !poke || !text_mutex)
		return -ENOENT;
	mutex_lock(text_mutex);
	compat_module_text(mod, COMPAT_TEXT_CORE, &base, &bytes);
	for (u8 *at = (u8 *)base + 8; at + 4 <= (u8 *)base + bytes; at++) {
		s32 operand;

		if (!instead_refers(at, this->real))
			continue;
		operand = at[-1] == 0xe8 || at[-1] == 0xe9 ?
			(s32)((u8 *)this->by - at - 4) : (s32)(long)this->by;
		poke(at, &operand, sizeof(operand));
		found++;
	}
	mutex_unlock(text_mutex);
	return found ? 0 : -ENOENT;
}

static int instead_module(struct notifier_block *nb, unsigned long event, void *data)
{
	struct instead *this = container_of(nb, struct instead, modules);
	struct module *mod = data;
	int err = 0;

	if (strcmp(mod->name, this->module))
		return NOTIFY_DONE;
	if (event == MODULE_STATE_COMING) {
		err = instead_put(this, mod);
		if (err)
			pr_err("nothing refers to %s\n", this->function);
		else
			__module_get(THIS_MODULE);	/* what it now refers to stays */
	}
	if (event == MODULE_STATE_GOING)
		module_put(THIS_MODULE);
	return notifier_from_errno(err);
}

static int instead_init(struct instead *this)
{
	this->modules.notifier_call = instead_module;
	return register_module_notifier(&this->modules);
}

static void instead_exit(struct instead *this)
{
	unregister_module_notifier(&this->modules);
}

#endif
