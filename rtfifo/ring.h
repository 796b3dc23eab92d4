/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A byte ring between one producer and one consumer: no lock, no loop, no wait.
 *
 * Pure: knows nothing of Linux, FIFO numbers or sleeping. One end of each ring
 * is RT code, the other is Linux (serialised by the caller).
 *
 * Invariants
 * - head and tail count bytes and run freely, modulo 2^32; byte number i lives at
 *   data[i & mask], whatever the buffer. head - tail bytes are in the ring.
 * - Only the producer writes head. The consumer writes tail; so does the producer
 *   when it overwrites the oldest bytes, and then both use compare-and-exchange.
 * - head - tail <= size <= mask + 1. If misuse (two producers at once) breaks
 *   this, bytes may be garbled, but no access ever leaves the buffer.
 *
 * Barriers, named as in the code:
 *   (A) put's release of head   pairs with  the consumer's acquire of head
 *   (B) get's release of tail   pairs with  the producer's acquire of tail
 *   (C) resize's release of buf pairs with  the RT end's acquire of buf
 *   (D) a producer's release of prod_gen pairs with resize's acquire of it
 *   (F) an overwriting producer's exchange of tail, before it writes, pairs with
 *       the consumer's one, after it has read
 * The full barrier of the sleep and wake-up protocol is not in here: see
 * rtfifo/wake.h.
 */
#ifndef _RTFIFO_RING_H
#define _RTFIFO_RING_H

#include "pure.h"

#ifndef __KERNEL__
static inline bool ring_host_cmpxchg(u32 *p, u32 old, u32 new)
{
	return __atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}
#define ring_cmpxchg(p, old, new) ring_host_cmpxchg(p, old, new)
#else
#include <linux/atomic.h>
/* A full barrier, more than is needed; x86 has no cheaper one. */
#define ring_cmpxchg(p, old, new) (cmpxchg(p, old, new) == (old))
#endif

#define RING_LINE_BYTES 64

/*
 * Indices start just below the wrap, so that every use of a FIFO passes it
 * within its first 4 KiB, and not after four billion bytes in the field.
 */
#define RING_INDEX_START 0xfffff000u

/*
 * What the ends tell one another. The halves are on lines of their own; each is
 * written by one end only. May be mapped read-only into a process.
 */
struct ring_index {
	/* The producer's half. */
	u32 head __attribute__((aligned(RING_LINE_BYTES)));
	u32 want_free;	/* a sleeping producer asks to be woken at so much space; 0: no */
	/* The consumer's half. */
	u32 tail __attribute__((aligned(RING_LINE_BYTES)));
	u32 want_used;	/* a sleeping consumer asks to be woken at so much data; 0: no */
};

struct ring_buf {
	u8 *data;
	u32 mask;	/* bytes allocated - 1; a power of two - 1 */
	u32 size;	/* bytes it may hold: exactly what was asked for */
	u32 gen;	/* which buffer of its ring this is */
};

struct ring {
	struct ring_index *ix;
	struct ring_buf *buf;
	bool keep;	/* a resize is at work: overwrite nothing */

	/* Written by the producer alone. */
	u32 prod_gen __attribute__((aligned(RING_LINE_BYTES)));
	u32 prod_from;	/* the first byte that went to the buffer prod_gen */
	u32 high;	/* the most bytes that were in the ring */
	u64 refused;	/* puts that did not fit */
	u64 lost;	/* bytes that were overwritten before they were read */
};

void ring_init(struct ring *r, struct ring_index *ix, struct ring_buf *buf);

/* Bytes in the ring. Either end may ask; the other may be changing it. */
static inline u32 ring_used(const struct ring *r)
{
	/* tail first: head can then only be ahead of it, never behind. */
	u32 tail = smp_load_acquire(&r->ix->tail);

	return smp_load_acquire(&r->ix->head) - tail;
}

static inline u32 ring_size(const struct ring *r)
{
	return READ_ONCE(smp_load_acquire(&r->buf)->size);
}

static inline u32 ring_free(const struct ring *r)
{
	u32 size = ring_size(r), used = ring_used(r);

	return used < size ? size - used : 0;
}

/*
 * Most messages are a few words: spare them the call (and the start-up cost) of
 * memcpy. The sizes are constants here, so each is one load and one store.
 */
static inline void ring_copy_bytes(u8 *to, const u8 *from, u32 n)
{
	switch (n) {
	case 1:
		*to = *from;
		break;
	case 4:
		memcpy(to, from, 4);
		break;
	case 8:
		memcpy(to, from, 8);
		break;
	case 16:
		memcpy(to, from, 16);
		break;
	default:
		memcpy(to, from, n);
	}
}

/* Copy bytes number @at to @at + @n; the caller has checked that n <= mask + 1. */
static inline void ring_copy_in(struct ring_buf *b, u32 at, const void *src, u32 n)
{
	u32 off = at & b->mask, room = b->mask + 1 - off;

	if (likely(n <= room)) {
		ring_copy_bytes(b->data + off, src, n);
	} else {
		memcpy(b->data + off, src, room);
		memcpy(b->data, (const u8 *)src + room, n - room);
	}
}

static inline void ring_copy_out(const struct ring_buf *b, u32 at, void *dst, u32 n)
{
	u32 off = at & b->mask, room = b->mask + 1 - off;

	if (likely(n <= room)) {
		ring_copy_bytes(dst, b->data + off, n);
	} else {
		memcpy(dst, b->data + off, room);
		memcpy((u8 *)dst + room, b->data, n - room);
	}
}

/* Remember from which byte on this producer has been using buffer @b. */
static inline void ring_prod_note(struct ring *r, const struct ring_buf *b, u32 head)
{
	if (unlikely(r->prod_gen != b->gen)) {
		WRITE_ONCE(r->prod_from, head);
		smp_store_release(&r->prod_gen, b->gen);	/* (D): publishes prod_from */
	}
}

/**
 * ring_put - append @n bytes, or nothing
 *
 * Producer only; wait-free.
 * Return: @n, or -ENOSPC if they do not fit.
 */
static inline int ring_put(struct ring *r, const void *src, u32 n)
{
	struct ring_index *ix = r->ix;
	struct ring_buf *b = smp_load_acquire(&r->buf);		/* (C) */
	u32 head = ix->head;
	u32 used = head - smp_load_acquire(&ix->tail);		/* (B): the space is really free */
	u32 size = READ_ONCE(b->size);

	if (unlikely(n > size || used > size - n)) {
		WRITE_ONCE(r->refused, r->refused + 1);
		return -ENOSPC;
	}
	ring_prod_note(r, b, head);
	ring_copy_in(b, head, src, n);
	smp_store_release(&ix->head, head + n);			/* (A): publishes the bytes */
	if (used + n > r->high)
		WRITE_ONCE(r->high, used + n);
	return (int)n;
}

/**
 * ring_peek - copy the oldest @n bytes and leave them in the ring, or nothing
 *
 * Consumer only; wait-free.
 * Return: @n, or -EAGAIN if there are fewer.
 */
static inline int ring_peek(struct ring *r, void *dst, u32 n)
{
	struct ring_index *ix = r->ix;
	u32 tail = ix->tail;
	/*
	 * head before buf: whoever sees bytes that were written after a resize
	 * also sees the buffer they were written to.
	 */
	u32 used = smp_load_acquire(&ix->head) - tail;		/* (A): the bytes are there */
	const struct ring_buf *b = smp_load_acquire(&r->buf);	/* (C) */

	if (unlikely(used < n || n > b->mask + 1))
		return -EAGAIN;
	ring_copy_out(b, tail, dst, n);
	return (int)n;
}

/* Give the space of the oldest @n bytes back; consumer of a ring that nobody overwrites. */
static inline void ring_consume(struct ring *r, u32 n)
{
	smp_store_release(&r->ix->tail, r->ix->tail + n);	/* (B): the bytes have been read */
}

/**
 * ring_get - take the oldest @n bytes, or nothing
 *
 * Consumer only; wait-free.
 * Return: @n, or -EAGAIN if there are fewer.
 */
static inline int ring_get(struct ring *r, void *dst, u32 n)
{
	int ret = ring_peek(r, dst, n);

	if (likely(ret > 0))
		ring_consume(r, n);
	return ret;
}

/*
 * The same where the producer may overwrite. @tail is where the consumer began to
 * read; false: the oldest bytes were overwritten since, what was read is void.
 */
static inline bool ring_try_consume(struct ring *r, u32 tail, u32 n)
{
	return ring_cmpxchg(&r->ix->tail, tail, tail + n);	/* (B), (F): read, and it was valid */
}

int ring_put_overwrite(struct ring *r, const void *src, u32 n);
u32 ring_flush(struct ring *r);
u32 ring_span_used(const struct ring *r, u32 tail, u8 **at);
u32 ring_span_free(const struct ring *r, u32 skip, u8 **at);
void ring_commit(struct ring *r, u32 n);
int ring_resize_rt_consumer(struct ring *r, struct ring_buf *new, void (*sync)(void));
int ring_resize_rt_producer(struct ring *r, struct ring_buf *new, void (*sync)(void));

#endif
