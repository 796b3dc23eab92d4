// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"
#include "sched/admission.c"
#include "admission_cases.h"

#define CALL(name) name();

int main(void)
{
	ADMISSION_CASES(CALL)
	return 0;
}
