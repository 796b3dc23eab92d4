// SPDX-License-Identifier: GPL-2.0-only
/* RTAI's tasks, semaphores and conditions by Tactus's. */
#include "pipeline/pipeline.h"
#include "native.h"

#define RTAI_TASK_MAGIC 0x727461695f746173ULL
#define STACK_LEAST_BYTES 4096

struct rtai_task *rt_whoami(void)
{
	struct rtai_task *self = (struct rtai_task *)rt_task_self();

	return self && self->rtai_magic == RTAI_TASK_MAGIC ? self : NULL;
}
EXPORT_SYMBOL_GPL(rt_whoami);

static void run(int unused)
{
	struct rtai_task *self = rt_whoami();

	if (self->fp || self->fp_always)
		rt_use_fp(1);
	self->fn(self->data);
}

int rtai_task_init(struct rtai_task *task, void (*fn)(long data), long data, int stack_size,
		   int priority, int uses_fpu, void (*signal)(void), int cpu, int fp_file)
{
	char name[64];
	int error;

	if (!task || !fn)
		return -EINVAL;
	error = rt_task_init(&task->task, run, 0, max(stack_size, STACK_LEAST_BYTES),
			     rtai_priority(priority));
	if (error)
		return error;
	task->rtai_magic = RTAI_TASK_MAGIC;
	task->fn = fn;
	task->data = data;
	task->signal = signal;
	task->fp = uses_fpu;
	task->fp_always = fp_file;
	task->senders = NULL;
	task->letter = NULL;
	task->from = NULL;
	task->receiving = 0;
	task->rpc = 0;
	task->priority = priority;
	task->resume_time = 0;
	rt_sem_init(&task->arrived, 0);
	rt_sem_init(&task->answered, 0);
	rt_sem_init(&task->resumed, 0);
	task->timed = 0;
	snprintf(name, sizeof(name), "%ps", fn);
	name[strcspn(name, " +")] = 0;
	rt_task_set_name(&task->task, name);
	if (cpu < 0 && raw_smp_processor_id() >= NR_RT_CPUS)
		cpu = cpumask_first(cpu_online_mask);
	if (cpu >= 0)
		error = rt_task_set_cpu(&task->task, cpu);
	if (error)
		rt_task_delete(&task->task);
	return error;
}
EXPORT_SYMBOL_GPL(rtai_task_init);

/* There a period may be rounded to the timer's; here it is at least Tactus's least. */
int rtai_task_make_periodic(struct rtai_task *task, RTIME start, RTIME period)
{
	int error = rt_task_make_periodic(rtai_native(task), start, period);

	if (!error)
		task->resume_time = start;
	return error;
}
EXPORT_SYMBOL_GPL(rtai_task_make_periodic);

int rt_task_wait_period(void)
{
	struct rtai_task *self = rt_whoami();
	int error = rt_task_wait();

	if (self)
		self->resume_time = self->task.release;
	return error == -ETIMEDOUT ? RTE_TMROVRN : error;
}
EXPORT_SYMBOL_GPL(rt_task_wait_period);

int rt_change_prio(struct rtai_task *task, int priority)
{
	int before;

	if (!task || priority < 0)
		return -EINVAL;
	before = rt_get_prio(task);
	task->priority = priority;
	return rt_task_set_priority(&task->task, rtai_priority(priority)) ?: before;
}
EXPORT_SYMBOL_GPL(rt_change_prio);

void rt_task_yield(void)
{
	RT_TASK *self = rt_task_self();

	if (self)
		rt_task_set_priority(self, self->priority);
}
EXPORT_SYMBOL_GPL(rt_task_yield);

int rt_sleep_until(RTIME when)
{
	return rt_task_sleep_until(max(when, 0LL));
}
EXPORT_SYMBOL_GPL(rt_sleep_until);

unsigned long rt_global_save_flags_and_cli(void)
{
	return pl_hard_save();
}
EXPORT_SYMBOL_GPL(rt_global_save_flags_and_cli);

void rt_global_restore_flags(unsigned long flags)
{
	pl_hard_restore(flags);
}
EXPORT_SYMBOL_GPL(rt_global_restore_flags);

void rt_typed_sem_init(SEM *sem, int value, int type)
{
	memset(sem, 0, sizeof(*sem));
	sem->type = type & 3;
	rt_sem_init(&sem->sem, max(value, 0));
	rt_mtx_init(&sem->mtx);
	rt_sem_init(&sem->gate, 0);
	sem->parties = value;
}
EXPORT_SYMBOL_GPL(rt_typed_sem_init);

int rt_sem_delete(SEM *sem)
{
	rt_mtx_destroy(&sem->mtx);
	rt_sem_destroy(&sem->gate);
	return rt_sem_destroy(&sem->sem) ? SEM_ERR : 0;
}
EXPORT_SYMBOL_GPL(rt_sem_delete);

/* A resource is its owner's to give back, as often as it was taken. */
static int resource_signal(SEM *sem)
{
	if (sem->owner != rt_task_self())
		return SEM_ERR;
	if (--sem->depth > 0)
		return 0;
	sem->owner = NULL;
	return rt_mtx_unlock(&sem->mtx) ? SEM_ERR : 0;
}

int rt_sem_signal(SEM *sem)
{
	if (sem->type == RES_SEM)
		return resource_signal(sem);
	if (sem->type == BIN_SEM && READ_ONCE(sem->sem.count))
		return 0;
	return rt_sem_post(&sem->sem) ? SEM_ERR : 0;
}
EXPORT_SYMBOL_GPL(rt_sem_signal);

int rt_sem_broadcast(SEM *sem)
{
	int many = atomic_read(&sem->waiters);

	while (many-- > 0)
		if (rt_sem_post(&sem->sem))
			return SEM_ERR;
	return 0;
}
EXPORT_SYMBOL_GPL(rt_sem_broadcast);

static int result(int error)
{
	return !error ? 1 : error == -ETIMEDOUT ? SEM_TIMOUT : SEM_ERR;
}

static int resource_wait(SEM *sem, RTIME until)
{
	RT_TASK *self = rt_task_self();
	int error;

	if (self && sem->owner == self) {
		sem->depth++;
		return 1;
	}
	error = rt_mtx_lock_until(&sem->mtx, until);
	if (error && error != -EOWNERDEAD)
		return result(error);
	sem->owner = self;
	sem->depth = 1;
	return 1;
}

int rtai_sem_wait_until(SEM *sem, RTIME until)
{
	int error;

	if (sem->type == RES_SEM)
		return resource_wait(sem, until);
	atomic_inc(&sem->waiters);
	error = rt_sem_wait_until(&sem->sem, until);
	atomic_dec(&sem->waiters);
	return result(error);
}
EXPORT_SYMBOL_GPL(rtai_sem_wait_until);

int rt_sem_wait_barrier(SEM *sem)
{
	int many;

	if (!rt_task_self())
		return SEM_ERR;
	if (atomic_inc_return(&sem->arrived) < sem->parties)
		return result(rt_sem_wait(&sem->gate));
	atomic_set(&sem->arrived, 0);
	for (many = sem->parties; many > 1; many--)
		rt_sem_post(&sem->gate);
	return 1;
}
EXPORT_SYMBOL_GPL(rt_sem_wait_barrier);

void rt_cond_init(CND *cond)
{
	rt_cnd_init(&cond->cnd);
	rt_mtx_init(&cond->guard);
}
EXPORT_SYMBOL_GPL(rt_cond_init);

int rt_cond_destroy(CND *cond)
{
	rt_mtx_destroy(&cond->guard);
	return rt_cnd_destroy(&cond->cnd) ? SEM_ERR : 0;
}
EXPORT_SYMBOL_GPL(rt_cond_destroy);

/* A resource is a mutex of Tactus's: no signal is lost. It is given up whole. */
static int wait_with_resource(CND *cond, SEM *mutex, RTIME until)
{
	int depth = mutex->depth, error;
	RT_TASK *self = rt_task_self();

	if (!self || mutex->owner != self)
		return -EPERM;
	mutex->owner = NULL;
	error = rt_cnd_wait_until(&cond->cnd, &mutex->mtx, until);
	if (error == -EOWNERDEAD)
		error = 0;
	mutex->owner = self;
	mutex->depth = depth;
	return error;
}

/* Beside another semaphore the guard is held before that is given up; RT tasks signal with it. */
static int wait_with_semaphore(CND *cond, SEM *mutex, RTIME until)
{
	int error = rt_mtx_lock(&cond->guard);

	if (error && error != -EOWNERDEAD)
		return error;
	error = rt_sem_signal(mutex) == SEM_ERR ? -EINVAL :
		rt_cnd_wait_until(&cond->cnd, &cond->guard, until);
	rt_mtx_unlock(&cond->guard);
	if (error == -EINVAL)
		return error;
	return rtai_sem_wait_until(mutex, RT_NO_DEADLINE) == SEM_ERR ? -EINVAL : error;
}

int rt_cond_wait_until(CND *cond, SEM *mutex, RTIME until)
{
	int error = mutex->type == RES_SEM ? wait_with_resource(cond, mutex, until)
					   : wait_with_semaphore(cond, mutex, until);

	return error ? result(error) : 0;
}
EXPORT_SYMBOL_GPL(rt_cond_wait_until);

static int signal_with(CND *cond, int (*signal)(struct rt_cnd *cnd))
{
	int locked, error;

	locked = rt_task_self() ? rt_mtx_lock(&cond->guard) : -EPERM;
	error = signal(&cond->cnd);
	if (!locked || locked == -EOWNERDEAD)
		rt_mtx_unlock(&cond->guard);
	return error ? SEM_ERR : 0;
}

int rt_cond_signal(CND *cond)
{
	return signal_with(cond, rt_cnd_signal);
}
EXPORT_SYMBOL_GPL(rt_cond_signal);

int rt_cond_broadcast(CND *cond)
{
	return signal_with(cond, rt_cnd_broadcast);
}
EXPORT_SYMBOL_GPL(rt_cond_broadcast);
