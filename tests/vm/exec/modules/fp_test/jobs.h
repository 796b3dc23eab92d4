/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _JOBS_H
#define _JOBS_H

enum work_kind {
	WORK_SSE,	/* doubles, one at a time */
	WORK_X87,	/* 80 bits */
	WORK_AVX,	/* four doubles at a time */
};

/* Rounding modes, as the hardware counts them. */
enum work_mode { TO_NEAREST, DOWN, UP, TO_ZERO };

/* In jobs.c, which is compiled with floating point; see fp_work.h. */
void jobs_mode(int kind, int mode);
unsigned long long jobs_work(int kind, unsigned int rounds);

#endif
