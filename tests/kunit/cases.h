/* SPDX-License-Identifier: GPL-2.0-only */
/* The check macros of the shared cases in tests/unit, in KUnit's terms. */
#include <kunit/test.h>

/*
 * Random sets: the many are for the host (`make unit`), whose checkers are faster. With 1,500, too few
 * would be refused to say how sharp the test of blocking is.
 */
#define ADM_SETS 2000
#define BUDGET_SETS 100

static struct kunit *cases_test;	/* the test that runs; suites run one at a time */

#define CHECK(cond) KUNIT_ASSERT_TRUE(cases_test, cond)
#define CHECK_EQ(got, want) \
	KUNIT_ASSERT_EQ(cases_test, (long long)(got), (long long)(want))

/* Wrap a case of tests/unit into a KUnit one: CASE(name) defines, RUN(name) lists it. */
#define CASE(name)					\
	static void kunit_##name(struct kunit *test)	\
	{						\
		cases_test = test;			\
		name();					\
	}
#define RUN(name) KUNIT_CASE(kunit_##name),
