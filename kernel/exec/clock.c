// SPDX-License-Identifier: GPL-2.0-only
/* Instants, and CLOCK_MONOTONIC beside them. */
#include <linux/export.h>
#include <linux/ktime.h>

#include <rt/time.h>
#include "pipeline/pipeline.h"

RTIME rt_get_time(void)
{
	return pl_clock();
}
EXPORT_SYMBOL_GPL(rt_get_time);

/* CLOCK_MONOTONIC minus ours: of a few readings the one with the least between them. */
static s64 monotonic_offset(void)
{
	u64 least = U64_MAX;
	s64 offset = 0;

	for (int i = 0; i < 4; i++) {
		u64 before = pl_clock(), linux_ns = ktime_get_ns(), took = pl_clock() - before;

		if (took >= least)
			continue;
		least = took;
		offset = linux_ns - (before + took / 2);
	}
	return offset;
}

long long rt_to_monotonic_ns(RTIME when)
{
	return when + monotonic_offset();
}
EXPORT_SYMBOL_GPL(rt_to_monotonic_ns);

RTIME rt_from_monotonic_ns(long long ns)
{
	return ns - monotonic_offset();
}
EXPORT_SYMBOL_GPL(rt_from_monotonic_ns);
