// SPDX-License-Identifier: GPL-2.0-only
/* See wait.h. */
#include "sched/wait.h"

/* ---- queues of tasks that wait ---- */

static void waitq_insert(struct rt_waitq *queue, RT_TASK *task)
{
	RT_TASK **link = &queue->first;

	while (*link && sync_urgency(*link) <= sync_urgency(task))
		link = &(*link)->wait_next;
	task->wait_next = *link;
	*link = task;
	task->waits_in = queue;
}

static void waitq_remove(RT_TASK *task)
{
	RT_TASK **link = &task->waits_in->first;

	while (*link != task)
		link = &(*link)->wait_next;
	*link = task->wait_next;
	task->waits_in = NULL;
}

/* The first, if any, goes on with @result. */
static RT_TASK *waitq_serve(struct rt_waitq *queue, int result)
{
	RT_TASK *task = queue->first;

	if (task) {
		waitq_remove(task);
		task->waits_for = NULL;
		task->wait_result = result;
	}
	return task;
}

static void waitq_dismiss_all(struct rt_waitq *queue, int result)
{
	RT_TASK *task;

	while ((task = waitq_serve(queue, result)))
		sync_unblock(task);
}

/* ---- inheritance ---- */

/*
 * What a task inherits changes under the lock over all objects, and its CPU, which sorts by it, may
 * be looking: then sync_requeue(), under that CPU's lock, sorts it anew.
 */
static void set_inherited(RT_TASK *task, u64 urgency)
{
	WRITE_ONCE(task->inherited, urgency);
}

/* Return: whether it changed. */
static bool inherit(RT_TASK *owner)
{
	u64 best = CORE_NOTHING_INHERITED;

	for (struct rt_mtx *mtx = owner->owned; mtx; mtx = mtx->next_owned)
		if (mtx->waiters.first && sync_urgency(mtx->waiters.first) < best)
			best = sync_urgency(mtx->waiters.first);
	if (best == READ_ONCE(owner->inherited))
		return false;
	set_inherited(owner, best);
	return true;
}

/* What @task inherits has changed: its place where it waits, or among the ready ones. */
static void follow_change(RT_TASK *task)
{
	for (;;) {
		struct rt_waitq *queue = task->waits_in;

		if (!queue) {
			sync_requeue(task);
			return;
		}
		waitq_remove(task);
		waitq_insert(queue, task);
		if (!task->waits_for || !inherit(task->waits_for->owner))
			return;
		task = task->waits_for->owner;
	}
}

/* The waiters of @mtx, which has an owner, have changed. */
static void inherit_along(struct rt_mtx *mtx)
{
	if (inherit(mtx->owner))
		follow_change(mtx->owner);
}

/* ---- mutexes ---- */

static void own(struct rt_mtx *mtx, RT_TASK *task)
{
	mtx->owner = task;
	mtx->next_owned = task->owned;
	task->owned = mtx;
}

static void disown(struct rt_mtx *mtx)
{
	struct rt_mtx **link = &mtx->owner->owned;

	while (*link != mtx)
		link = &(*link)->next_owned;
	*link = mtx->next_owned;
	mtx->owner = NULL;
}

int sync_mtx_lock(struct rt_mtx *mtx, RT_TASK *task)
{
	sync_assert_locked();
	if (!mtx->owner) {
		own(mtx, task);
		if (likely(!mtx->orphan))
			return 0;
		mtx->orphan = 0;
		return -EOWNERDEAD;
	}
	for (const struct rt_mtx *m = mtx; m; m = m->owner->waits_for)
		if (m->owner == task)
			return -EDEADLK;
	waitq_insert(&mtx->waiters, task);
	task->waits_for = mtx;
	inherit_along(mtx);
	return SYNC_WAIT;
}

/* What @task took beyond its budget while it owned something is charged when it owns nothing. */
static void settle(RT_TASK *task)
{
	if (!task->owned && READ_ONCE(task->budget))
		sync_settle(task);
}

/* To the first that waits, with @result, or to nobody, which then is for the next that locks it. */
static void hand_over(struct rt_mtx *mtx, int result)
{
	RT_TASK *next;

	disown(mtx);
	next = waitq_serve(&mtx->waiters, result);
	if (!next) {
		mtx->orphan = result == -EOWNERDEAD;
		return;
	}
	own(mtx, next);
	/* Before it becomes ready: those behind it may be more urgent than it is by itself. */
	inherit(next);
	sync_unblock(next);
}

int sync_mtx_unlock(struct rt_mtx *mtx, RT_TASK *task)
{
	sync_assert_locked();
	if (mtx->owner != task)
		return -EPERM;
	hand_over(mtx, 0);
	if (inherit(task))
		sync_requeue(task);
	settle(task);
	return 0;
}

void sync_mtx_destroy(struct rt_mtx *mtx)
{
	RT_TASK *owner = mtx->owner;

	sync_assert_locked();
	if (!owner)
		return;
	disown(mtx);
	waitq_dismiss_all(&mtx->waiters, -EIDRM);
	if (inherit(owner))
		follow_change(owner);
	settle(owner);
}

/* ---- condition variables ---- */

int sync_cnd_wait(struct rt_cnd *cnd, struct rt_mtx *mtx, RT_TASK *task)
{
	sync_assert_locked();
	if (mtx->owner != task)
		return -EPERM;
	hand_over(mtx, 0);
	if (inherit(task))
		sync_requeue(task);
	/* Not settled: what it took beyond its budget is charged when it gets the CPU again. */
	waitq_insert(&cnd->waiters, task);
	return SYNC_WAIT;
}

void sync_cnd_signal(struct rt_cnd *cnd)
{
	RT_TASK *task = waitq_serve(&cnd->waiters, 0);

	sync_assert_locked();
	if (task)
		sync_unblock(task);
}

void sync_cnd_broadcast(struct rt_cnd *cnd)
{
	sync_assert_locked();
	waitq_dismiss_all(&cnd->waiters, 0);
}

void sync_cnd_destroy(struct rt_cnd *cnd)
{
	sync_assert_locked();
	waitq_dismiss_all(&cnd->waiters, -EIDRM);
}

/* ---- events ---- */

/* Are the flags there? Then they are told, and taken if that is wished. */
static bool evt_has(struct rt_evt *evt, const struct sync_flags *wish)
{
	unsigned int set = evt->flags & wish->flags;

	if (wish->how & RT_EVT_ALL ? set != wish->flags : !set)
		return false;
	if (wish->how & RT_EVT_TAKE)
		evt->flags &= ~set;
	if (wish->got)
		*wish->got = set;
	return true;
}

int sync_evt_wait(struct rt_evt *evt, struct sync_flags *wish, RT_TASK *task)
{
	sync_assert_locked();
	if (evt_has(evt, wish))
		return 0;
	task->wait_buffer = wish;
	waitq_insert(&evt->waiters, task);
	return SYNC_WAIT;
}

void sync_evt_set(struct rt_evt *evt, unsigned int flags)
{
	RT_TASK *task, *next;

	sync_assert_locked();
	evt->flags |= flags;
	for (task = evt->waiters.first; task; task = next) {
		next = task->wait_next;
		if (!evt_has(evt, task->wait_buffer))
			continue;
		waitq_remove(task);
		task->wait_result = 0;
		sync_unblock(task);
	}
}

void sync_evt_destroy(struct rt_evt *evt)
{
	sync_assert_locked();
	waitq_dismiss_all(&evt->waiters, -EIDRM);
}

/* ---- semaphores ---- */

int sync_sem_wait(struct rt_sem *sem, RT_TASK *task)
{
	sync_assert_locked();
	if (sem->count) {
		sem->count--;
		return 0;
	}
	waitq_insert(&sem->waiters, task);
	return SYNC_WAIT;
}

int sync_sem_post(struct rt_sem *sem)
{
	RT_TASK *task = waitq_serve(&sem->waiters, 0);

	sync_assert_locked();
	if (task) {
		sync_unblock(task);
		return 0;
	}
	if (sem->count == RT_SEM_MAX)
		return -ENOSPC;
	sem->count++;
	return 0;
}

void sync_sem_destroy(struct rt_sem *sem)
{
	sync_assert_locked();
	waitq_dismiss_all(&sem->waiters, -EIDRM);
}

/* ---- mailboxes: nobody waits to receive while there is a message, nor to send while room ---- */

static void mbx_put(struct rt_mbx *mbx, const void *message)
{
	int place = (mbx->first + mbx->count++) % mbx->room;

	memcpy(mbx->memory + (size_t)place * mbx->bytes, message, mbx->bytes);
}

int sync_mbx_send(struct rt_mbx *mbx, const void *message, RT_TASK *task)
{
	RT_TASK *receiver = waitq_serve(&mbx->receivers, 0);

	sync_assert_locked();
	if (receiver) {
		memcpy(receiver->wait_buffer, message, mbx->bytes);
		sync_unblock(receiver);
		return 0;
	}
	if (mbx->count < mbx->room) {
		mbx_put(mbx, message);
		return 0;
	}
	if (!task)
		return -EAGAIN;
	task->wait_buffer = (void *)message;
	waitq_insert(&mbx->senders, task);
	return SYNC_WAIT;
}

int sync_mbx_receive(struct rt_mbx *mbx, void *message, RT_TASK *task)
{
	RT_TASK *sender;

	sync_assert_locked();
	if (mbx->count) {
		memcpy(message, mbx->memory + (size_t)mbx->first * mbx->bytes, mbx->bytes);
		mbx->first = (mbx->first + 1) % mbx->room;
		mbx->count--;
		sender = waitq_serve(&mbx->senders, 0);
		if (sender) {
			mbx_put(mbx, sender->wait_buffer);
			sync_unblock(sender);
		}
		return 0;
	}
	if (!task)
		return -EAGAIN;
	task->wait_buffer = message;
	waitq_insert(&mbx->receivers, task);
	return SYNC_WAIT;
}

void sync_mbx_destroy(struct rt_mbx *mbx)
{
	sync_assert_locked();
	waitq_dismiss_all(&mbx->senders, -EIDRM);
	waitq_dismiss_all(&mbx->receivers, -EIDRM);
}

/* ---- another policy, other keys ---- */

/* Cut the list after its first run, whose members are in order; what follows it. */
static RT_TASK *cut_run(RT_TASK *run)
{
	RT_TASK *rest;

	while (run->wait_next && sync_urgency(run) <= sync_urgency(run->wait_next))
		run = run->wait_next;
	rest = run->wait_next;
	run->wait_next = NULL;
	return rest;
}

/* Append runs @a and @b to *@link, merged, @a's first among equals; where the next is to go. */
static RT_TASK **merge(RT_TASK **link, RT_TASK *a, RT_TASK *b)
{
	while (a && b) {
		RT_TASK **first = sync_urgency(b) < sync_urgency(a) ? &b : &a;

		*link = *first;
		link = &(*link)->wait_next;
		*first = *link;
	}
	*link = a ?: b;
	while (*link)
		link = &(*link)->wait_next;
	return link;
}

bool sync_sort(RT_TASK *task, unsigned int change)
{
	struct rt_waitq *queue = task->waits_in;
	RT_TASK **link, *rest;

	sync_assert_locked();
	if (!queue || queue->sorted == change)
		return true;
	link = &queue->first;
	rest = queue->first;
	while (rest) {
		RT_TASK *a = rest, *b = cut_run(a);

		rest = b ? cut_run(b) : NULL;
		if (!b && link == &queue->first) {
			queue->sorted = change;
			return true;
		}
		link = merge(link, a, b);
	}
	return false;
}

void sync_inherit(RT_TASK *task)
{
	sync_assert_locked();
	if (inherit(task))
		follow_change(task);
}

/* ---- the end of a wait, and of a task ---- */

bool sync_give_up(RT_TASK *task, int result)
{
	struct rt_mtx *mtx = task->waits_for;

	sync_assert_locked();
	if (!task->waits_in)
		return false;
	waitq_remove(task);
	task->waits_for = NULL;
	task->wait_result = result;
	if (mtx)
		inherit_along(mtx);
	return true;
}

void sync_kill(RT_TASK *task)
{
	sync_assert_locked();
	sync_give_up(task, -EIDRM);
	while (task->owned)
		hand_over(task->owned, -EOWNERDEAD);
	set_inherited(task, CORE_NOTHING_INHERITED);
}
