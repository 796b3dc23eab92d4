// SPDX-License-Identifier: GPL-2.0-only
/* RTAI's typed mailboxes: whole messages, urgent ones first, and one for all who wait. */
#include "pipeline/pipeline.h"
#include "native.h"

/* Before each message: how long it is. */
#define HEAD ((int)sizeof(int))

static unsigned long hold(TBX *tbx)
{
	unsigned long flags = pl_hard_save();

	while (xchg(&tbx->lock, 1))
		cpu_relax();
	return flags;
}

static void let_go(TBX *tbx, unsigned long flags)
{
	smp_store_release(&tbx->lock, 0);
	pl_hard_restore(flags);
}

/* Context: Linux process; may sleep. */
int rt_tbx_init(TBX *tbx, int size, int flags)
{
	if (!tbx || size <= HEAD)
		return -EINVAL;
	memset(tbx, 0, sizeof(*tbx));
	tbx->memory = kvmalloc(size, GFP_KERNEL);
	if (!tbx->memory)
		return -ENOMEM;
	tbx->size = size;
	rt_sem_init(&tbx->space, 0);
	rt_sem_init(&tbx->data, 0);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_tbx_init);

/* Waiting tasks are refused. Context: Linux process; nobody may be in the middle of a copy. */
int rt_tbx_delete(TBX *tbx)
{
	if (!tbx || !tbx->memory)
		return -EINVAL;
	rt_sem_destroy(&tbx->space);
	rt_sem_destroy(&tbx->data);
	kvfree(tbx->memory);
	tbx->memory = NULL;
	return 0;
}
EXPORT_SYMBOL_GPL(rt_tbx_delete);

static void put_at(TBX *tbx, int at, const void *from, int n)
{
	int first;

	at %= tbx->size;
	first = min(n, tbx->size - at);
	memcpy(tbx->memory + at, from, first);
	memcpy(tbx->memory, from + first, n - first);
}

static void get_at(const TBX *tbx, int at, void *to, int n)
{
	int first;

	at %= tbx->size;
	first = min(n, tbx->size - at);
	memcpy(to, tbx->memory + at, first);
	memcpy(to + first, tbx->memory, n - first);
}

static void wake(struct rt_sem *sem, atomic_t *waiters)
{
	if (atomic_dec_if_positive(waiters) >= 0)
		rt_sem_post(sem);
}

/* With the lock held. */
static bool put(TBX *tbx, const void *msg, int size, bool urgent)
{
	int at = tbx->first + tbx->used;

	if (tbx->size - tbx->used < size + HEAD)
		return false;
	if (urgent) {
		tbx->first = (tbx->first + tbx->size - size - HEAD) % tbx->size;
		at = tbx->first;
	}
	put_at(tbx, at, &size, HEAD);
	put_at(tbx, at + HEAD, msg, size);
	tbx->used += size + HEAD;
	return true;
}

/* How many bytes of @msg were filled, -1: there is no message. With the lock held. */
static int take(TBX *tbx, void *msg, int room)
{
	int size, n;

	if (!tbx->used)
		return -1;
	get_at(tbx, tbx->first, &size, HEAD);
	n = min(size, room);
	get_at(tbx, tbx->first + HEAD, msg, n);
	tbx->first = (tbx->first + HEAD + size) % tbx->size;
	tbx->used -= HEAD + size;
	return n;
}

/*
 * Whoever finds no room, or no message, is counted under the lock, so that the other side posts.
 * A task that is not served in time takes itself off the count, or takes the post if too late.
 */
static bool wait(struct rt_sem *sem, atomic_t *waiters, RTIME until)
{
	int error = rt_sem_wait_until(sem, until);

	if (error == -ETIMEDOUT && atomic_dec_if_positive(waiters) < 0)
		error = rt_sem_wait(sem);
	else if (error && error != -ETIMEDOUT)
		atomic_add_unless(waiters, -1, 0);
	return !error;
}

int rtai_tbx_send(TBX *tbx, const void *msg, int size, RTIME until, int urgent)
{
	unsigned long flags;
	bool done;

	if (!tbx || !tbx->memory || !msg || size < 0)
		return -EINVAL;
	if (size > tbx->size - HEAD)
		return -EMSGSIZE;
	do {
		flags = hold(tbx);
		done = put(tbx, msg, size, urgent);
		if (!done && until)
			atomic_inc(&tbx->want_space);
		let_go(tbx, flags);
		if (done)
			wake(&tbx->data, &tbx->want_data);
	} while (!done && until && wait(&tbx->space, &tbx->want_space, until));
	return done ? 0 : size;
}
EXPORT_SYMBOL_GPL(rtai_tbx_send);

int rtai_tbx_receive(TBX *tbx, void *msg, int size, RTIME until)
{
	unsigned long flags;
	int got, senders;

	if (!tbx || !tbx->memory || !msg || size < 0)
		return -EINVAL;
	do {
		flags = hold(tbx);
		got = take(tbx, msg, size);
		if (got < 0 && until)
			atomic_inc(&tbx->want_data);
		let_go(tbx, flags);
		/* As many as wait for room may find it now; who does not is counted again. */
		senders = got < 0 ? 0 : atomic_read(&tbx->want_space);
		while (senders-- > 0)
			wake(&tbx->space, &tbx->want_space);
	} while (got < 0 && until && wait(&tbx->data, &tbx->want_data, until));
	return got < 0 ? size : size - got;
}
EXPORT_SYMBOL_GPL(rtai_tbx_receive);

/* One copy for each task that waits now; how many those are. */
int rt_tbx_broadcast(TBX *tbx, const void *msg, int size)
{
	unsigned long flags;
	int waiting, sent = 0;

	if (!tbx || !tbx->memory || !msg || size < 0)
		return -EINVAL;
	if (size > tbx->size - HEAD)
		return -EMSGSIZE;
	flags = hold(tbx);
	waiting = atomic_read(&tbx->want_data);
	while (sent < waiting && put(tbx, msg, size, false))
		sent++;
	let_go(tbx, flags);
	for (waiting = 0; waiting < sent; waiting++)
		wake(&tbx->data, &tbx->want_data);
	return sent;
}
EXPORT_SYMBOL_GPL(rt_tbx_broadcast);
