/* SPDX-License-Identifier: LGPL-2.1-or-later WITH Linux-syscall-note */
/*
 * The parts of libtactus-posix:
 *
 *	posix.c		clocks, sleeping, policies, the way to RT mode
 *	posix_sem.c	semaphores
 *	posix_mq.c	message queues
 *	posix_named.c	memory that processes share by a name, for those two
 *
 * Functions here return 0 or a negative errno, if they do not say otherwise.
 */
#ifndef _TACTUS_POSIX_H
#define _TACTUS_POSIX_H

#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <tactus/rt.h>

#define EXPORT __attribute__((visibility("default")))
#define NS_PER_S 1000000000LL

/* The C library's. */
struct linux_calls {
	int (*clock_gettime)(clockid_t clock, struct timespec *now);
	int (*gettimeofday)(struct timeval *now, void *zone);
	int (*clock_nanosleep)(clockid_t clock, int flags, const struct timespec *wish,
			       struct timespec *left);
	int (*sched_setscheduler)(pid_t pid, int policy, const struct sched_param *param);
	int (*pthread_setschedparam)(pthread_t thread, int policy, const struct sched_param *param);
	int (*pthread_create)(pthread_t *thread, const pthread_attr_t *attr,
			      void *(*run)(void *arg), void *arg);
	void (*pthread_exit)(void *result);
	int (*sem_init)(sem_t *sem, int shared, unsigned int value);
	int (*sem_destroy)(sem_t *sem);
	int (*sem_post)(sem_t *sem);
	int (*sem_wait)(sem_t *sem);
	int (*sem_trywait)(sem_t *sem);
	int (*sem_timedwait)(sem_t *sem, const struct timespec *until);
	int (*sem_clockwait)(sem_t *sem, clockid_t clock, const struct timespec *until);
	int (*sem_getvalue)(sem_t *sem, int *value);
	sem_t *(*sem_open)(const char *name, int how, ...);
	int (*sem_close)(sem_t *sem);
	int (*sem_unlink)(const char *name);
	mqd_t (*mq_open)(const char *name, int how, ...);
	int (*mq_close)(mqd_t queue);
	int (*mq_unlink)(const char *name);
	int (*mq_getattr)(mqd_t queue, struct mq_attr *attr);
	int (*mq_setattr)(mqd_t queue, const struct mq_attr *attr, struct mq_attr *old);
	int (*mq_notify)(mqd_t queue, const struct sigevent *event);
	int (*mq_timedsend)(mqd_t queue, const char *message, size_t bytes, unsigned int priority,
			    const struct timespec *until);
	ssize_t (*mq_timedreceive)(mqd_t queue, char *message, size_t bytes, unsigned int *priority,
				   const struct timespec *until);
};

/* Other libraries' constructors may call before ours has run. */
const struct linux_calls *linux_calls(void);
#define LINUX(name) (linux_calls()->name)

/* ---- posix.c ---- */

/* errno = @err, and -1. */
int fail(int err);

bool is_time(const struct timespec *t);
struct timespec timespec_of(int64_t ns);

/* When a clock will show @at, by rt_now(); the clock is CLOCK_MONOTONIC or CLOCK_REALTIME. */
int64_t moment_of(clockid_t clock, const struct timespec *at);

/* Is this thread one for RT mode, whoever made it so? */
bool adopt_late(void);

/* Was it there, and is it to be there again? */
bool is_wanted(void);

/* To RT mode, from @start on, or at once if that is past. */
int enter(int64_t start);

/* ---- posix_sem.c ---- */

/*
 * struct count - a semaphore, for all processes that have it
 * @value: what counts
 * @in_rt, @in_linux: how many threads wait in RT mode, and in Linux
 */
struct count {
	_Atomic uint32_t value, in_rt, in_linux;
};

/*
 * struct fast_sem - a semaphore, for this process; it lies in a sem_t
 * @own: if it is this process's alone
 * @channel: what wakes threads in RT mode: see channel_take()
 * @magic: says that it is one
 * @count: @own, or memory that processes share
 */
struct fast_sem {
	struct count own;
	int channel;
	uint64_t magic;
	struct count *count;
};

_Static_assert(sizeof(struct fast_sem) <= sizeof(sem_t), "it has to fit");

/*
 * fast_init - @f is a semaphore that counts by @count
 * @name: of the channel, the same for all processes; "": this process's own
 */
int fast_init(struct fast_sem *f, struct count *count, const char *name);
bool fast_take(struct fast_sem *f);
int fast_post(struct fast_sem *f);

/* Until @when of rt_now(), in RT mode if the thread is to be there. */
int fast_wait(struct fast_sem *f, int64_t when);

/* In a child of fork(): it has a /dev/rt of its own. */
void channels_renew(void);

/* ---- posix_named.c ---- */

/*
 * named_check - is @name, of a semaphore or a queue, possible?
 * Return: it, without its slash; NULL, with errno
 */
const char *named_check(const char *name, bool slash_wanted);

/*
 * named_find, named_make - the memory with that name
 * @kind: what it is: a name space
 * @bytes: how many it is to have
 * @start: what it begins with, for @start_bytes; the rest is 0
 *
 * Return: a file descriptor, -ENOENT (find), -EEXIST (make), or another -errno.
 */
int named_find(const char *kind, const char *name);
int named_make(const char *kind, const char *name, mode_t mode, const void *start,
	       size_t start_bytes, size_t bytes);
int named_unlink(const char *kind, const char *name);

/* Must there be none yet? */
static inline bool is_anew(int how)
{
	return (how & O_CREAT) && (how & O_EXCL);
}

/*
 * struct named_way - how a kind of thing with a name comes to be; each is called with @arg
 * @theirs: has a program without this library made one? Then it is open, by the C library
 * @make: as named_make()
 */
struct named_way {
	const char *kind;
	bool (*theirs)(void *arg);
	int (*make)(void *arg);
};

/*
 * named_open - find it, or make it if @how has O_CREAT
 * @made: set if it was made now
 *
 * Return: a file descriptor, or -errno; -EEXIST, too, if it is theirs.
 */
int named_open(const struct named_way *way, const char *name, int how, void *arg, bool *made);

/* named_map - all of it, at least @least bytes; NULL: it is too short, or there is no memory */
void *named_map(int fd, size_t least, struct stat *stat);

#define CHANNEL_BYTES 32
/* The channel of a semaphore in memory that is @stat's; @which of several. */
void named_channel(char name[CHANNEL_BYTES], const struct stat *stat, char which);

#endif
