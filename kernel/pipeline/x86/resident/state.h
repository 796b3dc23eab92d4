/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What to do with an interrupt meant for Linux: the decision of the thesis's soft
 * interrupts (3.1) as a table. Pure logic.
 *
 *   interrupted code          in-band stage     action
 *   ------------------------  ----------------  ---------------------------------
 *   user mode                 (not stalled)     run Linux's handler now
 *   kernel mode               not stalled       run Linux's handler now
 *   kernel mode               stalled           log it; replayed at the soft sti
 *   RT code, in any ring      stalled on entry  log it; replayed on the way back
 *
 * and with Linux's interrupt flag around an exception:
 *
 *   interrupted code          hard IF  stalled  Linux's handler sees  runs hard
 *   ------------------------  -------  -------  --------------------  ---------
 *   user mode                 1        -        IF=1                  on
 *   kernel mode               1        no       IF=1                  on
 *   kernel mode               1        yes      IF=0                  on
 *   kernel mode               0        -        IF=0                  off
 *   RT code, kernel mode      -        yes      IF=0                  off
 *   RT code, ring 3           1        yes      is not called: the task's
 */
#ifndef _TACTUS_STATE_H
#define _TACTUS_STATE_H

#include <rt/pure.h>

/** pl_may_run - may a Linux interrupt that arrives now run its handler at once? */
static inline bool pl_may_run(bool user_mode, bool stalled, bool oob)
{
	return !oob && (user_mode || !stalled);
}

struct pl_exc_plan {
	bool hide_if;	/* show Linux's handler IF=0 although the hardware's was 1 */
	bool hard_on;	/* run Linux's handler with hardware interrupts on */
	bool replay;	/* what was logged meanwhile runs when the handler is done */
	bool task;	/* not Linux's at all: RT code in ring 3 goes on as a thread of Linux */
};

/** pl_exc_plan - how to call Linux's exception handler, by the second table above */
static inline struct pl_exc_plan pl_exc_plan(bool user_mode, bool hard_if, bool stalled, bool oob)
{
	bool open = user_mode || (hard_if && !stalled);

	return (struct pl_exc_plan) {
		.hide_if = hard_if && (oob || (stalled && !user_mode)),
		.hard_on = !oob && (user_mode || hard_if),
		.replay = !oob && open,
		.task = oob && user_mode,
	};
}

#endif
