// SPDX-License-Identifier: GPL-2.0-only
/*
 * RTLinux's message queues: a semaphore counts the messages, another one the room, and a lock that
 * holds interrupts off covers the copies. A queue has all of its memory from the start.
 */
#include <linux/mutex.h>
#include <linux/stdarg.h>
#include "threads.h"

#define NAME_BYTES 32
#define MOST_MESSAGES 1024
#define MOST_BYTES 4096

struct message {
	unsigned int priority;
	unsigned int number;	/* of all that were sent: of one priority the oldest first */
	int bytes;		/* -1: free */
	char text[];
};

static struct queue {
	struct module *owner;	/* NULL: free */
	char name[NAME_BYTES];
	bool unlinked;
	int users, flags, most, size, count;
	unsigned int sent;
	unsigned int lock;
	struct rt_sem messages, room;
	char *memory;
} queues[RTL_QUEUES];

/* Who makes and takes away; Linux processes only. */
static DEFINE_MUTEX(queues_mutex);

static int fail(int error)
{
	*rtl_errno() = error;
	return -1;
}

static unsigned long hold(struct queue *queue)
{
	unsigned long flags = rtl_hard_save();

	while (xchg(&queue->lock, 1))
		cpu_relax();
	return flags;
}

static void let_go(struct queue *queue, unsigned long flags)
{
	smp_store_release(&queue->lock, 0);
	rtl_hard_restore(flags);
}

static struct message *message(const struct queue *queue, int i)
{
	return (void *)(queue->memory + i * ALIGN(sizeof(struct message) + queue->size, 8));
}

static struct queue *queue_of(mqd_t number)
{
	if (number < 0 || number >= RTL_QUEUES || !READ_ONCE(queues[number].owner))
		return NULL;
	return &queues[number];
}

/* With queues_mutex held. */
static int make(struct module *owner, const char *name, const struct mq_attr *attr)
{
	struct queue *queue;
	int i;

	for (queue = queues; queue < queues + RTL_QUEUES && queue->owner; queue++)
		;
	if (queue == queues + RTL_QUEUES)
		return -ENFILE;
	memset(queue, 0, sizeof(*queue));
	queue->most = attr ? attr->mq_maxmsg : 10;
	queue->size = attr ? attr->mq_msgsize : 128;
	if (queue->most < 1 || queue->most > MOST_MESSAGES ||
	    queue->size < 1 || queue->size > MOST_BYTES)
		return -EINVAL;
	queue->memory = kvcalloc(queue->most, ALIGN(sizeof(struct message) + queue->size, 8),
				 GFP_KERNEL);
	if (!queue->memory)
		return -ENOMEM;
	for (i = 0; i < queue->most; i++)
		message(queue, i)->bytes = -1;
	strscpy(queue->name, name, NAME_BYTES);
	rt_sem_init(&queue->messages, 0);
	rt_sem_init(&queue->room, queue->most);
	smp_store_release(&queue->owner, owner);
	return queue - queues;
}

/* With queues_mutex held. Waiters are refused. */
static void take_away(struct queue *queue)
{
	rt_sem_destroy(&queue->messages);
	rt_sem_destroy(&queue->room);
	WRITE_ONCE(queue->owner, NULL);
	kvfree(queue->memory);
	queue->memory = NULL;
}

static int find(const char *name)
{
	int i;

	for (i = 0; i < RTL_QUEUES; i++)
		if (queues[i].owner && !queues[i].unlinked && !strcmp(queues[i].name, name))
			return i;
	return -ENOENT;
}

mqd_t rtl_mq_open(struct module *owner, const char *name, int flags, ...)
{
	const struct mq_attr *attr = NULL;
	va_list args;
	int number;

	if (rt_context() != RT_CONTEXT_LINUX)
		return fail(EPERM);
	if (!name || !*name || strlen(name) >= NAME_BYTES)
		return fail(name && *name ? ENAMETOOLONG : EINVAL);
	if (flags & O_CREAT) {
		va_start(args, flags);
		va_arg(args, int);
		attr = va_arg(args, const struct mq_attr *);
		va_end(args);
	}
	mutex_lock(&queues_mutex);
	number = find(name);
	if (number >= 0 && flags & O_CREAT && flags & O_EXCL)
		number = -EEXIST;
	else if (number < 0 && flags & O_CREAT)
		number = make(owner, name, attr);
	if (number >= 0) {
		queues[number].users++;
		queues[number].flags = flags & O_NONBLOCK;
	}
	mutex_unlock(&queues_mutex);
	return number < 0 ? fail(-number) : number;
}
EXPORT_SYMBOL_GPL(rtl_mq_open);

int mq_close(mqd_t number)
{
	struct queue *queue;

	if (rt_context() != RT_CONTEXT_LINUX)
		return fail(EPERM);
	mutex_lock(&queues_mutex);
	queue = queue_of(number);
	if (queue && queue->users > 0 && !--queue->users && queue->unlinked)
		take_away(queue);
	mutex_unlock(&queues_mutex);
	return queue ? 0 : fail(EBADF);
}
EXPORT_SYMBOL_GPL(mq_close);

int mq_unlink(const char *name)
{
	int number;

	if (rt_context() != RT_CONTEXT_LINUX)
		return fail(EPERM);
	mutex_lock(&queues_mutex);
	number = name ? find(name) : -ENOENT;
	if (number >= 0) {
		queues[number].unlinked = true;
		if (!queues[number].users)
			take_away(&queues[number]);
	}
	mutex_unlock(&queues_mutex);
	return number < 0 ? fail(-number) : 0;
}
EXPORT_SYMBOL_GPL(mq_unlink);

/* Take one of what a semaphore counts. */
static int wait_for(struct queue *queue, struct rt_sem *sem, const struct timespec *until)
{
	RTIME end = RT_NO_DEADLINE;
	int error;

	if (!rt_task_self())
		return EPERM;
	if (until)
		end = max(timespec_to_ns(until) - rtl_clock_real.offset, 0LL);
	if (queue->flags & O_NONBLOCK)
		end = 0;
	pthread_testcancel();
	error = rt_sem_wait_until(sem, end);
	pthread_testcancel();
	return error == -ETIMEDOUT ? queue->flags & O_NONBLOCK ? EAGAIN : ETIMEDOUT :
		error ? EBADF : 0;
}

int mq_timedsend(mqd_t number, const char *text, size_t bytes, unsigned int priority,
		 const struct timespec *until)
{
	struct queue *queue = queue_of(number);
	unsigned long flags;
	int error, i;

	if (!queue)
		return fail(EBADF);
	if (bytes > queue->size)
		return fail(EMSGSIZE);
	if (!text || priority >= MQ_PRIO_MAX)
		return fail(EINVAL);
	error = wait_for(queue, &queue->room, until);
	if (error)
		return fail(error);
	flags = hold(queue);
	for (i = 0; i < queue->most && message(queue, i)->bytes >= 0; i++)
		;
	if (i < queue->most) {
		message(queue, i)->priority = priority;
		message(queue, i)->number = queue->sent++;
		message(queue, i)->bytes = bytes;
		memcpy(message(queue, i)->text, text, bytes);
		queue->count++;
	}
	let_go(queue, flags);
	rt_sem_post(&queue->messages);
	return 0;
}
EXPORT_SYMBOL_GPL(mq_timedsend);

/* Is @a to be received before @b? */
static bool before(const struct message *a, const struct message *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	return (int)(a->number - b->number) < 0;
}

ssize_t mq_timedreceive(mqd_t number, char *text, size_t bytes, unsigned int *priority,
			const struct timespec *until)
{
	struct queue *queue = queue_of(number);
	struct message *first = NULL;
	unsigned long flags;
	int error, i, n = 0;

	if (!queue)
		return fail(EBADF);
	if (bytes < queue->size)
		return fail(EMSGSIZE);
	if (!text)
		return fail(EINVAL);
	error = wait_for(queue, &queue->messages, until);
	if (error)
		return fail(error);
	flags = hold(queue);
	for (i = 0; i < queue->most; i++)
		if (message(queue, i)->bytes >= 0 && (!first || before(message(queue, i), first)))
			first = message(queue, i);
	if (first) {
		n = first->bytes;
		memcpy(text, first->text, n);
		if (priority)
			*priority = first->priority;
		first->bytes = -1;
		queue->count--;
	}
	let_go(queue, flags);
	rt_sem_post(&queue->room);
	return n;
}
EXPORT_SYMBOL_GPL(mq_timedreceive);

int mq_getattr(mqd_t number, struct mq_attr *attr)
{
	struct queue *queue = queue_of(number);

	if (!queue)
		return fail(EBADF);
	if (!attr)
		return fail(EINVAL);
	*attr = (struct mq_attr){ queue->flags, queue->most, queue->size,
				  READ_ONCE(queue->count) };
	return 0;
}
EXPORT_SYMBOL_GPL(mq_getattr);

int mq_setattr(mqd_t number, const struct mq_attr *attr, struct mq_attr *old)
{
	if (old && mq_getattr(number, old))
		return -1;
	if (!queue_of(number))
		return fail(EBADF);
	if (!attr)
		return fail(EINVAL);
	WRITE_ONCE(queues[number].flags, attr->mq_flags & O_NONBLOCK);
	return 0;
}
EXPORT_SYMBOL_GPL(mq_setattr);

void queues_forget(const struct module *mod)
{
	int i;

	mutex_lock(&queues_mutex);
	for (i = 0; i < RTL_QUEUES; i++)
		if (queues[i].owner && (!mod || queues[i].owner == mod))
			take_away(&queues[i]);
	mutex_unlock(&queues_mutex);
}
