// SPDX-License-Identifier: GPL-2.0-only
/* Debug builds: the first assumption that does not hold becomes a warning of Linux. */
#include <linux/bug.h>

#include <rt/post.h>
#include "exec/assert.h"

#ifdef TACTUS_DEBUG
/* The first failure only: what follows it would mislead. */
static const char *failed_where, *failed_what;
static struct rt_post assert_post;

static void post_assert(struct rt_post *post)
{
	WARN(1, "tactus: in %s: not so: %s\n", failed_where, failed_what);
}

void rt_assert_failed(const char *where, const char *what)
{
	if (cmpxchg(&failed_where, NULL, where))
		return;
	failed_what = what;
	rt_post(&assert_post);
}

void rt_assert_init(void)
{
	rt_post_init(&assert_post, post_assert);
}

void rt_assert_exit(void)
{
	rt_post_sync(&assert_post);
}
#else
void rt_assert_init(void)
{
}

void rt_assert_exit(void)
{
}
#endif
