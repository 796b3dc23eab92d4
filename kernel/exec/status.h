/* SPDX-License-Identifier: GPL-2.0-only */
/* Text for /sys/kernel/tactus. */
#ifndef _TACTUS_EXEC_STATUS_H
#define _TACTUS_EXEC_STATUS_H

struct rt_table;

/* For /sys/kernel/tactus/. Context: Linux process; may sleep. */
void rt_tasks_show(struct rt_table *table);
void rt_timing_show(struct rt_table *table);

#endif
