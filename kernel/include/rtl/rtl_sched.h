/* SPDX-License-Identifier: GPL-2.0-only */
/* A name of RTLinux; see rtl_compat.h. */
#include <rtl_signal.h>
