/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before each source file that is built with v05.mk.
 *
 * Programs of that time begin with "#define MODULE". Today the build defines it, as 1, and
 * <linux/module.h> wants it so. So that header is read here, with the build's definition,
 * which then goes out of the way of the program's own.
 */
#include <linux/module.h>

#undef MODULE
