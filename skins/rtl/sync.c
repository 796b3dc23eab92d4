// SPDX-License-Identifier: GPL-2.0-only
/* RTLinux's mutexes, conditions and semaphores by those of <rt/sync.h>. */
#include "threads.h"

static int positive(int error)
{
	return error < 0 ? -error : error;
}

/* An absolute moment of CLOCK_REALTIME, as POSIX has it. */
static RTIME until_of(const struct timespec *until)
{
	return max(timespec_to_ns(until) - rtl_clock_real.offset, 0LL);
}

/*
 * What was initialised statically is prepared by its first user: @ready is 0, then 1 while that
 * is at work, then 2. On its own CPU nobody can come between, for interrupts are off.
 */
static bool first_use(int *ready, unsigned long *flags)
{
	if (likely(smp_load_acquire(ready) == 2))
		return false;
	*flags = rtl_hard_save();
	if (!cmpxchg(ready, 0, 1))
		return true;
	while (smp_load_acquire(ready) != 2)
		cpu_relax();
	rtl_hard_restore(*flags);
	return false;
}

static void is_ready(int *ready, unsigned long flags)
{
	smp_store_release(ready, 2);
	rtl_hard_restore(flags);
}

static struct rt_mtx *mtx_of(pthread_mutex_t *mutex)
{
	unsigned long flags;

	if (first_use(&mutex->ready, &flags)) {
		rt_mtx_init(&mutex->mtx);
		is_ready(&mutex->ready, flags);
	}
	return &mutex->mtx;
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
	if (!mutex)
		return EINVAL;
	rt_mtx_init(&mutex->mtx);
	mutex->ready = 2;
	return 0;
}
EXPORT_SYMBOL_GPL(pthread_mutex_init);

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	return positive(rt_mtx_destroy(mtx_of(mutex)));
}
EXPORT_SYMBOL_GPL(pthread_mutex_destroy);

/* That the owner before was deleted is no error there. */
static int locked(int error)
{
	return error == -EOWNERDEAD ? 0 : positive(error);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return locked(rt_mtx_lock(mtx_of(mutex)));
}
EXPORT_SYMBOL_GPL(pthread_mutex_lock);

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	int error = rt_mtx_lock_until(mtx_of(mutex), 0);

	return error == -ETIMEDOUT || error == -EDEADLK ? EBUSY : locked(error);
}
EXPORT_SYMBOL_GPL(pthread_mutex_trylock);

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	return locked(rt_mtx_lock_until(mtx_of(mutex), until_of(until)));
}
EXPORT_SYMBOL_GPL(pthread_mutex_timedlock);

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	return positive(rt_mtx_unlock(mtx_of(mutex)));
}
EXPORT_SYMBOL_GPL(pthread_mutex_unlock);

static struct rt_cnd *cnd_of(pthread_cond_t *cond)
{
	unsigned long flags;

	if (first_use(&cond->ready, &flags)) {
		rt_cnd_init(&cond->cnd);
		is_ready(&cond->ready, flags);
	}
	return &cond->cnd;
}

int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
	if (!cond)
		return EINVAL;
	rt_cnd_init(&cond->cnd);
	cond->ready = 2;
	return 0;
}
EXPORT_SYMBOL_GPL(pthread_cond_init);

int pthread_cond_destroy(pthread_cond_t *cond)
{
	return positive(rt_cnd_destroy(cnd_of(cond)));
}
EXPORT_SYMBOL_GPL(pthread_cond_destroy);

static int cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, RTIME until)
{
	if (!rt_task_self())
		return EPERM;
	pthread_testcancel();
	return locked(rt_cnd_wait_until(cnd_of(cond), mtx_of(mutex), until));
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	return cond_wait(cond, mutex, RT_NO_DEADLINE);
}
EXPORT_SYMBOL_GPL(pthread_cond_wait);

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
			   const struct timespec *until)
{
	return cond_wait(cond, mutex, until_of(until));
}
EXPORT_SYMBOL_GPL(pthread_cond_timedwait);

int pthread_cond_signal(pthread_cond_t *cond)
{
	return positive(rt_cnd_signal(cnd_of(cond)));
}
EXPORT_SYMBOL_GPL(pthread_cond_signal);

int pthread_cond_broadcast(pthread_cond_t *cond)
{
	return positive(rt_cnd_broadcast(cnd_of(cond)));
}
EXPORT_SYMBOL_GPL(pthread_cond_broadcast);

int sem_wait(sem_t *sem)
{
	int error;

	pthread_testcancel();
	error = rt_sem_wait(sem);
	pthread_testcancel();
	return rtl_failed(error);
}
EXPORT_SYMBOL_GPL(sem_wait);

int sem_timedwait(sem_t *sem, const struct timespec *until)
{
	return rtl_failed(rt_sem_wait_until(sem, until_of(until)));
}
EXPORT_SYMBOL_GPL(sem_timedwait);
