/* SPDX-License-Identifier: GPL-2.0-only */
/* What Linux 2.4 called it. */
#include <linux/slab.h>
