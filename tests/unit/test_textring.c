// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"
#include "sched/textring.c"
#include "textring_cases.h"

#define CALL(name) name();

int main(void)
{
	TEXTRING_CASES(CALL)
	return 0;
}
