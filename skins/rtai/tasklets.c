// SPDX-License-Identifier: GPL-2.0-only
/*
 * RTAI's tasklets and timers. Tasklets run where rt_exec_tasklet() is called. Timers run in RT
 * interrupts, as RT timers do; with floating point only if the handler's file has none.
 */
#include "native.h"

static LIST_HEAD(tasklets);
static DEFINE_SPINLOCK(tasklets_lock);

static void fire(struct rt_timer *timer)
{
	struct rt_tasklet_struct *t = container_of(timer, struct rt_tasklet_struct, timer);

	if (t->period > 0) {
		t->firing_time += t->period;
		/* Late by more than a period: the missed ones are counted, not run. */
		while (t->firing_time <= rt_get_time()) {
			t->firing_time += t->period;
			t->overrun++;
		}
		rt_timer_start(timer, t->firing_time);
	}
	t->handler(t->data);
}

int rt_insert_timer(struct rt_tasklet_struct *timer, int priority, RTIME firing_time, RTIME period,
		    void (*handler)(unsigned long data), unsigned long data, int pid)
{
	if (!timer || !handler || firing_time < 0 || period < 0 || pid > 0)
		return -EINVAL;
	rt_timer_cancel(&timer->timer);
	timer->priority = priority;
	timer->firing_time = firing_time;
	timer->period = period;
	timer->handler = handler;
	timer->data = data;
	timer->overrun = 0;
	timer->timer.fn = fire;
	return rt_timer_start(&timer->timer, firing_time);
}
EXPORT_SYMBOL_GPL(rt_insert_timer);

void rt_remove_timer(struct rt_tasklet_struct *timer)
{
	if (timer) {
		timer->period = 0;
		rt_timer_cancel(&timer->timer);
	}
}
EXPORT_SYMBOL_GPL(rt_remove_timer);

void rt_set_timer_firing_time(struct rt_tasklet_struct *timer, RTIME firing_time)
{
	if (timer && timer->timer.fn && firing_time >= 0) {
		timer->firing_time = firing_time;
		rt_timer_start(&timer->timer, firing_time);
	}
}
EXPORT_SYMBOL_GPL(rt_set_timer_firing_time);

void rt_set_timer_period(struct rt_tasklet_struct *timer, RTIME period)
{
	if (timer && period >= 0)
		timer->period = period;
}
EXPORT_SYMBOL_GPL(rt_set_timer_period);

void rt_get_timer_times(struct rt_tasklet_struct *timer, RTIME times[])
{
	times[0] = timer->firing_time - rt_get_time();
	times[1] = timer->period;
}
EXPORT_SYMBOL_GPL(rt_get_timer_times);

/* Context: any but RT code: the list is Linux's. */
int rt_insert_tasklet(struct rt_tasklet_struct *tasklet, int priority,
		      void (*handler)(unsigned long data), unsigned long data, unsigned long id,
		      int pid)
{
	if (!tasklet || !handler || pid > 0 || rt_context() != RT_CONTEXT_LINUX)
		return -EINVAL;
	tasklet->priority = priority;
	tasklet->handler = handler;
	tasklet->data = data;
	tasklet->id = id;
	spin_lock(&tasklets_lock);
	if (!tasklet->all.next)
		list_add(&tasklet->all, &tasklets);
	spin_unlock(&tasklets_lock);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_insert_tasklet);

void rt_remove_tasklet(struct rt_tasklet_struct *tasklet)
{
	spin_lock(&tasklets_lock);
	if (tasklet && tasklet->all.next) {
		list_del(&tasklet->all);
		tasklet->all.next = NULL;
	}
	spin_unlock(&tasklets_lock);
}
EXPORT_SYMBOL_GPL(rt_remove_tasklet);

struct rt_tasklet_struct *rt_find_tasklet_by_id(unsigned long id)
{
	struct rt_tasklet_struct *t, *found = NULL;

	spin_lock(&tasklets_lock);
	list_for_each_entry(t, &tasklets, all)
		if (t->id == id)
			found = t;
	spin_unlock(&tasklets_lock);
	return found;
}
EXPORT_SYMBOL_GPL(rt_find_tasklet_by_id);

int rt_exec_tasklet(struct rt_tasklet_struct *tasklet)
{
	if (!tasklet || !tasklet->all.next)
		return -EINVAL;
	tasklet->handler(tasklet->data);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_exec_tasklet);

/* Those of a program that goes, and that it left in the list. */
void tasklets_forget(const struct module *mod)
{
	struct rt_tasklet_struct *t, *next;

	spin_lock(&tasklets_lock);
	list_for_each_entry_safe(t, next, &tasklets, all)
		if (!mod || within_module((unsigned long)t->handler, mod)) {
			list_del(&t->all);
			t->all.next = NULL;
		}
	spin_unlock(&tasklets_lock);
}
