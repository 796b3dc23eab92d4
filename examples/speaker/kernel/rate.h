/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SPEAKER_RATE_H
#define _SPEAKER_RATE_H

#include <rt/pure.h>

/* Ticks of the clock that plays: @num in @den seconds, as a second of it need not be whole. */
struct tick_rate {
	u32 num;
	u32 den;
};

#endif
