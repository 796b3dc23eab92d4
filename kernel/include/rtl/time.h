/* SPDX-License-Identifier: GPL-2.0-only */
/* A name of RTLinux; see rtl_compat.h and rtl_signal.h. */
#ifndef _RTL_TIME_H
#define _RTL_TIME_H

#include <rtl_signal.h>

#define time_t long

/** time - seconds since 1970. Any context. */
static inline time_t time(time_t *seconds)
{
	time_t now = clock_gethrtime(CLOCK_REALTIME) / NSECS_PER_SEC;

	if (seconds)
		*seconds = now;
	return now;
}

#endif
