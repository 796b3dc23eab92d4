// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mutexes, semaphores, mailboxes: arguments, contexts, locking. What they mean is in
 * sched/wait.c.
 *
 * One lock for all objects of all CPUs: they are held for a few steps, chains of owners may cross
 * CPUs, and no order among several locks has to be kept. It comes before any CPU's lock.
 */
#include <linux/export.h>

#include <rt/context.h>
#include "sched/wait.h"
#include "exec/assert.h"
#include "exec/cpu.h"
#include "exec/objects.h"
#include "exec/resched.h"
#include "exec/tick.h"

#define MTX_MAGIC 0x7461637475736d74ULL
#define SEM_MAGIC 0x7461637475737365ULL
#define CND_MAGIC 0x7461637475736364ULL
#define EVT_MAGIC 0x7461637475736576ULL
#define MBX_MAGIC 0x7461637475736d62ULL

static struct hardlock sync_lock;

void rt_sync_lock(void)
{
	hardlock(&sync_lock);
}

void rt_sync_unlock(void)
{
	hardunlock(&sync_lock);
}

/* An object has its own address, turned by its kind, in magic. */
static bool is_object(const unsigned long long *magic, u64 kind)
{
	return READ_ONCE(*magic) == ((unsigned long)magic ^ kind);
}

static void make_object(unsigned long long *magic, u64 kind)
{
	WRITE_ONCE(*magic, (unsigned long)magic ^ kind);
}

/*
 * After a change of @cpu's rq, its lock still held: what else it must be told, once until it picks.
 */
static void changed(struct rt_cpu *cpu)
{
	rt_assert(pl_hard_disabled() && hardlock_held(&cpu->lock));
	if (cpu == rt_cpu_here()) {
		rt_exec_arm(cpu);
	} else if (cpu->rq.need_resched && !cpu->rq.poked) {
		cpu->rq.poked = true;
		rt_exec_poke(cpu->rq.cpu);
	}
}

#ifdef TACTUS_DEBUG
void sync_check_locked(const char *where)
{
	if (!pl_hard_disabled() || !hardlock_held(&sync_lock))
		rt_assert_failed(where, "the lock of all objects is held");
}
#endif

void sync_unblock(RT_TASK *task)
{
	struct rt_cpu *cpu = rt_cpu_of(task->cpu);

	sync_assert_locked();
	hardlock(&cpu->lock);
	if (task->state == CORE_BLOCKED)
		core_unblock(&cpu->rq, task);
	changed(cpu);
	hardunlock(&cpu->lock);
}

void sync_requeue(RT_TASK *task)
{
	struct rt_cpu *cpu = rt_cpu_of(task->cpu);

	sync_assert_locked();
	hardlock(&cpu->lock);
	core_requeue(&cpu->rq, task);
	changed(cpu);
	hardunlock(&cpu->lock);
}

void sync_settle(RT_TASK *task)
{
	struct rt_cpu *cpu = rt_cpu_of(task->cpu);

	sync_assert_locked();
	hardlock(&cpu->lock);
	core_budget_settle(&cpu->rq, task, pl_clock());
	/* The end of a throttling is for its own CPU to arm. */
	if (cpu != rt_cpu_here() && timerq_early(&cpu->rq.timers))
		rt_exec_poke(cpu->rq.cpu);
	else
		changed(cpu);
	hardunlock(&cpu->lock);
}

void rt_sync_timeout(RT_TASK *task)
{
	hardlock(&sync_lock);
	/* If it was served in the meantime, that has also unblocked it. */
	if (sync_give_up(task, -ETIMEDOUT))
		sync_unblock(task);
	hardunlock(&sync_lock);
}

/* ---- calls that cannot wait: from anywhere ---- */

/*
 * @task: who calls, and may wait; NULL if nobody may. @caller: the task that calls, or NULL.
 * @message: also what a wait for flags is for; @mtx: of a condition variable's wait
 */
struct call {
	int (*fn)(struct call *call);
	void *object;
	unsigned long long *magic;
	u64 kind;
	RT_TASK *task, *caller;
	void *message;
	struct rt_mtx *mtx;
	unsigned int flags;
	int error;
};

static void call_oob(void *arg)
{
	struct call *call = arg;

	hardlock(&sync_lock);
	call->error = is_object(call->magic, call->kind) ? call->fn(call) : -EINVAL;
	/* Whoever is more urgent may run before the caller gets to know. */
	if (call->caller)
		call->caller->wait_result = call->error;
	hardunlock(&sync_lock);
}

static int do_call(struct call *call)
{
	if (!call->object)
		return -EINVAL;
	call->caller = rt_context() == RT_CONTEXT_TASK ? rt_task_self() : NULL;
	rt_exec_run(call_oob, call);
	return call->error;
}

#define CALL(obj, what, function)						\
	{ .fn = (function), .object = (obj), .magic = &(obj)->magic, .kind = (what) }

/* ---- calls that may: from a task ---- */

/*
 * The caller's task, the lock taken. A task that was killed by another CPU on its way here
 * ends here.
 */
static RT_TASK *begin(unsigned long *flags)
{
	RT_TASK *task;

	*flags = pl_hard_save();
	hardlock(&sync_lock);
	task = rt_cpu_here()->rq.curr;
	/* Another CPU may be suspending it meanwhile; killing it takes this lock. */
	if (unlikely(READ_ONCE(task->state) == CORE_DEAD)) {
		hardunlock(&sync_lock);
		rt_exec_resched();
	}
	return task;
}

/* Do what the object said: wait, or go on. Gives the lock back. */
static int end(RT_TASK *task, int result, RTIME until, unsigned long flags)
{
	struct rt_cpu *cpu = rt_cpu_here();

	rt_assert(pl_hard_disabled() && hardlock_held(&sync_lock));
	if (result == SYNC_WAIT && until <= (RTIME)pl_clock()) {
		sync_give_up(task, -ETIMEDOUT);
		result = -ETIMEDOUT;
	}
	if (result == SYNC_WAIT) {
		hardlock(&cpu->lock);
		task->pending = 1;
		core_block(&cpu->rq, until);
		rt_exec_arm(cpu);
		hardunlock(&cpu->lock);
	} else {
		task->wait_result = result;
	}
	hardunlock(&sync_lock);
	rt_exec_resched();
	if (result == SYNC_WAIT)
		result = READ_ONCE(task->wait_result);
	pl_hard_restore(flags);
	return result;
}

/* For a task that may wait: @call, and then what the object says. */
static int do_waiting_call(struct call *call, RTIME until)
{
	unsigned long flags;
	int result;

	if (rt_context() != RT_CONTEXT_TASK)
		return -EPERM;
	if (!call->object)
		return -EINVAL;
	call->task = begin(&flags);
	result = is_object(call->magic, call->kind) ? call->fn(call) : -EINVAL;
	return end(call->task, result, until, flags);
}

/* ---- for tasks with a half in ring 3 ---- */

struct cancel {
	RT_TASK *task;
	int result;
};

static void cancel_oob(void *arg)
{
	struct cancel *c = arg;

	hardlock(&sync_lock);
	sync_give_up(c->task, c->result);
	c->result = c->task->wait_result;
	hardunlock(&sync_lock);
}

int rt_sync_cancel(RT_TASK *task, int result)
{
	struct cancel c = { task, result };

	rt_exec_run(cancel_oob, &c);
	return c.result;
}
EXPORT_SYMBOL_GPL(rt_sync_cancel);

void rt_mtx_abandon(void)
{
	unsigned long flags;
	RT_TASK *task = begin(&flags);

	sync_kill(task);
	hardunlock(&sync_lock);
	rt_exec_resched();
	pl_hard_restore(flags);
}
EXPORT_SYMBOL_GPL(rt_mtx_abandon);

/* ---- mutexes ---- */

int rt_mtx_init(struct rt_mtx *mtx)
{
	if (!mtx)
		return -EINVAL;
	*mtx = (struct rt_mtx) { };
	make_object(&mtx->magic, MTX_MAGIC);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_mtx_init);

static int call_mtx_lock(struct call *call)
{
	return sync_mtx_lock(call->object, call->task);
}

int rt_mtx_lock_until(struct rt_mtx *mtx, RTIME until)
{
	struct call call = CALL(mtx, MTX_MAGIC, call_mtx_lock);

	return do_waiting_call(&call, until);
}
EXPORT_SYMBOL_GPL(rt_mtx_lock_until);

static int call_mtx_unlock(struct call *call)
{
	return sync_mtx_unlock(call->object, call->task);
}

int rt_mtx_unlock(struct rt_mtx *mtx)
{
	struct call call = CALL(mtx, MTX_MAGIC, call_mtx_unlock);

	return do_waiting_call(&call, 0);
}
EXPORT_SYMBOL_GPL(rt_mtx_unlock);

static int call_mtx_destroy(struct call *call)
{
	struct rt_mtx *mtx = call->object;

	mtx->magic = 0;
	sync_mtx_destroy(mtx);
	return 0;
}

int rt_mtx_destroy(struct rt_mtx *mtx)
{
	struct call call = CALL(mtx, MTX_MAGIC, call_mtx_destroy);

	return do_call(&call);
}
EXPORT_SYMBOL_GPL(rt_mtx_destroy);

/* ---- condition variables ---- */

int rt_cnd_init(struct rt_cnd *cnd)
{
	if (!cnd)
		return -EINVAL;
	*cnd = (struct rt_cnd) { };
	make_object(&cnd->magic, CND_MAGIC);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_cnd_init);

static int call_cnd_wait(struct call *call)
{
	if (!is_object(&call->mtx->magic, MTX_MAGIC))
		return -EINVAL;
	return sync_cnd_wait(call->object, call->mtx, call->task);
}

int rt_cnd_wait_until(struct rt_cnd *cnd, struct rt_mtx *mtx, RTIME until)
{
	struct call call = CALL(cnd, CND_MAGIC, call_cnd_wait);
	int result, err;

	if (!mtx)
		return -EINVAL;
	call.mtx = mtx;
	result = do_waiting_call(&call, until);
	if (result == -EINVAL || result == -EPERM)
		return result;
	err = rt_mtx_lock(mtx);
	return err ?: result;
}
EXPORT_SYMBOL_GPL(rt_cnd_wait_until);

static int call_cnd_signal(struct call *call)
{
	sync_cnd_signal(call->object);
	return 0;
}

int rt_cnd_signal(struct rt_cnd *cnd)
{
	struct call call = CALL(cnd, CND_MAGIC, call_cnd_signal);

	return do_call(&call);
}
EXPORT_SYMBOL_GPL(rt_cnd_signal);

static int call_cnd_broadcast(struct call *call)
{
	sync_cnd_broadcast(call->object);
	return 0;
}

int rt_cnd_broadcast(struct rt_cnd *cnd)
{
	struct call call = CALL(cnd, CND_MAGIC, call_cnd_broadcast);

	return do_call(&call);
}
EXPORT_SYMBOL_GPL(rt_cnd_broadcast);

static int call_cnd_destroy(struct call *call)
{
	struct rt_cnd *cnd = call->object;

	cnd->magic = 0;
	sync_cnd_destroy(cnd);
	return 0;
}

int rt_cnd_destroy(struct rt_cnd *cnd)
{
	struct call call = CALL(cnd, CND_MAGIC, call_cnd_destroy);

	return do_call(&call);
}
EXPORT_SYMBOL_GPL(rt_cnd_destroy);

/* ---- events ---- */

int rt_evt_init(struct rt_evt *evt, unsigned int flags)
{
	if (!evt)
		return -EINVAL;
	*evt = (struct rt_evt) { .flags = flags };
	make_object(&evt->magic, EVT_MAGIC);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_evt_init);

static int call_evt_wait(struct call *call)
{
	return sync_evt_wait(call->object, call->message, call->task);
}

int rt_evt_wait_until(struct rt_evt *evt, unsigned int flags, unsigned int how, unsigned int *got,
		      RTIME until)
{
	struct call call = CALL(evt, EVT_MAGIC, call_evt_wait);
	struct sync_flags wish = { .flags = flags, .how = how, .got = got };

	if (!flags || how & ~(RT_EVT_ALL | RT_EVT_TAKE))
		return -EINVAL;
	call.message = &wish;
	return do_waiting_call(&call, until);
}
EXPORT_SYMBOL_GPL(rt_evt_wait_until);

static int call_evt_set(struct call *call)
{
	sync_evt_set(call->object, call->flags);
	return 0;
}

int rt_evt_set(struct rt_evt *evt, unsigned int flags)
{
	struct call call = CALL(evt, EVT_MAGIC, call_evt_set);

	call.flags = flags;
	return do_call(&call);
}
EXPORT_SYMBOL_GPL(rt_evt_set);

static int call_evt_clear(struct call *call)
{
	((struct rt_evt *)call->object)->flags &= ~call->flags;
	return 0;
}

int rt_evt_clear(struct rt_evt *evt, unsigned int flags)
{
	struct call call = CALL(evt, EVT_MAGIC, call_evt_clear);

	call.flags = flags;
	return do_call(&call);
}
EXPORT_SYMBOL_GPL(rt_evt_clear);

static int call_evt_destroy(struct call *call)
{
	struct rt_evt *evt = call->object;

	evt->magic = 0;
	sync_evt_destroy(evt);
	return 0;
}

int rt_evt_destroy(struct rt_evt *evt)
{
	struct call call = CALL(evt, EVT_MAGIC, call_evt_destroy);

	return do_call(&call);
}
EXPORT_SYMBOL_GPL(rt_evt_destroy);

/* ---- semaphores ---- */

int rt_sem_init(struct rt_sem *sem, int count)
{
	if (!sem || count < 0)
		return -EINVAL;
	*sem = (struct rt_sem) { .count = count };
	make_object(&sem->magic, SEM_MAGIC);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_sem_init);

static int call_sem_wait(struct call *call)
{
	return sync_sem_wait(call->object, call->task);
}

int rt_sem_wait_until(struct rt_sem *sem, RTIME until)
{
	struct call call = CALL(sem, SEM_MAGIC, call_sem_wait);

	return do_waiting_call(&call, until);
}
EXPORT_SYMBOL_GPL(rt_sem_wait_until);

static int call_sem_post(struct call *call)
{
	return sync_sem_post(call->object);
}

int rt_sem_post(struct rt_sem *sem)
{
	struct call call = CALL(sem, SEM_MAGIC, call_sem_post);

	return do_call(&call);
}
EXPORT_SYMBOL_GPL(rt_sem_post);

static int call_sem_destroy(struct call *call)
{
	struct rt_sem *sem = call->object;

	sem->magic = 0;
	sync_sem_destroy(sem);
	return 0;
}

int rt_sem_destroy(struct rt_sem *sem)
{
	struct call call = CALL(sem, SEM_MAGIC, call_sem_destroy);

	return do_call(&call);
}
EXPORT_SYMBOL_GPL(rt_sem_destroy);

/* ---- mailboxes ---- */

int rt_mbx_init(struct rt_mbx *mbx, void *memory, int bytes, int room)
{
	if (!mbx || !memory || bytes < 1 || bytes > RT_MBX_MAX_BYTES || room < 1)
		return -EINVAL;
	*mbx = (struct rt_mbx) { .memory = memory, .bytes = bytes, .room = room };
	make_object(&mbx->magic, MBX_MAGIC);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_mbx_init);

static int call_send(struct call *call)
{
	return sync_mbx_send(call->object, call->message, call->task);
}

static int call_receive(struct call *call)
{
	return sync_mbx_receive(call->object, call->message, call->task);
}

/* From a task it may wait; others get the error of having to. */
static int transfer(struct call *call, RTIME until)
{
	int error;

	if (rt_context() == RT_CONTEXT_TASK)
		return do_waiting_call(call, until);
	error = do_call(call);
	if (error != -EAGAIN)
		return error;
	return until <= (RTIME)pl_clock() ? -ETIMEDOUT : -EPERM;
}

int rt_mbx_send_until(struct rt_mbx *mbx, const void *message, RTIME until)
{
	struct call call = CALL(mbx, MBX_MAGIC, call_send);

	if (!message)
		return -EINVAL;
	call.message = (void *)message;
	return transfer(&call, until);
}
EXPORT_SYMBOL_GPL(rt_mbx_send_until);

int rt_mbx_receive_until(struct rt_mbx *mbx, void *message, RTIME until)
{
	struct call call = CALL(mbx, MBX_MAGIC, call_receive);

	if (!message)
		return -EINVAL;
	call.message = message;
	return transfer(&call, until);
}
EXPORT_SYMBOL_GPL(rt_mbx_receive_until);

static int call_mbx_destroy(struct call *call)
{
	struct rt_mbx *mbx = call->object;

	mbx->magic = 0;
	sync_mbx_destroy(mbx);
	return 0;
}

int rt_mbx_destroy(struct rt_mbx *mbx)
{
	struct call call = CALL(mbx, MBX_MAGIC, call_mbx_destroy);

	return do_call(&call);
}
EXPORT_SYMBOL_GPL(rt_mbx_destroy);
