/* SPDX-License-Identifier: GPL-2.0-only */
/* <asm/rt_irq.h> as Real-Time Linux 0.5 spelled it; everything is in <rt/irq.h>. */
#ifndef _V05_ASM_RT_IRQ_H
#define _V05_ASM_RT_IRQ_H

#include <rt/irq.h>
#include "../entry.h"

#endif
