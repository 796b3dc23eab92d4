// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include "tests/kunit/cases.h"
#include "sched/textring.c"
#include "tests/unit/textring_cases.h"

TEXTRING_CASES(CASE)

static struct kunit_case cases[] = { TEXTRING_CASES(RUN) {} };

static struct kunit_suite suite = { .name = "textring", .test_cases = cases };
kunit_test_suite(suite);
MODULE_LICENSE("GPL");
