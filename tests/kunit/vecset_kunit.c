// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include "tests/kunit/cases.h"
#include "pipeline/x86/resident/vecset.h"
#include "tests/unit/vecset_cases.h"

VECSET_CASES(CASE)

static struct kunit_case cases[] = { VECSET_CASES(RUN) {} };

static struct kunit_suite suite = { .name = "vecset", .test_cases = cases };
kunit_test_suite(suite);
MODULE_LICENSE("GPL");
