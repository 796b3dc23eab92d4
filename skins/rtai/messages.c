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
	mbx->memory = kvmalloc(max_t(size_t, size, sizeof(struct llist_node)), GFP_KERNEL);
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

/* Waiters are refused. Context: any but an NMI; nobody may be in the middle of a copy. */
int rt_mbx_delete(MBX *mbx)
{
	if (!mbx || !mbx->memory)
		return -EINVAL;
	rt_sem_destroy(&mbx->senders);
	rt_sem_destroy(&mbx->receivers);
	rt_sem_destroy(&mbx->space);
	rt_sem_destroy(&mbx->data);
	garbage_free(mbx->memory);
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

int rt_mbx_evdrp(MBX *mbx, void *msg, int size)
{
	unsigned long flags;
	int n, first;

	if (!mbx || !mbx->memory || !msg || size < 0)
		return -EINVAL;
	flags = hold(&mbx->lock);
	n = min(mbx->used, size);
	first = min(n, mbx->size - mbx->first);
	memcpy(msg, mbx->memory + mbx->first, first);
	memcpy(msg + first, mbx->memory, n - first);
	let_go(&mbx->lock, flags);
	return size - n;
}
EXPORT_SYMBOL_GPL(rt_mbx_evdrp);

int rt_mbx_ovrwr_send(MBX *mbx, const void *msg, int size)
{
	unsigned long flags;
	int excess;

	if (!mbx || !mbx->memory || !msg || size < 0)
		return -EINVAL;
	if (size > mbx->size)
		return size;
	flags = hold(&mbx->lock);
	excess = size - (mbx->size - mbx->used);
	if (excess > 0) {
		mbx->first = (mbx->first + excess) % mbx->size;
		mbx->used -= excess;
	}
	let_go(&mbx->lock, flags);
	return size - move_in(mbx, msg, size, true);
}
EXPORT_SYMBOL_GPL(rt_mbx_ovrwr_send);

/*
 * Messages: the sender queues itself at the receiver, and waits until it has been received, or
 * answered. The lock covers the queues, who receives, and whom an answer is due to.
 */

static int queue_lock;

/* Take @self out of @task's queue, if it is still there. */
static bool withdraw(struct rtai_task *task, struct rtai_task *self)
{
	unsigned long flags = hold(&queue_lock);
	struct rtai_task **link;
	bool found;

	for (link = &task->senders; *link && *link != self; link = &(*link)->next_sender)
		;
	found = *link;
	if (found)
		*link = self->next_sender;
	let_go(&queue_lock, flags);
	return found;
}

/* Received, and nobody answered in time: there is nobody to answer any more. */
static bool renounce(struct rtai_task *self)
{
	unsigned long flags = hold(&queue_lock);
	bool renounced = self->rpc;

	self->rpc = 0;
	let_go(&queue_lock, flags);
	return renounced;
}

struct rtai_task *rtai_send(struct rtai_task *task, unsigned long msg, void *reply,
			    struct rtai_letter *letter, int rpc, RTIME until)
{
	struct rtai_task *self = rt_whoami(), **last;
	unsigned long flags;
	int error;

	if (!self || !task || task == self)
		return NULL;
	self->msg = msg;
	self->letter = letter;
	self->rpc = rpc;
	self->next_sender = NULL;
	flags = hold(&queue_lock);
	if (!until && (!task->receiving || (task->from && task->from != self))) {
		let_go(&queue_lock, flags);
		self->rpc = 0;
		return NULL;
	}
	for (last = &task->senders; *last; last = &(*last)->next_sender)
		;
	*last = self;
	let_go(&queue_lock, flags);
	rt_sem_post(&task->arrived);
	error = rt_sem_wait_until(&self->answered, until ?: RT_NO_DEADLINE);
	if (error == -ETIMEDOUT) {
		if (withdraw(task, self) || renounce(self))
			return NULL;
		error = rt_sem_wait(&self->answered);
	}
	if (error)
		return NULL;
	if (reply)
		*(unsigned int *)reply = self->reply;
	return task;
}
EXPORT_SYMBOL_GPL(rtai_send);

struct rtai_task *rt_send(struct rtai_task *task, unsigned long msg)
{
	return rtai_send(task, msg, NULL, NULL, 0, RT_NO_DEADLINE);
}
EXPORT_SYMBOL_GPL(rt_send);

struct rtai_task *rt_rpc(struct rtai_task *task, unsigned long msg, void *reply)
{
	return rtai_send(task, msg, reply, NULL, 1, RT_NO_DEADLINE);
}
EXPORT_SYMBOL_GPL(rt_rpc);

/* The first of @self's senders that it wants, out of the queue; else it says whom it waits for. */
static struct rtai_task *next_sender(struct rtai_task *self, struct rtai_task *from)
{
	unsigned long flags = hold(&queue_lock);
	struct rtai_task **link, *sender;

	for (link = &self->senders; (sender = *link); link = &sender->next_sender)
		if (!from || sender == from)
			break;
	if (sender)
		*link = sender->next_sender;
	self->from = from;
	self->receiving = !sender;
	let_go(&queue_lock, flags);
	return sender;
}

/* @from NULL: of any task. A letter goes to @text, a word to @msg. */
struct rtai_task *rtai_receive_until(struct rtai_task *from, void *msg, void *text, int size,
				     int *length, RTIME until)
{
	struct rtai_task *self = rt_whoami(), *sender;
	struct rtai_letter *letter;
	int n = 0;

	if (!self)
		return NULL;
	while (!(sender = next_sender(self, from))) {
		if (until && !rt_sem_wait_until(&self->arrived, until))
			continue;
		sender = next_sender(self, from);
		self->receiving = 0;
		if (!sender)
			return NULL;
		break;
	}
	letter = sender->letter;
	if (msg)
		*(unsigned int *)msg = sender->msg;
	if (text && letter) {
		n = min(size, letter->out_bytes);
		memcpy(text, letter->out, n);
	}
	if (length)
		*length = n;
	if (!sender->rpc)
		rt_sem_post(&sender->answered);
	return sender;
}
EXPORT_SYMBOL_GPL(rtai_receive_until);

struct rtai_task *rtai_receive(struct rtai_task *from, void *msg)
{
	return rtai_receive_until(from, msg, NULL, 0, NULL, RT_NO_DEADLINE);
}
EXPORT_SYMBOL_GPL(rtai_receive);

static struct rtai_task *answer(struct rtai_task *task, unsigned long reply, const void *text,
				int size)
{
	unsigned long flags;
	bool due;

	if (!task)
		return NULL;
	flags = hold(&queue_lock);
	due = task->rpc;
	if (due) {
		task->reply = reply;
		if (text && task->letter && task->letter->in)
			memcpy(task->letter->in, text, min(size, task->letter->in_bytes));
		task->rpc = 0;
	}
	let_go(&queue_lock, flags);
	return due && !rt_sem_post(&task->answered) ? task : NULL;
}

struct rtai_task *rt_return(struct rtai_task *task, unsigned long reply)
{
	return answer(task, reply, NULL, 0);
}
EXPORT_SYMBOL_GPL(rt_return);

struct rtai_task *rt_returnx(struct rtai_task *task, const void *msg, int size)
{
	return answer(task, 0, msg, size);
}
EXPORT_SYMBOL_GPL(rt_returnx);
