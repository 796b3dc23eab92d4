// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include "tests/kunit/cases.h"
#include "sched/heap.c"
#include "tests/unit/heap_cases.h"

HEAP_CASES(CASE)

static struct kunit_case cases[] = { HEAP_CASES(RUN) {} };

static struct kunit_suite suite = { .name = "heap", .test_cases = cases };
kunit_test_suite(suite);
MODULE_LICENSE("GPL");
