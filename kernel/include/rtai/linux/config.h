/* SPDX-License-Identifier: GPL-2.0-only */
/* Of Linux 2.4: the configuration of a kernel with RTAI. */
#include <linux/kconfig.h>
#ifndef CONFIG_RTAI
#define CONFIG_RTAI 1
#endif
