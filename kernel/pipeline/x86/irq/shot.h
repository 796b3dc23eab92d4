/* SPDX-License-Identifier: GPL-2.0-only */
/* A one-shot timer as oneshot.c drives it. Private to pipeline/x86. */
#ifndef _TACTUS_SHOT_H
#define _TACTUS_SHOT_H

#include <linux/types.h>

/**
 * struct pl_shot - one way to get one interrupt after a given time
 * @name: for the status
 * @longest_ns: the longest wait that @arm takes
 * @arm: interrupt in @wait_ns, rather a little later than earlier; 0: at once
 * @disarm: do not interrupt
 *
 * Context: this CPU, hardware interrupts off.
 */
struct pl_shot {
	const char *name;
	u64 longest_ns;
	void (*arm)(u64 wait_ns);
	void (*disarm)(void);
};

#endif
