/* SPDX-License-Identifier: GPL-2.0-only */
/* /sys/kernel/tactus, and what it and the log say alike. Private to kernel/main.c. */
#ifndef _TACTUS_SYSFS_H
#define _TACTUS_SYSFS_H

struct pl_summary;

/** rt_sysfs_init - make the files; 0 or -ENOMEM. Context: Linux process; may sleep. */
int rt_sysfs_init(void);

/** rt_sysfs_exit - remove the files. Context: Linux process; may sleep. */
void rt_sysfs_exit(void);

/** rt_mode_name - how RT code gets the CPU: "pipeline" or "hosted" */
const char *rt_mode_name(void);

/** rt_timer_name - the one-shot device in use */
const char *rt_timer_name(void);

/** rt_get_summary - what was installed, in either mode. Context: Linux process; may sleep. */
void rt_get_summary(struct pl_summary *summary);

#endif
