/* SPDX-License-Identifier: GPL-2.0-only */
/* The module rt_libm, by the name of RTAI: see tools/libm. */
#include <libm/math.h>
