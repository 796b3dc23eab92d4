/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RT tasks waiting for one another: mutexes with priority inheritance, condition variables,
 * semaphores, events, mailboxes.
 *
 * Whoever is most urgent under the policy is served first; among equals, first come.
 * Objects may be shared among tasks of all CPUs. Calls that may wait take a moment,
 * @until, ns of rt_get_time(): RT_NO_DEADLINE waits for ever, a moment that is past does not
 * wait at all.
 */
#ifndef _RT_SYNC_H
#define _RT_SYNC_H

#include <rt/task.h>

/* Private: tasks that wait, most urgent first. */
struct rt_waitq {
	RT_TASK *first;
	unsigned int sorted;	/* after which change of policy */
};

/**
 * struct rt_mtx - a mutex: one owner at a time, who lends its place to nobody less urgent
 *
 * While an owner keeps a more urgent task waiting, it is as urgent as that one, and so is
 * whoever keeps the owner waiting in turn (Sha, Rajkumar, Lehoczky, 1990). This holds for
 * policies that use the common ready queue.
 */
struct rt_mtx {
	/* private: */
	unsigned long long magic;
	RT_TASK *owner;
	struct rt_waitq waiters;
	struct rt_mtx *next_owned;
	unsigned char orphan;	/* its owner died, and nobody has been told yet */
};

/**
 * rt_mtx_init - prepare a mutex; nobody owns it
 * @mtx: not in use
 *
 * Context: any.
 * Return: 0, -EINVAL (null).
 */
int rt_mtx_init(struct rt_mtx *mtx);

/**
 * rt_mtx_lock_until - own a mutex, waiting if need be
 * @mtx: prepared
 * @until: the end of the wait
 *
 * Context: RT task only.
 * Return: 0; -EOWNERDEAD (owned now, but the owner before was deleted while it owned it, so
 * what the mutex protects may be half done); -ETIMEDOUT; -EDEADLK (the caller owns it, or it would
 * wait for itself along a chain of owners); -EINVAL (not prepared); -EPERM (not called by
 * an RT task); -EIDRM (destroyed meanwhile).
 */
int rt_mtx_lock_until(struct rt_mtx *mtx, RTIME until);

/**
 * rt_mtx_lock - rt_mtx_lock_until() without an end
 * @mtx: prepared
 *
 * Context: RT task only.
 * Return: as rt_mtx_lock_until(), which never times out here.
 */
static inline int rt_mtx_lock(struct rt_mtx *mtx)
{
	return rt_mtx_lock_until(mtx, RT_NO_DEADLINE);
}

/**
 * rt_mtx_unlock - the most urgent task that waits owns it now
 * @mtx: owned by the caller
 *
 * Context: RT task only.
 * Return: 0, -EPERM (the caller does not own it), -EINVAL (not prepared).
 */
int rt_mtx_unlock(struct rt_mtx *mtx);

/**
 * rt_mtx_destroy - no more use of a mutex; who waits gets -EIDRM
 * @mtx: prepared; may be owned
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (not prepared).
 */
int rt_mtx_destroy(struct rt_mtx *mtx);

/** struct rt_cnd - a condition variable: a wait without the mutex, until somebody has signalled */
struct rt_cnd {
	/* private: */
	unsigned long long magic;
	struct rt_waitq waiters;
};

/**
 * rt_cnd_init - prepare a condition variable
 * @cnd: not in use
 *
 * Context: any.
 * Return: 0, -EINVAL (null).
 */
int rt_cnd_init(struct rt_cnd *cnd);

/**
 * rt_cnd_wait_until - give a mutex up, wait for a signal, own the mutex again
 * @cnd: prepared
 * @mtx: owned by the caller
 * @until: the end of the wait for the signal; owning the mutex again may take longer
 *
 * No signal is lost between the first step and the second. Look at what you wait for in a loop: the
 * mutex may have had another owner in between.
 *
 * Context: RT task only.
 * Return: 0 or -ETIMEDOUT, the mutex owned; -EIDRM (@cnd destroyed meanwhile; the mutex owned);
 * -EPERM (the caller does not own @mtx, or is no RT task), -EINVAL (not prepared); what
 * rt_mtx_lock_until() says, if it is not 0.
 */
int rt_cnd_wait_until(struct rt_cnd *cnd, struct rt_mtx *mtx, RTIME until);

/**
 * rt_cnd_signal - let the most urgent task that waits go on
 * @cnd: prepared
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (not prepared).
 */
int rt_cnd_signal(struct rt_cnd *cnd);

/**
 * rt_cnd_broadcast - let all tasks that wait go on
 * @cnd: prepared
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (not prepared).
 */
int rt_cnd_broadcast(struct rt_cnd *cnd);

/**
 * rt_cnd_destroy - no more use of a condition variable; who waits gets -EIDRM
 * @cnd: prepared
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (not prepared).
 */
int rt_cnd_destroy(struct rt_cnd *cnd);

/* The most that a semaphore counts. */
#define RT_SEM_MAX 0x7fffffff

/** struct rt_sem - a counting semaphore */
struct rt_sem {
	/* private: */
	unsigned long long magic;
	int count;
	struct rt_waitq waiters;
};

/**
 * rt_sem_init - prepare a semaphore
 * @sem: the semaphore
 * @count: how many waits it starts with, 0 to RT_SEM_MAX
 *
 * Context: any.
 * Return: 0, -EINVAL (null, negative @count).
 */
int rt_sem_init(struct rt_sem *sem, int count);

/**
 * rt_sem_wait_until - count down, waiting for a rt_sem_post() if there is nothing left
 * @sem: prepared
 * @until: the end of the wait
 *
 * Context: RT task only.
 * Return: 0, -ETIMEDOUT, -EINVAL (not prepared), -EPERM (not called by an RT task), -EIDRM
 * (destroyed meanwhile).
 */
int rt_sem_wait_until(struct rt_sem *sem, RTIME until);

/**
 * rt_sem_wait - rt_sem_wait_until() without an end
 * @sem: prepared
 *
 * Context: RT task only.
 * Return: as rt_sem_wait_until(), which never times out here.
 */
static inline int rt_sem_wait(struct rt_sem *sem)
{
	return rt_sem_wait_until(sem, RT_NO_DEADLINE);
}

/**
 * rt_sem_post - let the most urgent task that waits go on, or count up
 * @sem: prepared
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (not prepared), -ENOSPC (RT_SEM_MAX).
 */
int rt_sem_post(struct rt_sem *sem);

/**
 * rt_sem_destroy - no more use of a semaphore; who waits gets -EIDRM
 * @sem: prepared
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (not prepared).
 */
int rt_sem_destroy(struct rt_sem *sem);

/** struct rt_evt - 32 flags: tasks wait for some or all of several */
struct rt_evt {
	/* private: */
	unsigned long long magic;
	unsigned int flags;
	struct rt_waitq waiters;
};

#define RT_EVT_ANY	0	/* wait for any of the flags */
#define RT_EVT_ALL	1	/* for all of them at once */
#define RT_EVT_TAKE	2	/* clear those that the wait was for and that were set */

/**
 * rt_evt_init - prepare an event
 * @evt: not in use
 * @flags: that are set
 *
 * Context: any.
 * Return: 0, -EINVAL (null).
 */
int rt_evt_init(struct rt_evt *evt, unsigned int flags);

/**
 * rt_evt_wait_until - wait for flags
 * @evt: prepared
 * @flags: which, not 0
 * @how: RT_EVT_ANY or RT_EVT_ALL, or one of these | RT_EVT_TAKE
 * @got: those of @flags that were set; may be NULL. It has to stay until the wait is over
 * @until: the end of the wait
 *
 * Context: RT task only.
 * Return: 0, -ETIMEDOUT, -EINVAL (not prepared, no flags, another @how), -EPERM (not called by an
 * RT task), -EIDRM (destroyed meanwhile).
 */
int rt_evt_wait_until(struct rt_evt *evt, unsigned int flags, unsigned int how, unsigned int *got,
		      RTIME until);

/**
 * rt_evt_set - set flags; every task that has what it waits for goes on
 * @evt: prepared
 * @flags: which
 *
 * The most urgent comes first: if it takes flags, those behind it do not see them.
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (not prepared).
 */
int rt_evt_set(struct rt_evt *evt, unsigned int flags);

/**
 * rt_evt_clear - clear flags
 * @evt: prepared
 * @flags: which
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (not prepared).
 */
int rt_evt_clear(struct rt_evt *evt, unsigned int flags);

/**
 * rt_evt_destroy - no more use of an event; who waits gets -EIDRM
 * @evt: prepared
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (not prepared).
 */
int rt_evt_destroy(struct rt_evt *evt);

#define RT_MBX_MAX_BYTES 1024

/**
 * struct rt_mbx - a bounded queue of messages of one size
 *
 * The messages themselves lie in memory that rt_mbx_init() is given.
 */
struct rt_mbx {
	/* private: */
	unsigned long long magic;
	int bytes, room, first, count;
	unsigned char *memory;
	struct rt_waitq senders, receivers;
};

/**
 * rt_mbx_init - prepare a mailbox
 * @mbx: the mailbox
 * @memory: @bytes * @room bytes, which stay until rt_mbx_destroy()
 * @bytes: size of a message, 1 to RT_MBX_MAX_BYTES
 * @room: how many messages it holds, 1 or more
 *
 * Context: any.
 * Return: 0, -EINVAL (null, size or room out of range).
 */
int rt_mbx_init(struct rt_mbx *mbx, void *memory, int bytes, int room);

/**
 * rt_mbx_send_until - put a message in, waiting for room if need be
 * @mbx: prepared
 * @message: copied
 * @until: the end of the wait
 *
 * Context: any if @until is not after now, which never waits; else RT task only. From Linux not
 * inside an NMI.
 * Return: 0, -ETIMEDOUT (no room), -EINVAL (not prepared, null), -EPERM (would have to wait
 * and is not an RT task), -EIDRM (destroyed meanwhile).
 */
int rt_mbx_send_until(struct rt_mbx *mbx, const void *message, RTIME until);

/**
 * rt_mbx_receive_until - take the oldest message out, waiting for one if need be
 * @mbx: prepared
 * @message: gets it
 * @until: the end of the wait
 *
 * Context: as rt_mbx_send_until().
 * Return: 0, -ETIMEDOUT (no message), -EINVAL (not prepared, null), -EPERM (would have to wait
 * and is not an RT task), -EIDRM (destroyed meanwhile).
 */
int rt_mbx_receive_until(struct rt_mbx *mbx, void *message, RTIME until);

/**
 * rt_mbx_destroy - no more use of a mailbox; who waits gets -EIDRM, messages are lost
 * @mbx: prepared
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (not prepared).
 */
int rt_mbx_destroy(struct rt_mbx *mbx);

#endif
