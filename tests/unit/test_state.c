// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"
#include "pipeline/x86/resident/state.h"
#include "state_cases.h"

#define CALL(name) name();

int main(void)
{
	STATE_CASES(CALL)
	return 0;
}
