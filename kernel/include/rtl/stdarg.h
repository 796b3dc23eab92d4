/* SPDX-License-Identifier: GPL-2.0-only */
/* Variable arguments, as Linux has them. */
#include <linux/stdarg.h>
