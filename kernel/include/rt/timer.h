/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One-shot RT timers: a function called at a given moment (thesis, 3.4).
 */
#ifndef _RT_TIMER_H
#define _RT_TIMER_H

#include <linux/types.h>
#include <rt/time.h>

/**
 * struct rt_timer - one function, one moment; zero-initialise before first use
 * @fn: called with the timer, in RT interrupt context, hardware interrupts off,
 *	on the CPU that started it; it may start the timer again
 * @expires: the moment asked for, ns of rt_get_time(); valid in @fn
 *
 * The other members belong to the executive.
 */
struct rt_timer {
	void (*fn)(struct rt_timer *timer);
	RTIME expires;
	/* private: */
	u64 seq;
	int index;	/* place in the queue + 1; 0: not queued */
	int cpu;
};

/**
 * rt_timer_start - call @timer's function at @expires
 * @timer: with @timer->fn set; if it is running already, it is moved
 * @expires: ns of rt_get_time(); a moment in the past means at once
 *
 * Runs on the calling CPU; a timer that is queued on another CPU moves here.
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (no timer or function, negative @expires), -ENOSPC (queue full).
 */
int rt_timer_start(struct rt_timer *timer, RTIME expires);

/**
 * rt_timer_cancel - forget a timer
 * @timer: queued or not
 *
 * From Linux it also waits until @fn is not running any more.
 *
 * Context: any; waits only when called from Linux.
 * Return: 1 if it was queued, 0 if not, -EINVAL (no timer).
 */
int rt_timer_cancel(struct rt_timer *timer);

#endif
