// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"
#include "sched/heap.c"
#include "heap_cases.h"

#define CALL(name) name();

int main(void)
{
	HEAP_CASES(CALL)
	return 0;
}
