/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Time as RT tasks see it (thesis, Appendix A.1).
 *
 * An RTIME is a number of clock ticks; a tick is one nanosecond. Instants count
 * from the CPU's reset (the TSC's zero) and are not related to Linux's clocks.
 */
#ifndef _RT_TIME_H
#define _RT_TIME_H

typedef long long RTIME;

/** RT_TICKS_PER_SEC - clock ticks in one second; constant (thesis, A.1). */
#define RT_TICKS_PER_SEC 1000000000LL

/**
 * rt_get_time - the present moment
 *
 * Context: any.
 * Return: ticks (ns) since the CPU's reset; monotonic on one CPU.
 */
RTIME rt_get_time(void);

#endif
