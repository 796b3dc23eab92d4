// SPDX-License-Identifier: GPL-2.0-only
/* Rarer calls of RTAI: resume times, states, locks for readers and writers, bits. */
#include "pipeline/pipeline.h"
#include "native.h"

static DEFINE_PER_CPU(int, sched_depth);
static DEFINE_PER_CPU(unsigned long, sched_flags);

void rt_sched_lock(void)
{
	unsigned long flags = pl_hard_save();

	if (!raw_cpu_read(sched_depth))
		raw_cpu_write(sched_flags, flags);
	raw_cpu_write(sched_depth, raw_cpu_read(sched_depth) + 1);
}
EXPORT_SYMBOL_GPL(rt_sched_lock);

void rt_sched_unlock(void)
{
	int depth = raw_cpu_read(sched_depth);

	if (!depth)
		return;
	raw_cpu_write(sched_depth, depth - 1);
	if (depth == 1)
		pl_hard_restore(raw_cpu_read(sched_flags));
}
EXPORT_SYMBOL_GPL(rt_sched_unlock);

int rt_get_task_state(struct rtai_task *task)
{
	if (!task)
		return -EINVAL;
	return RT_SCHED_READY | (READ_ONCE(task->task.suspended) ? RT_SCHED_SUSPENDED : 0) |
		(READ_ONCE(task->task.pending) ? RT_SCHED_SEMAPHORE : 0);
}
EXPORT_SYMBOL_GPL(rt_get_task_state);

void rt_task_set_resume_end_times(RTIME resume, RTIME end)
{
	struct rtai_task *self = rt_whoami();

	if (!self)
		return;
	if (resume <= 0)
		resume = self->resume_time - resume;
	end = end > 0 ? end - resume : -end;
	if (end > 0)
		rt_task_set_deadline(&self->task, end);
	self->resume_time = resume;
	if (!self->task.period || rt_task_make_periodic(&self->task, resume, self->task.period))
		rt_task_sleep_until(resume);
	else
		rt_task_wait();
}
EXPORT_SYMBOL_GPL(rt_task_set_resume_end_times);

int rt_set_period(struct rtai_task *task, RTIME period)
{
	if (!task)
		return -EINVAL;
	return rt_task_make_periodic(&task->task, task->task.next_release, period);
}
EXPORT_SYMBOL_GPL(rt_set_period);

int rt_set_resume_time(struct rtai_task *task, RTIME resume)
{
	if (!task || !task->task.period)
		return -EINVAL;
	task->resume_time = resume;
	return rt_task_make_periodic(&task->task, resume, task->task.period);
}
EXPORT_SYMBOL_GPL(rt_set_resume_time);

/* rt_task_resume() wakes it up; what is not resumed in time wakes up by itself. */
int rtai_suspend_until(struct rtai_task *task, RTIME until)
{
	struct rtai_task *self = rt_whoami();
	int error;

	if (!self || (task && task != self))
		return -EINVAL;
	WRITE_ONCE(self->timed, 1);
	error = rt_sem_wait_until(&self->resumed, until);
	WRITE_ONCE(self->timed, 0);
	return error == -ETIMEDOUT ? RTE_TIMOUT : error;
}
EXPORT_SYMBOL_GPL(rtai_suspend_until);

int rt_task_resume(struct rtai_task *task)
{
	if (task && READ_ONCE(task->timed))
		return rt_sem_post(&task->resumed);
	return rt_task_wakeup(rtai_native(task));
}
EXPORT_SYMBOL_GPL(rt_task_resume);

/* Locks for readers and writers: writers wait for readers, readers for a writer. */

void rtai_rwl_init(RWL *rwl)
{
	memset(rwl, 0, sizeof(*rwl));
	rt_mtx_init(&rwl->guard);
	rt_cnd_init(&rwl->changed);
}
EXPORT_SYMBOL_GPL(rtai_rwl_init);

int rtai_rwl_delete(RWL *rwl)
{
	rt_cnd_destroy(&rwl->changed);
	return rt_mtx_destroy(&rwl->guard) ? SEM_ERR : 0;
}
EXPORT_SYMBOL_GPL(rtai_rwl_delete);

static bool may_enter(const RWL *rwl, const struct rtai_task *self, int how)
{
	if (rwl->writer)
		return how == RTAI_WRITE && rwl->writer == self;
	return how == RTAI_READ || !rwl->readers;
}

int rtai_rwl_lock(RWL *rwl, int how, RTIME until)
{
	struct rtai_task *self = rt_whoami();
	int error;

	if (!self)
		return SEM_ERR;
	error = rt_mtx_lock(&rwl->guard);
	if (error && error != -EOWNERDEAD)
		return SEM_ERR;
	error = 0;
	while (!error && !may_enter(rwl, self, how))
		error = until ? rt_cnd_wait_until(&rwl->changed, &rwl->guard, until) : -ETIMEDOUT;
	if (error == -ETIMEDOUT && may_enter(rwl, self, how))
		error = 0;
	if (!error && how == RTAI_READ) {
		rwl->readers++;
	} else if (!error) {
		rwl->writer = self;
		rwl->depth++;
	}
	rt_mtx_unlock(&rwl->guard);
	return !error ? 0 : error == -ETIMEDOUT ? SEM_TIMOUT : SEM_ERR;
}
EXPORT_SYMBOL_GPL(rtai_rwl_lock);

int rt_rwl_unlock(RWL *rwl)
{
	struct rtai_task *self = rt_whoami();
	int result = 0, error;

	if (!self)
		return SEM_ERR;
	error = rt_mtx_lock(&rwl->guard);
	if (error && error != -EOWNERDEAD)
		return SEM_ERR;
	if (rwl->writer == self) {
		if (!--rwl->depth)
			rwl->writer = NULL;
	} else if (rwl->readers && !rwl->writer) {
		rwl->readers--;
	} else {
		result = SEM_ERR;
	}
	rt_cnd_broadcast(&rwl->changed);
	rt_mtx_unlock(&rwl->guard);
	return result;
}
EXPORT_SYMBOL_GPL(rt_rwl_unlock);

/* Bits, by Tactus's flags. */

void rt_bits_init(BITS *bits, unsigned long mask)
{
	rt_evt_init(&bits->evt, mask);
}
EXPORT_SYMBOL_GPL(rt_bits_init);

int rt_bits_delete(BITS *bits)
{
	return rt_evt_destroy(&bits->evt) ? BITS_ERR : 0;
}
EXPORT_SYMBOL_GPL(rt_bits_delete);

unsigned long rt_get_bits(BITS *bits)
{
	return READ_ONCE(bits->evt.flags);
}
EXPORT_SYMBOL_GPL(rt_get_bits);

static void change(BITS *bits, int how, unsigned long mask)
{
	if (how == SET_BITS)
		rt_evt_set(&bits->evt, mask);
	else if (how == CLR_BITS)
		rt_evt_clear(&bits->evt, mask);
}

unsigned long rt_bits_signal(BITS *bits, int how, unsigned long mask)
{
	change(bits, how, mask);
	return rt_get_bits(bits);
}
EXPORT_SYMBOL_GPL(rt_bits_signal);

int rtai_bits_wait(BITS *bits, int test, unsigned long mask, int how, unsigned long exit_mask,
		   unsigned long *result, RTIME until)
{
	/* To clear what was waited for is one step with the wait; anything else is a second one. */
	bool take = how == CLR_BITS && exit_mask == mask;
	unsigned int got;
	int error;

	if (test != ALL_SET && test != ANY_SET)
		return BITS_ERR;
	error = rt_evt_wait_until(&bits->evt, mask, (test == ALL_SET ? RT_EVT_ALL : RT_EVT_ANY) |
				  (take ? RT_EVT_TAKE : 0), &got, until);
	if (error)
		return error == -ETIMEDOUT ? BITS_TIMOUT : BITS_ERR;
	if (!take)
		change(bits, how, exit_mask);
	if (result)
		*result = rt_get_bits(bits);
	return 0;
}
EXPORT_SYMBOL_GPL(rtai_bits_wait);
