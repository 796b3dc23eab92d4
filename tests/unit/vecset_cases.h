/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cases for the vector set, for the host and for KUnit: the includer defines CHECK()
 * and CHECK_EQ(), and includes the pure file.
 */

/* An array of flags cannot be wrong. */
static bool vecset_model[PL_VECTORS];

static int vecset_model_top(void)
{
	for (int vector = PL_VECTORS - 1; vector >= 0; vector--)
		if (vecset_model[vector])
			return vector;
	return -1;
}

static void vecset_case_empty(void)
{
	struct pl_vecset set = {};

	CHECK(pl_vecset_empty(&set));
	CHECK_EQ(pl_vecset_top(&set), -1);
}

/* Each vector alone, among them both ends of each word. */
static void vecset_case_each_alone(void)
{
	struct pl_vecset set = {};

	for (int vector = 0; vector < PL_VECTORS; vector++) {
		pl_vecset_add(&set, vector);
		CHECK(pl_vecset_has(&set, vector));
		CHECK(!pl_vecset_empty(&set));
		CHECK_EQ(pl_vecset_top(&set), vector);
		for (int n = 0; n < PL_VECTORS / 32; n++)
			CHECK_EQ(pl_vecset_word(&set, n), n == vector / 32 ? 1u << vector % 32 : 0u);
		pl_vecset_del(&set, vector);
		CHECK(!pl_vecset_has(&set, vector));
		CHECK(pl_vecset_empty(&set));
	}
}

static void vecset_case_random(void)
{
	struct pl_vecset set = {};
	u32 seed = 1997;

	memset(vecset_model, 0, sizeof(vecset_model));
	for (int step = 0; step < 20000; step++) {
		unsigned int vector;

		seed = seed * 1664525 + 1013904223;
		vector = seed >> 24;
		vecset_model[vector] = seed >> 23 & 1;
		if (vecset_model[vector])
			pl_vecset_add(&set, vector);
		else
			pl_vecset_del(&set, vector);
		CHECK_EQ(pl_vecset_has(&set, vector), vecset_model[vector]);
		CHECK_EQ(pl_vecset_top(&set), vecset_model_top());
		CHECK_EQ(pl_vecset_empty(&set), vecset_model_top() < 0);
	}
}

/* Every case, for whoever runs them. */
#define VECSET_CASES(do)		\
	do(vecset_case_empty)		\
	do(vecset_case_each_alone)	\
	do(vecset_case_random)
