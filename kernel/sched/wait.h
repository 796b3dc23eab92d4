/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waiting for one another: who waits where, who inherits whose urgency. Pure logic.
 *
 * All of it runs under one lock of all CPUs (sync's), taken before any CPU's lock; what must
 * be done under the lock of a task's CPU is asked of the two functions at the end.
 *
 * Invariants, between calls:
 *  - a task waits in at most one queue (task->waits_in), and is then blocked or dead;
 *  - queues are sorted by sync_urgency(), equal ones in the order they came;
 *  - from a change of policy until sync_sort() and sync_inherit() are through, queues may be in
 *    the order of the policy before, and tasks that inherit at all be the most urgent;
 *  - task->inherited is the least urgency value of those that wait for a mutex it owns,
 *    transitively, or CORE_NOTHING_INHERITED.
 *
 * A chain of owners is as long as there are tasks that own one mutex and wait for the next.
 */
#ifndef _TACTUS_SYNC_H
#define _TACTUS_SYNC_H

#include <rt/sync.h>
#include "sched/core.h"

/* The caller has been queued and must block; what follows is in task->wait_result. */
#define SYNC_WAIT 1

/*
 * The seam to the layer above, which holds the lock: in debug builds, complain if it is not held.
 */
#ifdef TACTUS_DEBUG
void sync_check_locked(const char *where);
#define sync_assert_locked() sync_check_locked(__func__)
#else
#define sync_assert_locked() do { } while (0)
#endif

int sync_mtx_lock(struct rt_mtx *mtx, RT_TASK *task);
int sync_mtx_unlock(struct rt_mtx *mtx, RT_TASK *task);
void sync_mtx_destroy(struct rt_mtx *mtx);

/* The caller owns @mtx no more when it waits, and is to lock it again afterwards. */
int sync_cnd_wait(struct rt_cnd *cnd, struct rt_mtx *mtx, RT_TASK *task);
void sync_cnd_signal(struct rt_cnd *cnd);
void sync_cnd_broadcast(struct rt_cnd *cnd);
void sync_cnd_destroy(struct rt_cnd *cnd);

/* What a task waits for: it lies where task->wait_buffer says. See rt_evt_wait_until(). */
struct sync_flags {
	unsigned int flags, how;
	unsigned int *got;
};

int sync_evt_wait(struct rt_evt *evt, struct sync_flags *wish, RT_TASK *task);
void sync_evt_set(struct rt_evt *evt, unsigned int flags);
void sync_evt_destroy(struct rt_evt *evt);

int sync_sem_wait(struct rt_sem *sem, RT_TASK *task);
int sync_sem_post(struct rt_sem *sem);
void sync_sem_destroy(struct rt_sem *sem);

/* @task may be NULL for a caller that cannot wait: -EAGAIN then. */
int sync_mbx_send(struct rt_mbx *mbx, const void *message, RT_TASK *task);
int sync_mbx_receive(struct rt_mbx *mbx, void *message, RT_TASK *task);
void sync_mbx_destroy(struct rt_mbx *mbx);

/** sync_give_up - @task, if it waits, does so no longer, with @result; it is not unblocked */
bool sync_give_up(RT_TASK *task, int result);

/** sync_kill - @task is about to die: it waits for nothing, what it owns goes on */
void sync_kill(RT_TASK *task);

/**
 * sync_sort - the policy and so all keys have changed: sort the queue that @task waits in, a step
 * @task: any
 * @change: which change of policy it is; each queue is sorted once for it
 *
 * One pass over the queue, which merges the runs that are sorted, two by two: O(log n) of them, and
 * the lock need not be held in between. Tasks that come meanwhile make it one or two more.
 *
 * Return: whether that is done.
 */
bool sync_sort(RT_TASK *task, unsigned int change);

/** sync_inherit - after all queues are sorted, for each task: work out what it inherits */
void sync_inherit(RT_TASK *task);

/* The smaller the more urgent. */
static inline u64 sync_urgency(const RT_TASK *task)
{
	u64 inherited = READ_ONCE(task->inherited);

	return task->key < inherited ? task->key : inherited;
}

/* The seam to the layer above, which supplies these: each takes the lock of the task's CPU. */
void sync_unblock(RT_TASK *task);	/* core_unblock(), if it is blocked */
void sync_requeue(RT_TASK *task);	/* core_requeue(): its urgency has changed */
void sync_settle(RT_TASK *task);	/* core_budget_settle(): it owns nothing any more */

#endif
