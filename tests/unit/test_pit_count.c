// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"
#include "pit_count.h"

#define HZ 1193182ULL

/* Never early, and less than a count and a bit too late. */
static void check(u64 wait_ns)
{
	u64 count = pl_pit_count(wait_ns), ns_times_hz = count * 1000000000ULL;

	CHECK(count >= 1 && count <= PL_PIT_LONGEST_COUNT);
	CHECK(ns_times_hz >= wait_ns * HZ);
	CHECK(ns_times_hz - wait_ns * HZ <= 1005000000ULL);
}

int main(void)
{
	for (u64 wait_ns = 0; wait_ns < 2000000; wait_ns++)
		check(wait_ns);
	for (u64 wait_ns = 0; wait_ns <= PL_PIT_LONGEST_NS; wait_ns += 997)
		check(wait_ns);
	check(PL_PIT_LONGEST_NS);
	return 0;
}
