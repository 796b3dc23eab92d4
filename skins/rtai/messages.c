// SPDX-License-Identifier: GPL-2.0-only
/* RTAI's mailboxes and messages. */
#include "pipeline/pipeline.h"
#include "native.h"

static unsigned long hold(int *lock)
{
	unsigned long flags = pl_hard_save();

	while (xchg(lock, 1))
		cpu_relax();
	return flags;
}

static void let_go(int *lock, unsigned long flags)
{
	smp_store_release(lock, 0);
	pl_hard_restore(flags);
}

/* Context: Linux process; may sleep. */
int rtai_mbx_init(MBX *mbx, int size)
{
	if (!mbx || size < 1)
		return -EINVAL;
	memset(mbx, 0, sizeof(*mbx));
	mbx->memory = kvmalloc(size, GFP_KERNEL);
	if (!mbx->memory)
		return -ENOMEM;
	mbx->size = size;
	rt_sem_init(&mbx->senders, 1);
	rt_sem_init(&mbx->receivers, 1);
	rt_sem_init(&mbx->space, 0);
	rt_sem_init(&mbx->data, 0);
	return 0;
}
EXPORT_SYMBOL_GPL(rtai_mbx_init);

/* Waiters are refused. Context: Linux process; nobody may be in the middle of a copy. */
int rt_mbx_delete(MBX *mbx)
{
	if (!mbx || !mbx->memory)
		return -EINVAL;
	rt_sem_destroy(&mbx->senders);
	rt_sem_destroy(&mbx->receivers);
	rt_sem_destroy(&mbx->space);
	rt_sem_destroy(&mbx->data);
	kvfree(mbx->memory);
	mbx->memory = NULL;
	return 0;
}
EXPORT_SYMBOL_GPL(rt_mbx_delete);

/* Move what can be moved now; how many bytes. @all: nothing, if not all. */
static int move_in(MBX *mbx, const char *msg, int size, bool all)
{
	unsigned long flags = hold(&mbx->lock);
	int room = mbx->size - mbx->used, n = min(room, size), at, first;

	if (all && n < size)
		n = 0;
	at = (mbx->first + mbx->used) % mbx->size;
	first = min(n, mbx->size - at);
	memcpy(mbx->memory + at, msg, first);
	memcpy(mbx->memory, msg + first, n - first);
	mbx->used += n;
	let_go(&mbx->lock, flags);
	if (n && atomic_xchg(&mbx->wants_data, 0))
		rt_sem_post(&mbx->data);
	return n;
}

static int move_out(MBX *mbx, char *msg, int size, bool all)
{
	unsigned long flags = hold(&mbx->lock);
	int n = min(mbx->used, size), first;

	if (all && n < size)
		n = 0;
	first = min(n, mbx->size - mbx->first);
	memcpy(msg, mbx->memory + mbx->first, first);
	memcpy(msg + first, mbx->memory, n - first);
	mbx->first = (mbx->first + n) % mbx->size;
	mbx->used -= n;
	let_go(&mbx->lock, flags);
	if (n && atomic_xchg(&mbx->wants_space, 0))
		rt_sem_post(&mbx->space);
	return n;
}

/*
 * One sender and one receiver at a time may wait in the middle of a message. Each says that it
 * wants something, looks once more, and waits; a post too many is one more look.
 */
int rtai_mbx_send(MBX *mbx, const void *msg, int size, RTIME until, int how)
{
	int done = 0;

	if (!mbx || !mbx->memory || !msg || size < 0)
		return -EINVAL;
	if (how)
		return size - move_in(mbx, msg, size, how == RTAI_MBX_IF);
	if (rt_sem_wait_until(&mbx->senders, until))
		return size;
	for (;;) {
		done += move_in(mbx, msg + done, size - done, false);
		if (done == size)
			break;
		atomic_set(&mbx->wants_space, 1);
		if (READ_ONCE(mbx->used) < mbx->size)
			continue;
		if (rt_sem_wait_until(&mbx->space, until))
			break;
	}
	rt_sem_post(&mbx->senders);
	return size - done;
}
EXPORT_SYMBOL_GPL(rtai_mbx_send);

int rtai_mbx_receive(MBX *mbx, void *msg, int size, RTIME until, int how)
{
	int done = 0;

	if (!mbx || !mbx->memory || !msg || size < 0)
		return -EINVAL;
	if (how)
		return size - move_out(mbx, msg, size, how == RTAI_MBX_IF);
	if (rt_sem_wait_until(&mbx->receivers, until))
		return size;
	for (;;) {
		done += move_out(mbx, msg + done, size - done, false);
		if (done == size)
			break;
		atomic_set(&mbx->wants_data, 1);
		if (READ_ONCE(mbx->used))
			continue;
		if (rt_sem_wait_until(&mbx->data, until))
			break;
	}
	rt_sem_post(&mbx->receivers);
	return size - done;
}
EXPORT_SYMBOL_GPL(rtai_mbx_receive);

/* Messages: the sender queues itself at the receiver, and waits until it has been received. */

static int queue_lock;

static struct rtai_task *send(struct rtai_task *task, unsigned long msg, int rpc)
{
	struct rtai_task *self = rt_whoami(), **last;
	unsigned long flags;

	if (!self || !task || task == self)
		return NULL;
	self->msg = msg;
	self->rpc = rpc;
	self->next_sender = NULL;
	flags = hold(&queue_lock);
	for (last = &task->senders; *last; last = &(*last)->next_sender)
		;
	*last = self;
	let_go(&queue_lock, flags);
	rt_sem_post(&task->arrived);
	return rt_sem_wait(&self->answered) ? NULL : task;
}

struct rtai_task *rt_send(struct rtai_task *task, unsigned long msg)
{
	return send(task, msg, 0);
}
EXPORT_SYMBOL_GPL(rt_send);

struct rtai_task *rt_rpc(struct rtai_task *task, unsigned long msg, void *reply)
{
	struct rtai_task *to = send(task, msg, 1);

	if (to && reply)
		*(unsigned int *)reply = rt_whoami()->reply;
	return to;
}
EXPORT_SYMBOL_GPL(rt_rpc);

/* @from NULL: of any task. */
struct rtai_task *rtai_receive(struct rtai_task *from, void *msg)
{
	struct rtai_task *self = rt_whoami(), **link, *sender;
	unsigned long flags;

	if (!self)
		return NULL;
	for (;;) {
		flags = hold(&queue_lock);
		for (link = &self->senders; (sender = *link); link = &sender->next_sender)
			if (!from || sender == from)
				break;
		if (sender)
			*link = sender->next_sender;
		let_go(&queue_lock, flags);
		if (sender)
			break;
		if (rt_sem_wait(&self->arrived))
			return NULL;
	}
	if (msg)
		*(unsigned int *)msg = sender->msg;
	if (!sender->rpc)
		rt_sem_post(&sender->answered);
	return sender;
}
EXPORT_SYMBOL_GPL(rtai_receive);

struct rtai_task *rt_return(struct rtai_task *task, unsigned long reply)
{
	if (!task || !task->rpc)
		return NULL;
	task->reply = reply;
	task->rpc = 0;
	return rt_sem_post(&task->answered) ? NULL : task;
}
EXPORT_SYMBOL_GPL(rt_return);
