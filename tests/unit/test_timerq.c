// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"
#include "sched/heap.c"
#include "sched/timerq.c"
#include "timerq_cases.h"

#define CALL(name) name();

int main(void)
{
	TIMERQ_CASES(CALL)
	return 0;
}
