// SPDX-License-Identifier: GPL-2.0
#include "check.h"
#include "sched/heap.c"
#include "timer/timerq.c"
#include "timerq_cases.h"

int main(void)
{
	timerq_case_order_and_due();
	timerq_case_arming();
	timerq_case_full();
	return 0;
}
