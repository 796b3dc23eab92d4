/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _JOBS_H
#define _JOBS_H

/* In jobs.c, which is compiled with floating point. Arguments: see fp_work.h. */
void jobs_mode(int kind, int mode);
unsigned long long jobs_work(int kind, unsigned int rounds);

#endif
