// SPDX-License-Identifier: GPL-2.0-only
/* rt_libm: functions of <math.h> for RT tasks. It has nothing to start. */
#include <linux/module.h>

MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Tactus: musl's mathematical functions for RT tasks");
