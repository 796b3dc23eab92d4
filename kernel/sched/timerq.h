/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU's timer queue, in front of its one-shot device.
 *
 * Pure logic; its user locks. It also remembers what the device was last set to, so
 * that the device is touched when the first moment changes and not otherwise.
 *
 * Users' timers are counted; the releases of tasks are not, they always have room.
 *
 * A user's function, and a job, begin some time after the device has gone off, never less than
 * their gravity. So what leads to one is due in the queue that much sooner than it was asked for,
 * and whoever takes it waits for the rest, if there is any.
 */
#ifndef _TACTUS_TIMERQ_H
#define _TACTUS_TIMERQ_H

#include <rt/timer.h>
#include "sched/heap.h"

#define TIMERQ_NEVER (~0ULL)

/*
 * How long a timer that a timer's function started for the past has to wait: functions
 * that always do so must not lock out all else.
 */
#define TIMERQ_GAP_NS 5000

/* What a timer in the queue is for. */
enum timerq_kind {
	TIMERQ_USER,		/* its function is called; zero, as in what users zero-initialise */
	TIMERQ_RELEASE,		/* of a task, or the end of its sleep: core_release() */
	TIMERQ_BUDGET,		/* rq->budget_timer: core_budget_due() */
	TIMERQ_WATCH,		/* rq->watch_timer: core_watch_due() */
};

/* What lies between the device and what it is for, at least; ns. */
struct timerq_gravity {
	unsigned int timer;	/* and a user's function */
	unsigned int job;	/* and a task's job */
};

struct timerq {
	struct heap heap;
	u64 armed;		/* what the device is set to */
	unsigned int users;	/* how many of them are users' */
	unsigned int max_users;
	struct timerq_gravity gravity;
};

/** timerq_init - @slots must have room for @max_users and for all tasks */
void timerq_init(struct timerq *queue, struct heap_slot *slots, unsigned int capacity,
		 unsigned int max_users);

/**
 * timerq_add - queue a user's timer
 * @queue: the queue
 * @timer: in no queue
 * @expires: its moment
 * @now: if that is after @expires, less gravity, it comes behind all that are due by now
 *
 * So a pass over what is due at one moment ends, whatever is started meanwhile.
 *
 * Return: 0, -ENOSPC.
 */
int timerq_add(struct timerq *queue, struct rt_timer *timer, RTIME expires, RTIME now);

/* Private. Inline, as are the functions for releases: they are on the path of each job. */
static inline int timerq_insert(struct timerq *queue, struct rt_timer *timer, RTIME expires,
				RTIME key)
{
	timer->expires = expires;
	return heap_insert(&queue->heap, &timer->node, key);
}

/* When in the queue something at @expires is due. Private. */
static inline RTIME timerq_key(RTIME expires, unsigned int gravity)
{
	return expires > gravity ? expires - gravity : 0;
}

/** timerq_add_job - queue a task's timer, for a job or the end of its sleep; there is room */
static inline void timerq_add_job(struct timerq *queue, struct rt_timer *timer, RTIME expires)
{
	timerq_insert(queue, timer, expires, timerq_key(expires, queue->gravity.job));
}

/** timerq_add_release - the same without gravity, for what is no more urgent than that */
static inline void timerq_add_release(struct timerq *queue, struct rt_timer *timer, RTIME expires)
{
	timerq_insert(queue, timer, expires, expires);
}

/** timerq_remove - a user's timer, queued here */
void timerq_remove(struct timerq *queue, struct rt_timer *timer);

/** timerq_remove_release - a task's timer, queued here or nowhere */
static inline void timerq_remove_release(struct timerq *queue, struct rt_timer *timer)
{
	if (heap_queued(&timer->node))
		heap_remove(&queue->heap, &timer->node);
}

/** timerq_is_due - is there a timer whose moment has come? */
static inline bool timerq_is_due(const struct timerq *queue, u64 now)
{
	return queue->heap.count && queue->heap.slot[0].key <= now;
}

/** timerq_first - the first timer; there is one */
static inline struct rt_timer *timerq_first(const struct timerq *queue)
{
	return container_of(queue->heap.slot[0].node, struct rt_timer, node);
}

/**
 * timerq_due - the first timer, if its moment has come
 * @queue: the queue
 * @now: ns
 *
 * Return: the timer, still queued; or NULL.
 */
static inline struct rt_timer *timerq_due(const struct timerq *queue, u64 now)
{
	return timerq_is_due(queue, now) ? timerq_first(queue) : NULL;
}

/** timerq_fired - the device has gone off, and is about to be set to what this returns */
static inline u64 timerq_fired(struct timerq *queue)
{
	queue->armed = likely(queue->heap.count) ? queue->heap.slot[0].key : TIMERQ_NEVER;
	return queue->armed;
}

/** timerq_changed - is the first moment another than the device is set to? */
static inline bool timerq_changed(const struct timerq *queue)
{
	return heap_first_key(&queue->heap) != queue->armed;
}

/**
 * timerq_stale - must the device be set again?
 * @queue: the queue
 *
 * Return: true once for each change of the first moment; @queue->armed is what to
 * set it to then.
 */
static inline bool timerq_stale(struct timerq *queue)
{
	u64 first = heap_first_key(&queue->heap);

	if (first == queue->armed)
		return false;
	queue->armed = first;
	return true;
}

/** timerq_mark - remember this; then timerq_fresh() knows what was started since */
static inline u64 timerq_mark(const struct timerq *queue)
{
	return queue->heap.seq;
}

/** timerq_fresh - is the first timer one that was started since @mark? */
static inline bool timerq_fresh(const struct timerq *queue, u64 mark)
{
	return likely(queue->heap.count) && queue->heap.slot[0].seq >= mark;
}

/** timerq_early - would the device go off too late for the first timer? */
static inline bool timerq_early(const struct timerq *queue)
{
	return heap_first_key(&queue->heap) < queue->armed;
}

#endif
