/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One-shot RT timers: a function called at a given moment (thesis, 3.4).
 */
#ifndef _RT_TIMER_H
#define _RT_TIMER_H

#include <rt/node.h>
#include <rt/time.h>

/**
 * RT_MAX_TIMERS - how many timers may be queued on one CPU
 *
 * The releases of RT tasks do not count.
 */
#define RT_MAX_TIMERS 1024

/**
 * struct rt_timer - one function, one moment; zero-initialise before first use
 * @fn: called with the timer, in RT interrupt context, hardware interrupts off,
 *	on the CPU that started it; it may start the timer again. It is left at a fault of it
 * @expires: the moment asked for, ns of rt_get_time(); valid in @fn
 *
 * The other members belong to the executive.
 */
struct rt_timer {
	/* private: */
	struct rt_node node;
	unsigned short cpu;	/* whose queue it is, or was, in */
	unsigned char kind;	/* enum timerq_kind */
	/* public: */
	RTIME expires;
	void (*fn)(struct rt_timer *timer);
};

/**
 * rt_timer_start - call @timer's function at @expires
 * @timer: with @timer->fn set; if it is queued already, it is moved
 * @expires: ns of rt_get_time(); a moment in the past means at once
 *
 * Runs on the calling CPU; a timer that is queued on another CPU moves here. When
 * it returns an error, a timer that was queued still is, as it was.
 *
 * A timer started for the past comes behind those that are due. When a timer's
 * function does that, it is called 5 us later at the earliest, so that a function
 * that always does it locks out neither tasks nor Linux.
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (no timer or function, negative @expires), -ENOSPC
 * (RT_MAX_TIMERS are queued on this CPU), -ENODEV (this CPU is on its way off line, or the
 * executive is not active).
 * Source: thesis, 3.4.
 */
int rt_timer_start(struct rt_timer *timer, RTIME expires);

/**
 * rt_timer_cancel - forget a timer
 * @timer: queued or not
 *
 * From Linux it also waits until @fn is not running any more, so that @timer may
 * be freed then. A function that starts its own timer again is defeated, too.
 *
 * Context: any; waits only when called from Linux.
 * Return: 1 if it was queued, 0 if not, -EINVAL (no timer).
 */
int rt_timer_cancel(struct rt_timer *timer);

#endif
