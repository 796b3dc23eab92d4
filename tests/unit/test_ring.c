// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"
#include "rtfifo/ring.c"

/* As much as takes a second or so, under sanitizers. */
#define RING_CASE_SIZE 20
#define RING_CASE_STEPS 100000
#define RING_CASE_RECORDS 70
#define RING_CASE_RECORD_STEPS 400
#define ring_case_alloc malloc
#define ring_case_free free
#include "ring_cases.h"

#define CALL(name) name();

int main(void)
{
	RING_CASES(CALL)
	return 0;
}
