// SPDX-License-Identifier: GPL-2.0
/* KUnit: the vector set, against an array of flags that cannot be wrong. */
#include <kunit/test.h>
#include <linux/prandom.h>
#include "pipeline/vecset.h"

static void starts_empty(struct kunit *test)
{
	struct pl_vecset set = {};

	KUNIT_EXPECT_TRUE(test, pl_vecset_empty(&set));
	KUNIT_EXPECT_EQ(test, pl_vecset_top(&set), -1);
}

/* Each vector alone, among them both ends of each word. */
static void every_vector_alone(struct kunit *test)
{
	struct pl_vecset set = {};

	for (int vector = 0; vector < PL_VECTORS; vector++) {
		pl_vecset_add(&set, vector);
		KUNIT_EXPECT_TRUE(test, pl_vecset_has(&set, vector));
		KUNIT_EXPECT_EQ(test, pl_vecset_top(&set), vector);
		pl_vecset_del(&set, vector);
		KUNIT_EXPECT_FALSE(test, pl_vecset_has(&set, vector));
		KUNIT_EXPECT_TRUE(test, pl_vecset_empty(&set));
	}
}

static int model_top(const bool *model)
{
	for (int vector = PL_VECTORS - 1; vector >= 0; vector--)
		if (model[vector])
			return vector;
	return -1;
}

static void agrees_with_a_model(struct kunit *test)
{
	static bool model[PL_VECTORS];
	struct pl_vecset set = {};
	struct rnd_state rnd;

	memset(model, 0, sizeof(model));
	prandom_seed_state(&rnd, 1997);
	for (int step = 0; step < 20000; step++) {
		unsigned int vector = prandom_u32_state(&rnd) % PL_VECTORS;

		model[vector] = prandom_u32_state(&rnd) & 1;
		if (model[vector])
			pl_vecset_add(&set, vector);
		else
			pl_vecset_del(&set, vector);
		KUNIT_ASSERT_EQ(test, pl_vecset_has(&set, vector), model[vector]);
		KUNIT_ASSERT_EQ(test, pl_vecset_top(&set), model_top(model));
		KUNIT_ASSERT_EQ(test, pl_vecset_empty(&set), model_top(model) < 0);
	}
}

static struct kunit_case vecset_cases[] = {
	KUNIT_CASE(starts_empty),
	KUNIT_CASE(every_vector_alone),
	KUNIT_CASE(agrees_with_a_model),
	{}
};

static struct kunit_suite vecset_suite = {
	.name = "vecset",
	.test_cases = vecset_cases,
};
kunit_test_suite(vecset_suite);

MODULE_DESCRIPTION("KUnit suite of the pipeline's vector set");
MODULE_LICENSE("GPL");
