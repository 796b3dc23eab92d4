// SPDX-License-Identifier: GPL-2.0-only
/* See call.h. */
#include "exec/cpu.h"
#include "exec/oncpu.h"
#include "exec/resched.h"
#include "exec/tick.h"

void rt_call_oob(void *arg)
{
	struct rt_call *call = arg;
	RT_TASK *task = call->task;
	struct rt_cpu *cpu = rt_cpu_of(READ_ONCE(task->cpu));
	bool here = cpu == rt_cpu_here(), poke = false;

	hardlock(&cpu->lock);
	/* A task changes CPU under both locks, and only before it starts. */
	while (unlikely(cpu != rt_cpu_of(task->cpu))) {
		hardunlock(&cpu->lock);
		cpu = rt_cpu_of(READ_ONCE(task->cpu));
		here = cpu == rt_cpu_here();
		hardlock(&cpu->lock);
	}
	if (task->state == CORE_DEAD) {
		call->error = -EINVAL;
	} else {
		call->error = call->fn(&cpu->rq, call);
		if (here)
			rt_exec_arm(cpu);
		else
			poke = cpu->rq.need_resched || timerq_early(&cpu->rq.timers);
	}
	hardunlock(&cpu->lock);
	if (poke)
		rt_exec_poke(cpu->rq.cpu);
}

int rt_call(struct rt_call *call)
{
	if (!rt_is_task(call->task))
		return -EINVAL;
	rt_exec_run(rt_call_oob, call);
	return call->error;
}
