/* SPDX-License-Identifier: GPL-2.0-only */
/* One-shot timers as the pipeline drives them, and how to lend it another one. */
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

/**
 * pl_shot_lend - have a CPU's events come by another timer than the APIC's, which is off then
 * @cpu: stays online from now on
 * @shot: its handler calls pl_shot_due(); NULL: give it back
 *
 * Context: Linux process; the pipeline is on.
 * Return: 0, or -ENXIO: @cpu is not online.
 */
int pl_shot_lend(int cpu, const struct pl_shot *shot);

/** pl_shot_due - the timer that was lent has interrupted. Context: RT interrupt, its CPU. */
void pl_shot_due(void);

#endif
