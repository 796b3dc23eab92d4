// SPDX-License-Identifier: GPL-2.0-only
/* Operations of a table take what the table says, needed or not. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define RT_POLICY_UNDER_TEST
#include "check.h"
#include "sched/heap.c"
#include "sched/timerq.c"
#include "sched/core.c"
#include "sched/budget.c"
#include "sim_clock.h"
#include "sched/policy.c"
#include "sched/admission.c"
#include "policy/rm.c"
#include "policy/edf.c"
#include "sched/wait.c"
#include "sched_cases.h"
#include "sync_cases.h"
#include "budget_cases.h"

#define CALL(name) name();

int main(void)
{
	SCHED_CASES(CALL)
	SYNC_CASES(CALL)
	BUDGET_CASES(CALL)
	return 0;
}
