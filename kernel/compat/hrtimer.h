/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux's own high-resolution timers, which the tests measure against. */
#ifndef _TACTUS_COMPAT_HRTIMER_H
#define _TACTUS_COMPAT_HRTIMER_H

#include <linux/hrtimer.h>
#include <linux/version.h>

/* 6.13: the function is an argument. */
static inline void compat_hrtimer_setup(struct hrtimer *timer,
					enum hrtimer_restart (*fn)(struct hrtimer *timer),
					clockid_t clock, enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, fn, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = fn;
#endif
}

#endif
