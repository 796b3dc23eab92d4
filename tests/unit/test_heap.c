// SPDX-License-Identifier: GPL-2.0
#include "check.h"
#include "sched/heap.c"
#include "heap_cases.h"

int main(void)
{
	heap_case_random();
	heap_case_fifo_among_equals();
	heap_case_full();
	return 0;
}
