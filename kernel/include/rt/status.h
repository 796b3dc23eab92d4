/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RT_STATUS_H
#define _RT_STATUS_H

#include <linux/kobject.h>

/** rt_kobj - the folder /sys/kernel/tactus, for modules that add a status file of their own */
extern struct kobject *rt_kobj;

#endif
