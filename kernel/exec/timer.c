// SPDX-License-Identifier: GPL-2.0-only
/*
 * RT timers for users (thesis, 3.4). Their functions are called by exec_timer().
 *
 * A timer belongs to the queue of timer->cpu, queued or not; it changes under the locks
 * of both CPUs, so whoever holds the lock of that CPU's queue owns the timer.
 */
#include <linux/export.h>
#include <linux/module.h>

#include "exec/assert.h"
#include "exec/cpu.h"
#include "exec/qos.h"
#include "exec/tick.h"
#include "exec/timer.h"

/* Lock the CPU that owns @timer. Context: hardware interrupts off. */
static struct rt_cpu *lock_owner(const struct rt_timer *timer)
{
	for (;;) {
		int i = READ_ONCE(timer->cpu);
		struct rt_cpu *cpu = rt_cpu_of(i);

		hardlock(&cpu->lock);
		if (likely(READ_ONCE(timer->cpu) == i))
			return cpu;
		hardunlock(&cpu->lock);
	}
}

/*
 * Lock this CPU and make @timer its own; NULL, and why in *@err: there is no room, or this CPU is
 * on its way off line and has no queue any more. Context: hardware interrupts off.
 */
static struct rt_cpu *adopt(struct rt_timer *timer, int *err)
{
	struct rt_cpu *here = rt_cpu_here(), *owner = lock_owner(timer);
	bool queued;

	while (owner != here) {
		hardunlock(&owner->lock);
		hardlock_pair(&here->lock, &owner->lock);
		if (rt_cpu_of(READ_ONCE(timer->cpu)) == owner)
			break;
		hardunlock(&owner->lock);
		hardunlock(&here->lock);
		owner = lock_owner(timer);
	}
	queued = heap_queued(&timer->node);
	*err = !here->present ? -ENODEV : 0;
	if (!*err && owner != here && queued &&
	    here->rq.timers.users >= here->rq.timers.max_users && !core_grow(&here->rq))
		*err = -ENOSPC;
	if (!*err && owner != here) {
		RTIME expires = timer->expires;

		if (queued)
			timerq_remove(&owner->rq.timers, timer);
		WRITE_ONCE(timer->cpu, here->rq.cpu);
		if (queued)
			timerq_add(&here->rq.timers, timer, expires, 0);
	}
	if (owner != here)
		hardunlock(&owner->lock);
	if (!*err)
		return here;
	hardunlock(&here->lock);
	return NULL;
}

int rt_timer_start(struct rt_timer *timer, RTIME expires)
{
	bool bounded = true;
	struct rt_cpu *cpu;
	unsigned long flags;
	int error;

	if (!timer || !timer->fn || expires < 0)
		return -EINVAL;
	if (unlikely(!pl_active()))
		return -ENODEV;
	flags = pl_hard_save();
	cpu = adopt(timer, &error);
	if (cpu) {
		struct timerq *queue = &cpu->rq.timers;

		if (heap_queued(&timer->node))
			timerq_remove(queue, timer);
		error = timerq_add(queue, timer, expires, pl_clock());
		if (unlikely(error) && core_grow(&cpu->rq))
			error = timerq_add(queue, timer, expires, pl_clock());
		rt_exec_arm(cpu);
		bounded = READ_ONCE(rt_idle_bounded);
		hardunlock(&cpu->lock);
	}
	pl_hard_restore(flags);
	if (unlikely(!bounded))
		rt_idle_look_later();
	return error;
}
EXPORT_SYMBOL_GPL(rt_timer_start);

bool rt_timer_is_firing(const struct rt_timer *timer)
{
	int i;

	for_each_possible_cpu(i)
		if (READ_ONCE(rt_cpu_of(i)->firing) == timer)
			return true;
	return false;
}

int rt_timer_cancel(struct rt_timer *timer)
{
	unsigned long flags;
	struct rt_cpu *cpu;
	int found = 0;
	bool firing;

	if (!timer)
		return -EINVAL;
	for (;;) {
		flags = pl_hard_save();
		cpu = lock_owner(timer);
		if (heap_queued(&timer->node)) {
			timerq_remove(&cpu->rq.timers, timer);
			if (cpu == rt_cpu_here())
				rt_exec_arm(cpu);
			found = 1;
		}
		/*
		 * Under the lock, without which a function that runs could start the timer
		 * again and end between the two looks.
		 */
		firing = rt_timer_is_firing(timer);
		hardunlock(&cpu->lock);
		pl_hard_restore(flags);
		if (!firing || pl_oob())
			return found;
		cpu_relax();
	}
}
EXPORT_SYMBOL_GPL(rt_timer_cancel);

static bool is_of(const struct rt_timer *timer, const struct module *module)
{
	return timer->kind == TIMERQ_USER &&
	       (within_module((unsigned long)timer, module) ||
		within_module((unsigned long)timer->fn, module));
}

static struct rt_timer *find_of(struct rt_cpu *cpu, const struct module *module)
{
	struct heap *heap = &cpu->rq.timers.heap;
	unsigned int i;

	rt_assert(pl_hard_disabled() && hardlock_held(&cpu->lock));
	for (i = 0; i < heap->count; i++) {
		struct rt_timer *timer = container_of(heap->slot[i].node, struct rt_timer, node);

		if (is_of(timer, module))
			return timer;
	}
	return NULL;
}

void rt_timers_sweep(struct module *module)
{
	struct rt_timer *timer;
	unsigned int count = 0;
	unsigned long flags;
	int i;

	for_each_possible_cpu(i) {
		struct rt_cpu *cpu = rt_cpu_of(i);

		flags = rt_cpu_lock(cpu);
		for (; (timer = find_of(cpu, module)); count++)
			timerq_remove(&cpu->rq.timers, timer);
		rt_cpu_unlock(cpu, flags);
		while ((timer = READ_ONCE(cpu->firing)) && is_of(timer, module))
			cpu_relax();
	}
	if (count)
		pr_warn("module %s went without cancelling %u RT timers: cancelled\n",
			module->name, count);
}
