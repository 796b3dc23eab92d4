// SPDX-License-Identifier: GPL-2.0-only
/* Beats in RT mode: the thread is an RT task meanwhile, and makes no call of Linux's. */
#include <err.h>
#include <errno.h>
#include <string.h>
#include <tactus/rt.h>

#include "measure.h"

static int error;	/* that rt_wait() gave, and that ended RT mode */

static struct rt_job next(void)
{
	struct rt_job job = { 0 };
	int got = rt_wait(&job);

	/* A job that is late counts as one; the figure says so. */
	if (got && got != -ETIMEDOUT && !error)
		error = -got;
	return job;
}

s64 rtmode_begin(s64 period_ns)
{
	const struct rt_attr attr = {
		.period_ns = period_ns, .budget_ns = period_ns / 4 * 3, .priority = 1, .cpu = -1,
	};

	if (rt_enter(&attr))
		errx(1, "RT mode: %s", rt_why());
	return next().release_ns;
}

void rtmode_wait(s64 period_ns)
{
	(void)period_ns;
	next();
}

void rtmode_end(void)
{
	unsigned int turned_back = 0;
	struct rt_stat stat;

	rt_leave();
	if (error)
		errx(1, "RT mode: rt_wait: %s", strerror(error));
	if (rt_stat(&stat))
		err(1, "RT mode");
	for (unsigned int i = 0; i < RT_END_REASONS; i++)
		if (i != RT_END_LEAVE)
			turned_back += stat.demotions[i];
	if (turned_back)
		errx(1, "RT mode: demoted %u times, for reason %u", turned_back, stat.reason);
}
