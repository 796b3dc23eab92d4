// SPDX-License-Identifier: GPL-2.0-only
/* The lateness statistics: what is counted, when, and that a skip cannot hide. */
#include "check.h"
#include "examples/latency/lateness.h"

static struct lateness stats, copy;

static u64 sum_of_bins(void)
{
	u64 sum = 0;

	for (unsigned int bin = 0; bin < LATENESS_BINS; bin++)
		sum += stats.bins[bin];
	return sum;
}

static void test_bins(void)
{
	CHECK_EQ(lateness_bin(-1), 0);
	CHECK_EQ(lateness_bin(0), 0);
	CHECK_EQ(lateness_bin(9), 0);
	CHECK_EQ(lateness_bin(10), 1);
	CHECK_EQ(lateness_bin(LATENESS_FINE_END_NS - 1), LATENESS_FINE_BINS - 1);
	CHECK_EQ(lateness_bin(LATENESS_FINE_END_NS), LATENESS_FINE_BINS);
	CHECK_EQ(lateness_bin(LATENESS_COARSE_END_NS - 1), LATENESS_BINS - 2);
	CHECK_EQ(lateness_bin(LATENESS_COARSE_END_NS), LATENESS_BINS - 1);
	CHECK_EQ(lateness_bin(INT64_MAX), LATENESS_BINS - 1);
	CHECK_EQ(lateness_bin(INT64_MIN), 0);
	/* Every bin holds its own lower edge, and what is 1 ns below is in another. */
	for (unsigned int bin = 0; bin < LATENESS_BINS; bin++) {
		CHECK_EQ(lateness_bin(lateness_bin_ns(bin)), bin);
		if (bin)
			CHECK_EQ(lateness_bin(lateness_bin_ns(bin) - 1), bin - 1);
	}
}

static void test_on_time(void)
{
	lateness_init(&stats, 5000, 1000);
	CHECK_EQ(lateness_next_due(&stats), 5000);
	for (int k = 0; k < 100; k++)
		lateness_record(&stats, 5000 + k * 1000 + k);
	CHECK_EQ(stats.releases, 100);
	CHECK_EQ(stats.expected, 100);
	CHECK_EQ(stats.overruns, 0);
	CHECK_EQ(stats.min_ns, 0);
	CHECK_EQ(stats.max_ns, 99);
	CHECK_EQ(stats.worst, 99);
	CHECK_EQ(stats.sum_ns, 99 * 100 / 2);
	CHECK_EQ(sum_of_bins(), 100);
	CHECK_EQ(stats.bins[9], 10);
}

/* Releases that were held up and then follow one another are late, not skipped. */
static void test_catching_up(void)
{
	lateness_init(&stats, 0, 1000);
	lateness_record(&stats, 10);
	for (int k = 1; k <= 5; k++)
		lateness_record(&stats, 5200 + k);
	CHECK_EQ(stats.releases, 6);
	CHECK_EQ(stats.expected, 6);
	CHECK_EQ(stats.overruns, 4);
	CHECK_EQ(stats.max_ns, 4201);
}

/* A skipped release shows in the count, and every later job is a period late. */
static void test_skip(void)
{
	lateness_init(&stats, 0, 1000);
	lateness_record(&stats, 10);
	for (int k = 2; k < 10; k++)
		lateness_record(&stats, k * 1000 + 10);
	CHECK_EQ(stats.releases, 9);
	CHECK_EQ(stats.expected, 10);
	CHECK_EQ(stats.overruns, 8);
	CHECK_EQ(stats.min_ns, 10);
	CHECK_EQ(stats.max_ns, 1010);
	CHECK_EQ(stats.worst, 1);
}

static void test_early(void)
{
	lateness_init(&stats, 1000, 1000);
	lateness_record(&stats, 995);
	lateness_record(&stats, 1995);
	CHECK_EQ(stats.min_ns, -5);
	CHECK_EQ(stats.max_ns, -5);
	CHECK_EQ(stats.expected, 2);
	CHECK_EQ(stats.bins[0], 2);
}

static void test_copy(void)
{
	lateness_init(&stats, 0, 1000);
	lateness_record(&stats, 7);
	CHECK(lateness_copy(&copy, &stats));
	CHECK_EQ(copy.releases, 1);
	CHECK_EQ(copy.max_ns, 7);
	/* A writer that never finishes is given up on. */
	stats.sequence++;
	CHECK(!lateness_copy(&copy, &stats));
}

int main(void)
{
	test_bins();
	test_on_time();
	test_catching_up();
	test_skip();
	test_early();
	test_copy();
	return 0;
}
