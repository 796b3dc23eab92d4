// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"
#include "pipeline/x86/resident/vecset.h"
#include "vecset_cases.h"

#define CALL(name) name();

int main(void)
{
	VECSET_CASES(CALL)
	return 0;
}
