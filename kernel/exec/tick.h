/* SPDX-License-Identifier: GPL-2.0-only */
/* The one-shot event and the IPI of each CPU. */
#ifndef _TACTUS_EXEC_TICK_H
#define _TACTUS_EXEC_TICK_H

#include "exec/assert.h"
#include "exec/cpu.h"

/** rt_exec_arm - set the timer if the first moment changed
 *
 * Context: hardware interrupts off, @cpu is this one, its lock held.
 */
static inline void rt_exec_arm(struct rt_cpu *cpu)
{
	rt_assert(pl_hard_disabled() && cpu == this_cpu_ptr(&rt_cpus) &&
		  hardlock_held(&cpu->lock));
	/* In a pass of rt_exec_timer() the first timers are those it is about to take. */
	if (!cpu->expiring && timerq_stale(&cpu->rq.timers))
		pl_timer_arm(cpu->rq.timers.armed);
}

/** rt_exec_poke - another CPU's rq has changed. Context: any, hardware interrupts off. */
void rt_exec_poke(int cpu);

/** rt_exec_timer - take all that is due at @now. Context: RT interrupt, as pl_client.timer. */
void rt_exec_timer(u64 now);

/** rt_exec_ipi - another CPU changed this one's rq. Context: RT interrupt, as pl_client.ipi. */
void rt_exec_ipi(void);

#endif
