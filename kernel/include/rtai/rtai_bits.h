/* SPDX-License-Identifier: GPL-2.0-only */
/* A name of RTAI; see rtai_compat.h. */
#include <rtai_compat.h>
