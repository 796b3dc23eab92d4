/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before each source file of a program of the days of Linux 2.0 to 2.6: what modules
 * said then and Linux does not know any more.
 */
#ifndef _V05_OLD_H
#define _V05_OLD_H

#include <linux/init.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

/* A program's own "#define MODULE" is no redefinition. */
#undef MODULE

/*
 * From 6.15 on the build refuses functions called init_module() and cleanup_module() whose
 * addresses nothing takes. They are weak, for a file or a module may have none.
 */
extern int init_module(void) __attribute__((weak));
extern void cleanup_module(void) __attribute__((weak));
___ADDRESSABLE(init_module, __initdata);
___ADDRESSABLE(cleanup_module, __initdata);

/*
 * MODULE_PARM(name, "type") may come before its variable. So the variable is known by its name
 * in the assembler. Types: b, h, i, l, s; arrays, as in "1-4i", are not supported.
 */
#define MODULE_PARM(name, type)						\
	_Static_assert(sizeof(type) == 2, "MODULE_PARM: arrays are not supported"); \
	extern char __old_parm_##name[] __asm__(#name);			\
	static const char __old_parm_str_##name[] = #name;			\
	static struct kernel_param __used __section("__param")		\
	__aligned(sizeof(void *)) __old_param_##name = {		\
		__old_parm_str_##name, THIS_MODULE,			\
		!__builtin_strcmp(type, "i") ? &param_ops_int :		\
		!__builtin_strcmp(type, "l") ? &param_ops_long :	\
		!__builtin_strcmp(type, "h") ? &param_ops_short :	\
		!__builtin_strcmp(type, "b") ? &param_ops_byte : &param_ops_charp, \
		VERIFY_OCTAL_PERMISSIONS(0), -1, 0, { __old_parm_##name } }
#define EXPORT_NO_SYMBOLS struct __old_nothing
#define MOD_INC_USE_COUNT do { } while (0)
#define MOD_DEC_USE_COUNT do { } while (0)

#endif
