/* SPDX-License-Identifier: GPL-2.0-only */
/* Text for /sys/kernel/tactus. */
#ifndef _TACTUS_EXEC_STATUS_H
#define _TACTUS_EXEC_STATUS_H

#include <linux/types.h>

/* For /sys/kernel/tactus/. Context: Linux process; may sleep. */
ssize_t rt_tasks_show(char *buf);
ssize_t rt_timing_show(char *buf);

#endif
