// SPDX-License-Identifier: GPL-2.0-only
/* RTLinux's barriers, data of threads, and errno. */
#include <linux/delay.h>
#include "threads.h"

static DEFINE_PER_CPU(int, errno_of_others);
static struct rtl_cleanup *no_cleanups;
static unsigned int keys_taken;

int *rtl_errno(void)
{
	struct rtl_thread *self = pthread_self();

	return self ? &self->own.error : raw_cpu_ptr(&errno_of_others);
}
EXPORT_SYMBOL_GPL(rtl_errno);

struct rtl_cleanup **rtl_cleanups(void)
{
	struct rtl_thread *self = pthread_self();

	return self ? &self->own.cleanups : &no_cleanups;
}
EXPORT_SYMBOL_GPL(rtl_cleanups);

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *data))
{
	int i;

	for (i = 0; i < RTL_PTHREAD_KEYS_MAX; i++)
		if (!test_and_set_bit(i, (unsigned long *)&keys_taken)) {
			*key = i;
			return 0;
		}
	return EAGAIN;
}
EXPORT_SYMBOL_GPL(pthread_key_create);

static bool valid_key(pthread_key_t key)
{
	return key >= 0 && key < RTL_PTHREAD_KEYS_MAX && READ_ONCE(keys_taken) & 1U << key;
}

int pthread_key_delete(pthread_key_t key)
{
	if (!valid_key(key))
		return EINVAL;
	clear_bit(key, (unsigned long *)&keys_taken);
	return 0;
}
EXPORT_SYMBOL_GPL(pthread_key_delete);

int pthread_setspecific(pthread_key_t key, const void *data)
{
	struct rtl_thread *self = pthread_self();

	if (!self || !valid_key(key))
		return EINVAL;
	self->own.data[key] = (void *)data;
	return 0;
}
EXPORT_SYMBOL_GPL(pthread_setspecific);

void *pthread_getspecific(pthread_key_t key)
{
	struct rtl_thread *self = pthread_self();

	return self && valid_key(key) ? self->own.data[key] : NULL;
}
EXPORT_SYMBOL_GPL(pthread_getspecific);

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr,
			 unsigned int parties)
{
	if (!barrier || !parties || parties > INT_MAX)
		return EINVAL;
	rt_mtx_init(&barrier->guard);
	rt_cnd_init(&barrier->changed);
	barrier->parties = parties;
	atomic_set(&barrier->arrived, 0);
	barrier->generation = 0;
	return 0;
}
EXPORT_SYMBOL_GPL(pthread_barrier_init);

int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	rt_cnd_destroy(&barrier->changed);
	return rt_mtx_destroy(&barrier->guard) ? EINVAL : 0;
}
EXPORT_SYMBOL_GPL(pthread_barrier_destroy);

/* A process that comes last has no mutex, so threads look again after this. */
#define LOOK_AGAIN_NS 1000000

/* RT thread only. */
static void wait_for_next(pthread_barrier_t *barrier, unsigned int generation)
{
	int error = rt_mtx_lock(&barrier->guard);

	if (error && error != -EOWNERDEAD)
		return;
	error = 0;
	while ((!error || error == -ETIMEDOUT) && READ_ONCE(barrier->generation) == generation)
		error = rt_cnd_wait_until(&barrier->changed, &barrier->guard,
					  rt_get_time() + LOOK_AGAIN_NS);
	rt_mtx_unlock(&barrier->guard);
}

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	unsigned int generation = READ_ONCE(barrier->generation);
	bool thread = rt_task_self();
	int locked;

	if (!thread && rt_context() != RT_CONTEXT_LINUX)
		return EPERM;
	pthread_testcancel();
	if (atomic_inc_return(&barrier->arrived) == barrier->parties) {
		atomic_set(&barrier->arrived, 0);
		locked = thread ? rt_mtx_lock(&barrier->guard) : -EPERM;
		smp_store_release(&barrier->generation, generation + 1);
		rt_cnd_broadcast(&barrier->changed);
		if (!locked || locked == -EOWNERDEAD)
			rt_mtx_unlock(&barrier->guard);
		return PTHREAD_BARRIER_SERIAL_THREAD;
	}
	if (thread)
		wait_for_next(barrier, generation);
	else
		while (READ_ONCE(barrier->generation) == generation)
			msleep(1);
	pthread_testcancel();
	return 0;
}
EXPORT_SYMBOL_GPL(pthread_barrier_wait);
