// SPDX-License-Identifier: GPL-2.0-only
#define RT_POLICY_UNDER_TEST
#include <linux/module.h>
#include "tests/kunit/cases.h"
#include "sched/heap.c"
#include "sched/timerq.c"
#include "sched/core.c"
#include "sched/budget.c"
#include "tests/unit/sim_clock.h"
#include "sched/policy.c"
#include "sched/admission.c"
#include "policy/rm.c"
#include "policy/edf.c"
#include "sched/wait.c"
#include "tests/unit/sched_cases.h"
#include "tests/unit/sync_cases.h"
#include "tests/unit/budget_cases.h"

SCHED_CASES(CASE)
SYNC_CASES(CASE)
BUDGET_CASES(CASE)

static struct kunit_case cases[] = { SCHED_CASES(RUN) SYNC_CASES(RUN) BUDGET_CASES(RUN) {} };

static struct kunit_suite suite = { .name = "sched", .test_cases = cases };
kunit_test_suite(suite);
