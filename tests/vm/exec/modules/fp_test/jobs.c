// SPDX-License-Identifier: GPL-2.0-only
/* What uses floating point, and nothing else. */
#include "fp_work.h"
#include "jobs.h"

void jobs_mode(int kind, int mode)
{
	work_mode(kind, mode);
}

unsigned long long jobs_work(int kind, unsigned int rounds)
{
	return work(kind, rounds);
}
