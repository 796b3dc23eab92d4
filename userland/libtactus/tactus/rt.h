/* SPDX-License-Identifier: LGPL-2.1-or-later WITH Linux-syscall-note */
/*
 * libtactus: threads of ordinary programs as hard real-time tasks. See libtactus(3).
 *
 *	struct rt_attr attr = { .period_ns = 1000000, .budget_ns = 200000,
 *				.priority = 10, .cpu = -1 };
 *	struct rt_job job;
 *
 *	if (rt_enter(&attr))
 *		errx(1, "%s", rt_why());
 *	while (!rt_wait(&job))
 *		...;			one job, released at job.release_ns
 *	rt_leave();
 *
 * All functions return 0 or a negative errno and do not touch errno, unless they say otherwise.
 */
#ifndef _TACTUS_RT_USER_H
#define _TACTUS_RT_USER_H

#include <stdint.h>
#include <sys/types.h>
#if __has_include(<tactus/rt_abi.h>)
#include <tactus/rt_abi.h>
#else
#include "uapi/tactus/rt.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct rt_job - a job that begins
 * @release_ns: when it was released, by rt_now()
 * @number: k, if it was released at start + k * period
 */
struct rt_job {
	int64_t release_ns;
	int64_t number;
};

/**
 * rt_enter - the calling thread goes on as an RT task, at its first release
 * @attr: see <tactus/rt_abi.h>; a zero in cpu means CPU 0, -1 the thread's
 *
 * Lock the process's memory first (mlockall()). TACTUS_DEMOTE=signal|abort|count in the environment
 * says what a demotion is to do if @attr->flags does not.
 *
 * Return: 0: in RT mode; else rt_why() says why not. -EINVAL, -EPERM, -ENOSPC, -EAGAIN
 * (RLIMIT_MEMLOCK), -EINTR (a signal came before the first release), -EBUSY (a debugger has
 * hardware breakpoints for this thread), -EOPNOTSUPP, -ENOMEM, or what open() of /dev/rt says.
 */
int rt_enter(const struct rt_attr *attr);

/** rt_why - the sentence that belongs to this thread's last error of rt_enter() */
const char *rt_why(void);

/**
 * rt_wait - end the job; return when the next one is released
 * @job: filled in; or NULL
 *
 * A thread that was demoted since goes back to RT mode here, at its next release.
 *
 * Return: 0; -ETIMEDOUT (the job that begins now was released while the one before still ran: @job
 * is filled in); -EINTR (a signal came: it is handled, and the thread is in Linux); -EPERM (the
 * thread never entered RT mode, or left it); what rt_enter() says.
 */
int rt_wait(struct rt_job *job);

/**
 * rt_sleep_until - let the job rest until a moment, ns of rt_now()
 *
 * Return: 0; -EINTR (a signal came); -EINVAL; -ENOSYS (not in RT mode).
 */
int rt_sleep_until(int64_t when);

/** rt_leave - back to Linux. Return: 0; -ENOSYS (it was there already: so it stays). */
int rt_leave(void);

/**
 * rt_now - time, ns, of RT mode's clock; in and out of RT mode, without a call; 0 before rt_init()
 */
int64_t rt_now(void);

/** rt_in_rt - is the calling thread in RT mode? If not, that costs a system call. */
int rt_in_rt(void);

/** rt_init - open /dev/rt; rt_enter() does so if it has not been done. Return: 0 or -errno. */
int rt_init(void);

/** rt_stat - promotions, demotions and their reasons of the calling thread. It demotes. */
int rt_stat(struct rt_stat *stat);

/* The end of a wait that has none. */
#define RT_NO_DEADLINE INT64_MAX

/**
 * rt_sem_open, rt_mtx_open, rt_mbx_open, rt_cnd_open, rt_evt_open - find a semaphore, mutex,
 *	mailbox, condition variable or event, or make it
 * @name: printable, up to 31 bytes: the same for all processes of this user, and for RT tasks in
 *	the kernel (<rt/named.h>). NULL or "": this process's own
 * @count: how many waits a semaphore starts with, if it is made
 * @bytes: of a message, up to 1024
 * @room: messages; all take up to 64 KiB
 * @flags: that an event starts with, if it is made
 *
 * It stays until the last process that has it ends.
 *
 * Return: its number; -EINVAL, -EEXIST (this name is something else), -EACCES (another user's),
 * -EMFILE (64 are in use), -ENOMEM, or what rt_init() says.
 */
int rt_sem_open(const char *name, unsigned int count);
int rt_mtx_open(const char *name);
int rt_mbx_open(const char *name, size_t bytes, unsigned int room);
int rt_cnd_open(const char *name);
int rt_evt_open(const char *name, unsigned int flags);

/**
 * rt_sem_wait_until, rt_mtx_lock_until - wait for a semaphore; own a mutex
 * @until: the end of the wait, by rt_now(); RT_NO_DEADLINE, or 0: not at all
 *
 * The most urgent task is served first. The owner of a mutex is as urgent as the most urgent task
 * that waits for it. A demotion gives up all mutexes.
 *
 * Return: 0; -ETIMEDOUT; -EINTR (demoted meanwhile: it has got nothing); -EBADF; -ENOSYS (not in RT
 * mode); of mutexes also -EDEADLK and -EOWNERDEAD (owned now; the owner before was demoted, or
 * ended).
 */
int rt_sem_wait_until(int sem, int64_t until);
int rt_mtx_lock_until(int mtx, int64_t until);

/** rt_sem_post - let one wait end. Also outside RT mode. Return: 0; -EBADF; -ENOSPC. */
int rt_sem_post(int sem);

/** rt_mtx_unlock - Return: 0; -EPERM (another's, or given up by a demotion); -EBADF; -ENOSYS. */
int rt_mtx_unlock(int mtx);

/**
 * rt_mbx_send_until, rt_mbx_receive_until - put a message in; take the oldest one out
 * @until: as above; outside RT mode they do not wait
 *
 * Return: 0; -ETIMEDOUT (no room, no message); -EINTR; -EBADF; -EFAULT (memory that RT mode lacks).
 */
int rt_mbx_send_until(int mbx, const void *message, int64_t until);
int rt_mbx_receive_until(int mbx, void *message, int64_t until);

/**
 * rt_cnd_wait_until - give @mtx up, wait for a signal, own @mtx again
 * @until: the end of the wait for the signal
 *
 * Look at what you wait for in a loop, as with any condition variable.
 *
 * Return: 0 or -ETIMEDOUT, @mtx owned; -EINTR (demoted meanwhile: it is not owned); -EPERM (not
 * owned); -EBADF; -ENOSYS (not in RT mode); what rt_mtx_lock_until() says.
 */
int rt_cnd_wait_until(int cnd, int mtx, int64_t until);

/**
 * rt_cnd_signal, rt_cnd_broadcast - let the most urgent task that waits go on; let all
 *
 * Return: 0; -EBADF; -ENOSYS (not in RT mode).
 */
int rt_cnd_signal(int cnd);
int rt_cnd_broadcast(int cnd);

#ifndef RT_EVT_ANY
#define RT_EVT_ANY	0	/* wait for any of the flags */
#define RT_EVT_ALL	1	/* for all of them at once */
#define RT_EVT_TAKE	2	/* clear those that the wait was for and that were set */
#endif

/**
 * rt_evt_wait_until - wait for flags of an event
 * @how: RT_EVT_ANY or RT_EVT_ALL, or one of these | RT_EVT_TAKE
 * @got: those of @flags that were set; may be NULL
 *
 * Return: 0; -ETIMEDOUT; -EINTR (demoted meanwhile: it has got nothing); -EINVAL (no flags, another
 * @how); -EBADF; -ENOSYS (not in RT mode).
 */
int rt_evt_wait_until(int evt, unsigned int flags, unsigned int how, unsigned int *got,
		      int64_t until);

/**
 * rt_evt_set, rt_evt_clear - change flags; all that have what they wait for go on, the most urgent
 *	first. Also outside RT mode
 *
 * Return: 0; -EBADF.
 */
int rt_evt_set(int evt, unsigned int flags);
int rt_evt_clear(int evt, unsigned int flags);

/**
 * rt_fifo - allow RT code of this process the FIFO of an open /dev/rtfN
 * @fd: open for reading and writing
 *
 * Return: its number, for rt_fifo_put() and rt_fifo_get(); -ENOTTY, -EACCES, -EBADF.
 */
int rt_fifo(int fd);

/**
 * rt_fifo_put, rt_fifo_get - as rtf_put() and rtf_get() of RT code in the kernel
 * @fifo: from rt_fifo()
 * @count: up to RT_COPY_MOST
 *
 * Return: bytes; -ENOSPC (put: it does not fit), -EBADF (not allowed), -EMSGSIZE, -EFAULT (memory
 * that RT mode does not have), -ENOSYS (not in RT mode).
 */
ssize_t rt_fifo_put(int fifo, const void *bytes, size_t count);
ssize_t rt_fifo_get(int fifo, void *bytes, size_t count);

#ifdef __cplusplus
}
#endif

#endif
