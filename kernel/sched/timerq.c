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
}

static int insert(struct timerq *queue, struct rt_timer *timer, RTIME expires, RTIME key)
{
	timer->expires = expires;
	return heap_insert(&queue->heap, &timer->node, key);
}

int timerq_add(struct timerq *queue, struct rt_timer *timer, RTIME expires, RTIME now)
{
	int err = -ENOSPC;

	if (queue->users < queue->max_users)
		err = insert(queue, timer, expires, expires > now ? expires : now + 1);
	if (!err)
		queue->users++;
	return err;
}

void timerq_add_release(struct timerq *queue, struct rt_timer *timer, RTIME expires)
{
	insert(queue, timer, expires, expires);
}

void timerq_remove(struct timerq *queue, struct rt_timer *timer)
{
	heap_remove(&queue->heap, &timer->node);
	queue->users--;
}

void timerq_remove_release(struct timerq *queue, struct rt_timer *timer)
{
	if (heap_queued(&timer->node))
		heap_remove(&queue->heap, &timer->node);
}
