/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A floating point computation whose result depends on every bit of every step: x = r x (1 - x)
 * in its chaotic range. The same lines run in RT tasks, in Linux programs, in the kernel and on
 * the host, whose result is the one expected. One wrong rounding and nothing is left of it.
 */
#ifndef _FP_WORK_H
#define _FP_WORK_H

#include "jobs.h"

/* Lasts until somebody sets another. */
static inline void work_mode(enum work_kind kind, enum work_mode mode)
{
	unsigned int mxcsr = 0x1f80 | mode << 13;
	unsigned short control = 0x37f | mode << 10;

	if (kind == WORK_X87)
		__asm__ volatile("fldcw %0" : : "m" (control));
	else
		__asm__ volatile("ldmxcsr %0" : : "m" (mxcsr));
}

static inline unsigned long long work_sse(unsigned int rounds)
{
	union {
		double x;
		unsigned long long bits;
	} u = { .x = 0.3 };

	while (rounds--)
		u.x = 3.9 * u.x * (1.0 - u.x);
	return u.bits;
}

static inline unsigned long long work_x87(unsigned int rounds)
{
	union {
		long double x;
		unsigned long long bits;	/* of the significand */
	} u = { .x = 0.3L };

	while (rounds--)
		u.x = 3.9L * u.x * (1.0L - u.x);
	return u.bits;
}

/* All of it stays in registers: four different seeds, then their bits are mixed. */
static inline unsigned long long work_avx(unsigned int rounds)
{
	static const double x[4] = { 0.1, 0.2, 0.3, 0.4 }, r[4] = { 3.9, 3.8, 3.7, 3.85 },
		one[4] = { 1, 1, 1, 1 };
	unsigned long long out[4];

	__asm__ volatile("vmovupd %2, %%ymm15\n\t"
			 "vmovupd %3, %%ymm14\n\t"
			 "vmovupd %4, %%ymm13\n"
			 "1:\n\t"
			 "vsubpd %%ymm15, %%ymm13, %%ymm12\n\t"
			 "vmulpd %%ymm14, %%ymm15, %%ymm15\n\t"
			 "vmulpd %%ymm12, %%ymm15, %%ymm15\n\t"
			 "dec %0\n\t"
			 "jnz 1b\n\t"
			 "vmovupd %%ymm15, %1\n\t"
			 "vzeroupper"
			 : "+r" (rounds), "=m" (out)
			 : "m" (x), "m" (r), "m" (one)
			 : "xmm12", "xmm13", "xmm14", "xmm15");
	return out[0] ^ out[1] << 1 ^ out[2] << 2 ^ out[3] << 3;
}

/* @rounds is above 0. */
static inline unsigned long long work(enum work_kind kind, unsigned int rounds)
{
	return kind == WORK_SSE ? work_sse(rounds) :
	       kind == WORK_X87 ? work_x87(rounds) : work_avx(rounds);
}

#endif
