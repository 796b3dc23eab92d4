// SPDX-License-Identifier: GPL-2.0-only
/* See ring3.h. */
#include <linux/export.h>
#include <linux/ptrace.h>
#include <asm/fpu/api.h>

#include <uapi/tactus/rt.h>
#include "exec/cpu.h"
#include "exec/fp.h"
#include "exec/ring3.h"

void *rt_ring3_top(const RT_TASK *task)
{
	return task->fp_area;
}
EXPORT_SYMBOL_GPL(rt_ring3_top);

struct pt_regs *rt_ring3_regs(const RT_TASK *task)
{
	return (struct pt_regs *)task->fp_area - 1;
}
EXPORT_SYMBOL_GPL(rt_ring3_regs);

const char *rt_ring3_reason(unsigned int reason)
{
	static const char *const words[RT_END_REASONS] = {
		[RT_END_NONE] = "none", [RT_END_LEAVE] = "leave", [RT_END_SYSCALL] = "syscall",
		[RT_END_TRAP] = "trap", [RT_END_SIGNAL] = "signal", [RT_END_STOPPED] = "stopped",
		[RT_END_MEMORY] = "memory",
	};

	return reason < RT_END_REASONS ? words[reason] : "?";
}
EXPORT_SYMBOL_GPL(rt_ring3_reason);

void rt_ring3_demoted(const RT_TASK *task, unsigned int reason, u64 number, u64 ip)
{
	struct rt_cpu *cpu = rt_cpu_of(task->cpu);
	unsigned long flags = rt_cpu_lock(cpu);

	events_demote(&cpu->rq.events, task->id, reason, number, ip);
	rt_cpu_unlock(cpu, flags);
}
EXPORT_SYMBOL_GPL(rt_ring3_demoted);

/* Linux loads a thread's registers on the way to user mode only. */
static void hold_fp(void)
{
	fpregs_lock();
	if (test_thread_flag(TIF_NEED_FPU_LOAD))
		pl_ring3_load_fp();
}

void rt_ring3_attach(RT_TASK *task, struct pl_ring3 *ring3, struct rt_post *over)
{
	pl_ring3_take(&ring3->state);
	ring3->state.top = (unsigned long)rt_ring3_top(task);
	hold_fp();
	rt_fp_put(task->fp_area);
	fpregs_unlock();
	task->uses_fp = 1;
	task->ring3 = ring3;
	task->over = over;
}
EXPORT_SYMBOL_GPL(rt_ring3_attach);

void rt_ring3_detach(RT_TASK *task)
{
	hold_fp();
	rt_fp_get(task->fp_area);
	fpregs_unlock();
	pl_ring3_give(&task->ring3->state);
}
EXPORT_SYMBOL_GPL(rt_ring3_detach);
