/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For test modules: be there whenever a function is called, by a kprobe on its entry. One of
 * a module that is not loaded ("module:function") is waited for, at each loading anew, so that
 * not even the first call is missed.
 */
#ifndef _ON_CALL_H
#define _ON_CALL_H

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/string.h>

/**
 * struct on_call - one function to be watched
 * @handler: runs at each call. Context: that of the call
 * The rest is private.
 */
struct on_call {
	kprobe_pre_handler_t handler;
	struct mutex lock;
	struct notifier_block modules;
	struct kprobe probe;
	char name[64];
	bool armed;
};

static int on_call_arm(struct on_call *watch)
{
	int err;

	watch->probe = (struct kprobe){ .symbol_name = watch->name, .pre_handler = watch->handler };
	err = register_kprobe(&watch->probe);
	watch->armed = !err;
	return err;
}

static void on_call_disarm(struct on_call *watch)
{
	if (watch->armed)
		unregister_kprobe(&watch->probe);
	watch->armed = false;
}

static int on_call_module(struct notifier_block *nb, unsigned long event, void *data)
{
	struct on_call *watch = container_of(nb, struct on_call, modules);
	const char *name = ((struct module *)data)->name;
	size_t length = strlen(name);

	mutex_lock(&watch->lock);
	if (!strncmp(watch->name, name, length) && watch->name[length] == ':') {
		if (event == MODULE_STATE_COMING && !watch->armed && on_call_arm(watch))
			pr_err("no %s to watch\n", watch->name);
		if (event == MODULE_STATE_GOING)
			on_call_disarm(watch);
	}
	mutex_unlock(&watch->lock);
	return NOTIFY_DONE;
}

/* Watch the function that @name names, from now on; an empty one: nothing. */
static int on_call_set(struct on_call *watch, const char *name)
{
	int err = 0;

	mutex_lock(&watch->lock);
	on_call_disarm(watch);
	strscpy(watch->name, name, sizeof(watch->name));
	strim(watch->name);
	if (watch->name[0])
		err = on_call_arm(watch);
	if (err == -ENOENT && strchr(watch->name, ':'))
		err = 0;	/* its module is still to come */
	if (err)
		watch->name[0] = '\0';
	mutex_unlock(&watch->lock);
	return err;
}

static int on_call_init(struct on_call *watch)
{
	watch->modules.notifier_call = on_call_module;
	return register_module_notifier(&watch->modules);
}

static void on_call_exit(struct on_call *watch)
{
	unregister_module_notifier(&watch->modules);
	on_call_set(watch, "");
}

#define DEFINE_ON_CALL(what, fn) \
	static struct on_call what = { .handler = fn, .lock = __MUTEX_INITIALIZER(what.lock) }

#endif
