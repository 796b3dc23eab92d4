/* SPDX-License-Identifier: GPL-2.0-only */
/* The one-shot event and the IPI of each CPU. */
#ifndef _TACTUS_EXEC_TICK_H
#define _TACTUS_EXEC_TICK_H

#include "exec/assert.h"
#include "exec/cpu.h"
#include "exec/fp.h"

/** rt_exec_arm_first - rt_exec_arm(), where it is rarely needed: a call. Context: as of that */
void rt_exec_arm_first(struct rt_cpu *cpu);

/** rt_exec_arm - set the timer if the first moment changed
 *
 * Context: hardware interrupts off, @cpu is this one, its lock held.
 */
static inline void rt_exec_arm(struct rt_cpu *cpu)
{
	rt_assert(pl_hard_disabled() && cpu == rt_cpu_here() &&
		  hardlock_held(&cpu->lock));
	/* In a pass of rt_exec_timer() the first timers are those it is about to take. */
	if (!cpu->expiring && unlikely(timerq_stale(&cpu->rq.timers)))
		pl_timer_arm(cpu->rq.timers.armed);
}

/** rt_exec_may_choose - is somebody else to run, perhaps, and now? Context: @cpu is this one */
static __always_inline bool rt_exec_may_choose(const struct rt_cpu *cpu)
{
	if (!READ_ONCE(cpu->rq.need_resched))
		return false;
	/* Hosted, a job that has begun runs to its end; need_resched stays. */
	return !pl_hosted() || !cpu->rq.curr || !READ_ONCE(cpu->rq.curr->queued);
}

/** rt_exec_pick - who is to run, from @now on? The switch to it, which is rq.curr then, comes next
 *
 * @released: there was a release just now; else it is the running task's call
 *
 * Context: as above, the lock is held.
 * Return: whom that is from.
 */
static __always_inline RT_TASK *rt_exec_pick(struct rt_cpu *cpu, u64 now, bool released)
{
	RT_TASK *prev = cpu->rq.curr;
	RT_TASK *next = released ? core_pick_released(&cpu->rq, now) : core_pick(&cpu->rq, now);

	rt_assert(!cpu->chosen);
	if (likely(next != prev)) {
		if (likely(next))
			next->frame.on_cpu = 1;
		rt_fp_switch(cpu, next);
	}
	/* A budget, the watchdog, or the task's next release. At a release it has just been set. */
	if (!released)
		rt_exec_arm(cpu);
	else if (unlikely(timerq_changed(&cpu->rq.timers)))
		rt_exec_arm_first(cpu);
	return prev;
}

/** rt_exec_choose - the same, and rt_exec_resched() makes the switch. Context: as above */
static __always_inline void rt_exec_choose(struct rt_cpu *cpu, u64 now)
{
	cpu->prev = rt_exec_pick(cpu, now, true);
	cpu->chosen = true;
}

/** rt_exec_poke - another CPU's rq has changed. Context: any, hardware interrupts off. */
void rt_exec_poke(int cpu);

/** rt_exec_timer - take all that is due at @now. Context: RT interrupt, as pl_client.timer. */
void rt_exec_timer(u64 now);

/** rt_exec_ipi - another CPU changed this one's rq. Context: RT interrupt, as pl_client.ipi. */
void rt_exec_ipi(void);

#endif
