/* SPDX-License-Identifier: GPL-2.0-only */
/* What debug builds check on the way. */
#ifndef _TACTUS_EXEC_ASSERT_H
#define _TACTUS_EXEC_ASSERT_H

#include <linux/compiler.h>

/*
 * rt_assert - in debug builds, warn (once, from Linux) if @cond does not hold
 *
 * Context: any.
 */
#ifdef TACTUS_DEBUG
void rt_assert_failed(const char *where, const char *what);
#define rt_assert(cond)							\
	do {								\
		if (unlikely(!(cond)))					\
			rt_assert_failed(__func__, #cond);		\
	} while (0)
#else
#define rt_assert(cond) do { } while (0)
#endif

/* Posts for what failed. Context: Linux process; may sleep. */
void rt_assert_init(void);
void rt_assert_exit(void);

#endif
