/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs of that time define init_module() and cleanup_module() themselves, and nothing
 * in them takes the functions' addresses. From 6.15 on the build refuses that, lest
 * indirect branch tracking seal the functions off; so their addresses are taken here. They are
 * weak: a module may have several files, and no cleanup_module().
 */
#ifndef _V05_ENTRY_H
#define _V05_ENTRY_H

#include <linux/init.h>
#include <linux/module.h>

extern int init_module(void) __attribute__((weak));
extern void cleanup_module(void) __attribute__((weak));
___ADDRESSABLE(init_module, __initdata);
___ADDRESSABLE(cleanup_module, __initdata);

#endif
