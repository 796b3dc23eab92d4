// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include "tests/kunit/cases.h"
#include "sched/admission.c"
#include "tests/unit/admission_cases.h"

ADMISSION_CASES(CASE)

static struct kunit_case cases[] = { ADMISSION_CASES(RUN) {} };

static struct kunit_suite suite = { .name = "admission", .test_cases = cases };
kunit_test_suite(suite);
MODULE_LICENSE("GPL");
