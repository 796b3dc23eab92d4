// SPDX-License-Identifier: LGPL-2.1-or-later WITH Linux-syscall-note
/*
 * Message queues of POSIX: memory that processes share by a name, and two semaphores, which count
 * messages and room. Whoever has got one from a semaphore finds a slot to take: so nobody waits for
 * a thread that was interrupted while it copies. A queue's descriptor is that of its memory's file.
 */
#undef _FORTIFY_SOURCE		/* it brings an mq_open() of its own */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "posix.h"

#define MAGIC 0x317565757178746bULL
#define PRIORITIES 32768	/* MQ_PRIO_MAX, which the C library has no constant for */
#define DESCRIPTORS 1024
/* As Linux has them at first. */
#define USUAL_COUNT 10
#define USUAL_BYTES 8192
#define COUNT_MOST 1024
#define BYTES_MOST (1 << 20)

/*
 * A slot's state, and while it has a message how urgent that is: the priority, and what is left
 * of ORDER_MOST since the first message. So the greatest number is to be received next.
 */
#define FREE 0ULL
#define BUSY 1ULL		/* somebody copies */
#define FULL (1ULL << 63)
#define PRIORITY_SHIFT 47
#define ORDER_MOST ((1ULL << PRIORITY_SHIFT) - 1)

struct slot {
	_Atomic uint64_t key;
	uint64_t bytes;
	char message[];
};

/*
 * struct queue - what processes share
 * @count, @bytes: messages; of one, at most
 * @messages, @room: what can be received, and sent
 * @order: how many were sent
 * @changes: likewise, counted when they were there to be received
 */
struct queue {
	uint64_t magic;
	uint32_t count, bytes;
	struct count messages, room;
	_Atomic uint64_t order, changes;
	char slots[];
};

/*
 * struct open_queue - a descriptor
 * @count, @bytes: as they were when they fitted the memory
 */
struct open_queue {
	struct queue *queue;
	size_t memory_bytes;
	uint32_t count, bytes;
	int access;
	_Atomic int flags;
	struct fast_sem messages, room;
};

static struct open_queue *_Atomic open_queues[DESCRIPTORS];

static struct open_queue *queue_of(mqd_t mqd)
{
	return mqd >= 0 && mqd < DESCRIPTORS ? open_queues[mqd] : NULL;
}

static size_t slot_bytes(uint32_t bytes)
{
	return sizeof(struct slot) + ((bytes + 7UL) & ~7UL);
}

static struct slot *slot_at(const struct open_queue *o, uint32_t i)
{
	return (struct slot *)(o->queue->slots + i * slot_bytes(o->bytes));
}

/* ---- open, close ---- */

static int adopt_queue(int fd, int how)
{
	char messages[CHANNEL_BYTES], room[CHANNEL_BYTES];
	struct open_queue *o;
	struct queue *q;
	struct stat stat;
	int err = -EINVAL;

	if (fd >= DESCRIPTORS)
		return -EMFILE;
	q = named_map(fd, sizeof(*q), &stat);
	if (!q)
		return err;
	o = calloc(1, sizeof(*o));
	if (!o) {
		err = -ENOMEM;
		goto err_map;
	}
	*o = (struct open_queue){
		.queue = q, .memory_bytes = stat.st_size, .count = q->count, .bytes = q->bytes,
		.access = how & O_ACCMODE, .flags = how & O_NONBLOCK,
	};
	if (q->magic != MAGIC || o->count > COUNT_MOST || o->bytes > BYTES_MOST ||
	    sizeof(*q) + o->count * slot_bytes(o->bytes) > o->memory_bytes)
		goto err_free;
	named_channel(messages, &stat, 'm');
	named_channel(room, &stat, 'r');
	err = fast_init(&o->messages, &q->messages, messages);
	err = err ?: fast_init(&o->room, &q->room, room);
	if (err)
		goto err_free;
	open_queues[fd] = o;
	return fd;
err_free:
	free(o);
err_map:
	munmap(q, stat.st_size);
	return err;
}

/* The arguments of mq_open(), and the C library's queue with that name, or -1. */
struct opening {
	const char *name, *bare;
	int how;
	mode_t mode;
	const struct mq_attr *attr;
	mqd_t theirs;
};

static bool is_theirs(void *arg)
{
	struct opening *o = arg;

	o->theirs = LINUX(mq_open)(o->name, o->how & ~(O_CREAT | O_EXCL));
	return o->theirs >= 0;
}

static int make_queue(void *arg)
{
	struct queue start = { .magic = MAGIC, .count = USUAL_COUNT, .bytes = USUAL_BYTES };
	const struct opening *o = arg;
	const struct mq_attr *attr = o->attr;

	if (attr && (attr->mq_maxmsg <= 0 || attr->mq_maxmsg > COUNT_MOST ||
		     attr->mq_msgsize <= 0 || attr->mq_msgsize > BYTES_MOST))
		return -EINVAL;
	if (attr) {
		start.count = attr->mq_maxmsg;
		start.bytes = attr->mq_msgsize;
	}
	start.room.value = start.count;
	return named_make("mq", o->bare, o->mode, &start, sizeof(start),
			  sizeof(start) + start.count * slot_bytes(start.bytes));
}

static mqd_t open_queue(struct opening *o)
{
	static const struct named_way way = { "mq", is_theirs, make_queue };
	bool made = false;
	int fd, mqd;

	fd = named_open(&way, o->bare, o->how, o, &made);
	if (o->theirs >= 0 && !is_anew(o->how))
		return o->theirs;
	if (o->theirs >= 0)
		LINUX(mq_close)(o->theirs);
	mqd = fd < 0 ? fd : adopt_queue(fd, o->how);
	if (mqd >= 0)
		return mqd;
	if (fd >= 0)
		close(fd);
	if (made)
		named_unlink("mq", o->bare);
	return fail(-mqd);
}

EXPORT mqd_t mq_open(const char *name, int how, ...)
{
	struct opening o = { .name = name, .how = how, .theirs = -1 };
	va_list rest;

	va_start(rest, how);
	if (how & O_CREAT) {
		o.mode = va_arg(rest, mode_t);
		o.attr = va_arg(rest, const struct mq_attr *);
	}
	va_end(rest);
	if (rt_init())
		return LINUX(mq_open)(name, how, o.mode, o.attr);
	o.bare = named_check(name, true);
	if (!o.bare)
		return -1;
	if ((how & O_ACCMODE) == O_ACCMODE)
		return fail(EINVAL);
	return open_queue(&o);
}

/* What a program compiled with _FORTIFY_SOURCE calls. */
mqd_t __mq_open_2(const char *name, int how);
EXPORT mqd_t __mq_open_2(const char *name, int how)
{
	if (how & O_CREAT)
		abort();
	return mq_open(name, how);
}

EXPORT int mq_close(mqd_t mqd)
{
	struct open_queue *o = queue_of(mqd);

	if (!o)
		return LINUX(mq_close)(mqd);
	open_queues[mqd] = NULL;
	munmap(o->queue, o->memory_bytes);
	free(o);
	return close(mqd);
}

EXPORT int mq_unlink(const char *name)
{
	const char *bare = named_check(name, true);
	int err = bare ? named_unlink("mq", bare) : -errno;

	if (err == -ENOENT)
		return LINUX(mq_unlink)(name);
	return err ? fail(-err) : 0;
}

/* ---- attributes ---- */

EXPORT int mq_getattr(mqd_t mqd, struct mq_attr *attr)
{
	struct open_queue *o = queue_of(mqd);

	if (!o)
		return LINUX(mq_getattr)(mqd, attr);
	*attr = (struct mq_attr){
		.mq_flags = o->flags, .mq_maxmsg = o->count, .mq_msgsize = o->bytes,
		.mq_curmsgs = o->queue->messages.value,
	};
	return 0;
}

EXPORT int mq_setattr(mqd_t mqd, const struct mq_attr *restrict attr, struct mq_attr *restrict old)
{
	struct open_queue *o = queue_of(mqd);

	if (!o)
		return LINUX(mq_setattr)(mqd, attr, old);
	if (attr->mq_flags & ~O_NONBLOCK)
		return fail(EINVAL);
	if (old)
		mq_getattr(mqd, old);
	o->flags = attr->mq_flags;
	return 0;
}

/* Nobody is there to send the signal. */
EXPORT int mq_notify(mqd_t mqd, const struct sigevent *event)
{
	return queue_of(mqd) ? fail(ENOSYS) : LINUX(mq_notify)(mqd, event);
}

/* ---- send, receive ---- */

/* One of what @sem counts; NULL: wait without an end. 0 or -errno. */
static int get_one(const struct open_queue *o, struct fast_sem *sem, const struct timespec *until)
{
	if (fast_take(sem))
		return 0;
	if (o->flags & O_NONBLOCK)
		return -EAGAIN;
	if (until && !is_time(until))
		return -EINVAL;
	return fast_wait(sem, until ? moment_of(CLOCK_REALTIME, until) : RT_NO_DEADLINE);
}

/* There is one: the caller has it from the semaphore. */
static struct slot *claim_free(const struct open_queue *o)
{
	for (uint32_t i = 0;; i = i + 1 < o->count ? i + 1 : 0) {
		uint64_t key = FREE;

		if (atomic_compare_exchange_strong(&slot_at(o, i)->key, &key, BUSY))
			return slot_at(o, i);
	}
}

/* Likewise. One that was sent meanwhile may be more urgent: so it looks again then. */
static struct slot *claim_first(const struct open_queue *o, unsigned int *priority)
{
	for (;;) {
		uint64_t changes = o->queue->changes, best = 0;
		struct slot *first = NULL;

		for (uint32_t i = 0; i < o->count; i++) {
			uint64_t key = slot_at(o, i)->key;

			if (key < FULL || key < best)
				continue;
			best = key;
			first = slot_at(o, i);
		}
		*priority = (best & ~FULL) >> PRIORITY_SHIFT;
		if (first && changes == o->queue->changes &&
		    atomic_compare_exchange_strong(&first->key, &best, BUSY))
			return first;
	}
}

static int send_one(mqd_t mqd, const char *message, size_t bytes, unsigned int priority,
		    const struct timespec *until)
{
	struct open_queue *o = queue_of(mqd);
	struct slot *slot;
	int err;

	if (!o)
		return LINUX(mq_timedsend)(mqd, message, bytes, priority, until);
	err = o->access == O_RDONLY ? -EBADF : priority >= PRIORITIES ? -EINVAL :
	      bytes > o->bytes ? -EMSGSIZE : get_one(o, &o->room, until);
	if (err)
		return fail(-err);
	slot = claim_free(o);
	slot->bytes = bytes;
	memcpy(slot->message, message, bytes);
	slot->key = FULL | (uint64_t)priority << PRIORITY_SHIFT | (ORDER_MOST - o->queue->order++);
	o->queue->changes++;
	fast_post(&o->messages);
	return 0;
}

static ssize_t receive_one(mqd_t mqd, char *message, size_t bytes, unsigned int *priority,
			   const struct timespec *until)
{
	struct open_queue *o = queue_of(mqd);
	unsigned int of_it;
	struct slot *slot;
	size_t got;
	int err;

	if (!o)
		return LINUX(mq_timedreceive)(mqd, message, bytes, priority, until);
	err = o->access == O_WRONLY ? -EBADF : bytes < o->bytes ? -EMSGSIZE :
	      get_one(o, &o->messages, until);
	if (err)
		return fail(-err);
	slot = claim_first(o, &of_it);
	got = slot->bytes < o->bytes ? slot->bytes : o->bytes;
	memcpy(message, slot->message, got);
	slot->key = FREE;
	fast_post(&o->room);
	if (priority)
		*priority = of_it;
	return got;
}

EXPORT int mq_timedsend(mqd_t mqd, const char *message, size_t bytes, unsigned int priority,
			const struct timespec *until)
{
	return send_one(mqd, message, bytes, priority, until);
}

EXPORT int mq_send(mqd_t mqd, const char *message, size_t bytes, unsigned int priority)
{
	return send_one(mqd, message, bytes, priority, NULL);
}

EXPORT ssize_t mq_timedreceive(mqd_t mqd, char *restrict message, size_t bytes,
			       unsigned int *restrict priority,
			       const struct timespec *restrict until)
{
	return receive_one(mqd, message, bytes, priority, until);
}

EXPORT ssize_t mq_receive(mqd_t mqd, char *message, size_t bytes, unsigned int *priority)
{
	return receive_one(mqd, message, bytes, priority, NULL);
}
