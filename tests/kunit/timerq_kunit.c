// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include "tests/kunit/cases.h"
#include "sched/heap.c"
#include "sched/timerq.c"
#include "tests/unit/timerq_cases.h"

TIMERQ_CASES(CASE)

static struct kunit_case cases[] = { TIMERQ_CASES(RUN) {} };

static struct kunit_suite suite = { .name = "timerq", .test_cases = cases };
kunit_test_suite(suite);
MODULE_LICENSE("GPL");
