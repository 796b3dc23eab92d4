/* SPDX-License-Identifier: GPL-2.0-only */
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

/**
 * rt_ns_to_ticks - a duration in clock ticks
 * @ns: nanoseconds
 *
 * For programs that do not want to know that a tick is a nanosecond.
 *
 * Context: any.
 * Return: ticks.
 */
static inline RTIME rt_ns_to_ticks(long long ns)
{
	return ns;
}

/**
 * rt_ticks_to_ns - the reverse
 * @ticks: a duration
 *
 * Context: any.
 * Return: nanoseconds.
 */
static inline long long rt_ticks_to_ns(RTIME ticks)
{
	return ticks;
}

/**
 * rt_to_monotonic_ns - what Linux's CLOCK_MONOTONIC shows at an instant
 * @when: an instant of rt_get_time()
 *
 * By how far the two clocks are apart now: Linux corrects its own by up to 500 ns in each ms,
 * so ask near the instant.
 *
 * Context: Linux process or Linux interrupt.
 * Return: ns of CLOCK_MONOTONIC.
 */
long long rt_to_monotonic_ns(RTIME when);

/**
 * rt_from_monotonic_ns - the reverse: an instant for rt_timer_start() and its like
 * @ns: of CLOCK_MONOTONIC
 *
 * Context: Linux process or Linux interrupt.
 * Return: an instant of rt_get_time().
 */
RTIME rt_from_monotonic_ns(long long ns);

#endif
