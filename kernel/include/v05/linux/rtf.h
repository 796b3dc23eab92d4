/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/rtf.h> as Real-Time Linux 0.5 spelled it; everything is in <rt/fifo.h>. */
#ifndef _V05_LINUX_RTF_H
#define _V05_LINUX_RTF_H

#include <rt/fifo.h>
#include "../entry.h"

#endif
