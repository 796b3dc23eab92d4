// SPDX-License-Identifier: GPL-2.0-only
/* See timerq.h. */
#include "sched/timerq.h"

void timerq_init(struct timerq *queue, struct heap_slot *slots, unsigned int capacity,
		 unsigned int max_users)
{
	heap_init(&queue->heap, slots, capacity);
	queue->users = 0;
	queue->max_users = max_users;
	queue->armed = TIMERQ_NEVER;
	queue->gravity = (struct timerq_gravity) {};
}

int timerq_add(struct timerq *queue, struct rt_timer *timer, RTIME expires, RTIME now)
{
	RTIME key = timerq_key(expires, queue->gravity.timer);
	int err = -ENOSPC;

	if (queue->users < queue->max_users)
		err = timerq_insert(queue, timer, expires, key > now ? key : now + 1);
	if (!err)
		queue->users++;
	return err;
}

void timerq_remove(struct timerq *queue, struct rt_timer *timer)
{
	heap_remove(&queue->heap, &timer->node);
	queue->users--;
}
