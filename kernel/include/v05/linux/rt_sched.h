/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/rt_sched.h> as Real-Time Linux 0.5 spelled it; everything is in <rt/task.h>. */
#ifndef _V05_LINUX_RT_SCHED_H
#define _V05_LINUX_RT_SCHED_H

#include <rt/task.h>
#include "../entry.h"

#endif
