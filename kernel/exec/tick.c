// SPDX-License-Identifier: GPL-2.0-only
/* The one-shot event: releases, budgets, the watchdog, and users' timers, in order of time. */
#include <rt/post.h>
#include <rt/printk.h>
#include "exec/assert.h"
#include "exec/cpu.h"
#include "exec/objects.h"
#include "exec/resched.h"
#include "exec/tick.h"

void rt_exec_poke(int cpu)
{
	pl_ipi(cpu);
}

void rt_exec_arm_first(struct rt_cpu *cpu)
{
	rt_exec_arm(cpu);
}

/* Name the tasks that the core stopped. The lock keeps them from being freed meanwhile. */
static noinline void report_stopped(struct rt_cpu *cpu)
{
	RT_TASK *task;

	hardlock(&cpu->lock);
	while ((task = core_next_stopped(&cpu->rq))) {
		rt_printk(KERN_WARNING "tactus: task %s took the CPU for too long: stopped%s\n",
			  task->name, READ_ONCE(task->owned) ? "; it owns a mutex" : "");
		if (task->over)
			rt_post(task->over);
	}
	hardunlock(&cpu->lock);
}

/* Objects have a lock that comes before the CPU's. Meanwhile @firing keeps @task in being. */
static noinline void time_out(struct rt_cpu *cpu, RT_TASK *task)
{
	rt_assert(pl_hard_disabled() && hardlock_held(&cpu->lock));
	timerq_remove_release(&cpu->rq.timers, &task->timer);
	WRITE_ONCE(cpu->firing, &task->timer);
	hardunlock(&cpu->lock);
	rt_sync_timeout(task);
	hardlock(&cpu->lock);
	WRITE_ONCE(cpu->firing, NULL);
}

/* Call a user's function, the lock given back meanwhile. */
static void call_user(struct rt_cpu *cpu, struct rt_timer *timer)
{
	timerq_remove(&cpu->rq.timers, timer);
	WRITE_ONCE(cpu->firing, timer);
	hardunlock(&cpu->lock);
	rt_exec_late(timer->expires);
	/* A function that fails is not called again: it is in the queue no more. */
	pl_guarded(timer->fn, timer);
	rt_assert(pl_hard_disabled());
	hardlock(&cpu->lock);
	WRITE_ONCE(cpu->firing, NULL);
}

/* What the one-shot event interrupts: late, it tells who kept hardware interrupts off. */
static noinline void note_timer(struct rt_cpu *cpu, RTIME now)
{
	const RT_TASK *curr = cpu->rq.curr;

	events_put(&cpu->rq.events, EVENT_TIMER, curr ? curr->id : EVENT_LINUX,
		   curr ? 0 : pl_linux_ip(), now);
}

/* Anything due but a release. Apart, so that a pass of releases saves few registers. */
static noinline void take_other(struct rt_cpu *cpu, struct rt_timer *timer, RTIME now)
{
	switch (timer->kind) {
	case TIMERQ_RELEASE:
		time_out(cpu, container_of(timer, RT_TASK, timer));
		break;
	case TIMERQ_BUDGET:
		core_budget_due(&cpu->rq, now);
		break;
	case TIMERQ_WATCH:
		core_watch_due(&cpu->rq, now);
		break;
	case TIMERQ_USER:
		call_user(cpu, timer);
		break;
	}
}

/* The first timer was started in this pass. Return: when to go on. */
static noinline u64 not_before_gap(struct rt_cpu *cpu, u64 first)
{
	u64 now = pl_clock();

	rt_assert(hardlock_held(&cpu->lock));
	return first <= now ? now + TIMERQ_GAP_NS : first;
}

/*
 * The one-shot event: all that is due at @now, the moment of entry. What functions start
 * meanwhile comes later, so this ends. Then the device is set, and whoever is to run now is chosen
 * under the same lock and by the same reading of the clock; the switch is rt_exec_resched()'s.
 */
rt_path void rt_exec_timer(u64 now)
{
	struct rt_cpu *cpu = rt_cpu_here();
	struct timerq *queue = &cpu->rq.timers;
	struct rt_timer *timer;
	u64 mark, next;

	rt_assert(pl_hard_disabled() && pl_oob() && pl_in_irq());
	hardlock(&cpu->lock);
	if (unlikely(cpu->rq.events.slot))
		note_timer(cpu, now);
	mark = timerq_mark(queue);
	cpu->expiring = true;
	while (unlikely(timer = core_release_due(&cpu->rq, now)))
		take_other(cpu, timer, now);
	cpu->expiring = false;
	next = timerq_fired(queue);
	if (unlikely(timerq_fresh(queue, mark)))
		next = not_before_gap(cpu, next);
	if (pl_timer_done(next, &now) && likely(cpu->rq.need_resched))
		rt_exec_choose(cpu, now);
	hardunlock(&cpu->lock);
	if (unlikely(cpu->rq.stopped))
		report_stopped(cpu);
}

/* Another CPU changed the rq: a first timer that only this CPU can arm, or a ready task. */
void rt_exec_ipi(void)
{
	struct rt_cpu *cpu = rt_cpu_here();

	hardlock(&cpu->lock);
	rt_exec_arm(cpu);
	hardunlock(&cpu->lock);
}
