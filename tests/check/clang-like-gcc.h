/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Undoes what a kernel configured for gcc has and one configured for clang has not: the segments of
 * per-CPU variables as address spaces of the compiler.
 */
#undef CONFIG_USE_X86_SEG_SUPPORT
#undef CONFIG_CC_HAS_NAMED_AS
