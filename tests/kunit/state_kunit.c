// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include "tests/kunit/cases.h"
#include "pipeline/x86/resident/state.h"
#include "tests/unit/state_cases.h"

STATE_CASES(CASE)

static struct kunit_case cases[] = { STATE_CASES(RUN) {} };

static struct kunit_suite suite = { .name = "state", .test_cases = cases };
kunit_test_suite(suite);
MODULE_LICENSE("GPL");
