// SPDX-License-Identifier: GPL-2.0-only
/* The figures of the measurements: bins on either side of 0, and the sums. */
#include "check.h"
#include "tools/measure/figure.h"

static struct figure f;

static unsigned int bin_of(s64 ns)
{
	figure_clear(&f);
	figure_note(&f, ns);
	for (unsigned int bin = 0; bin < 2 * FIGURE_SIDE; bin++)
		if (f.bins[bin])
			return bin;
	return 0;
}

/* A value lies in its bin, and the bin is at most 1/32 of it wide. */
static void check_value(s64 ns)
{
	unsigned int bin = bin_of(ns);
	s64 low = figure_lower(bin), high = figure_lower(bin + 1);

	CHECK(low <= ns);
	CHECK(ns < high);
	CHECK(high - low <= 1 || high - low <= (ns < 0 ? -ns : ns) / 32 + 1);
}

static void test_bins(void)
{
	for (s64 ns = -5000; ns <= 5000; ns++)
		check_value(ns);
	for (s64 ns = 5000; ns < 1000000000000LL; ns += ns / 7) {
		check_value(ns);
		check_value(-ns);
	}
	CHECK_EQ(figure_lower(FIGURE_SIDE), 0);
	CHECK_EQ(bin_of(-1), FIGURE_SIDE - 1);
	CHECK_EQ(figure_lower(FIGURE_SIDE - 1), -1);
	/* What is beyond all bins is in the last one. */
	CHECK_EQ(bin_of(INT64_C(1) << 50), 2 * FIGURE_SIDE - 1);
	CHECK_EQ(bin_of(-(INT64_C(1) << 50)), 1);
	/* Edges ascend without a hole. */
	for (unsigned int bin = 1; bin < 2 * FIGURE_SIDE - 1; bin++)
		CHECK(figure_lower(bin) < figure_lower(bin + 1));
}

static void test_sums(void)
{
	figure_clear(&f);
	figure_note(&f, -30);
	figure_note(&f, 50);
	figure_note(&f, 10);
	CHECK_EQ(f.count, 3);
	CHECK_EQ(f.min, -30);
	CHECK_EQ(f.max, 50);
	CHECK_EQ(f.sum, 30);
	CHECK_EQ((long)f.square, 900 + 2500 + 100);
	/* The first value is the least and the greatest, whatever its sign. */
	figure_clear(&f);
	figure_note(&f, -30);
	CHECK_EQ(f.max, -30);
	figure_clear(&f);
	figure_note(&f, 30);
	CHECK_EQ(f.min, 30);
}

int main(void)
{
	test_bins();
	test_sums();
	return 0;
}
