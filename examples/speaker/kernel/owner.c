// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux's beeper is kept off the speaker.
 *
 * The platform device "pcspkr" stands for port 0x61 and channel 2 of the timer. Its driver owns
 * them: pcspkr as a rule. It is unbound while we are loaded and we are bound instead, so that
 * nobody else is, a pcspkr that is loaded meanwhile either; then it is given the device back. Beeps
 * are silent in between. snd_pcsp, whose driver has the same name, may be in use, and unbinding it
 * could wait for ever, so that is refused.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include "speaker.h"

static struct device *speaker;	/* a reference; NULL: this kernel has no such device */
static bool held;

static int hold(struct platform_device *device)
{
	held = true;
	return 0;
}

static const struct platform_device_id held_devices[] = {
	{ .name = "pcspkr" },
	{ }
};

static struct platform_driver holder = {
	.probe = hold,
	.id_table = held_devices,
	.driver = { .name = KBUILD_MODNAME, .suppress_bind_attrs = true },
};

/* With the device locked: whose driver is bound to it; NULL if none is. */
static const char *bound_module(void)
{
	const struct device_driver *driver = speaker->driver;

	if (!driver)
		return NULL;
	return driver->owner ? module_name(driver->owner) : driver->mod_name ?: driver->name;
}

static int unbind_pcspkr(void)
{
	const char *name;
	bool bound, other;

	device_lock(speaker);
	name = bound_module();
	bound = name;
	other = bound && strcmp(name, "pcspkr");
	if (other)
		pr_err("the speaker is %s's; unload that first\n", name);
	device_unlock(speaker);
	if (other)
		return -EBUSY;
	if (bound)
		device_release_driver(speaker);
	return 0;
}

static void let_go(void)
{
	if (device_attach(speaker) < 0)
		pr_warn("Linux's driver did not take the speaker back\n");
	put_device(speaker);
	speaker = NULL;
}

int owner_take(void)
{
	int err;

	speaker = bus_find_device_by_name(&platform_bus_type, NULL, "pcspkr");
	if (!speaker)
		return 0;
	err = unbind_pcspkr();
	if (err) {
		put_device(speaker);
		speaker = NULL;
		return err;
	}
	held = false;
	err = platform_driver_register(&holder);
	if (!err && !held) {
		platform_driver_unregister(&holder);
		pr_err("another driver took the speaker\n");
		err = -EBUSY;
	}
	if (err)
		let_go();
	return err;
}

void owner_give_back(void)
{
	if (!speaker)
		return;
	platform_driver_unregister(&holder);
	let_go();
}
