/* SPDX-License-Identifier: GPL-2.0-only */
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
 * rtfifo.h.
 */
#ifndef _RTFIFO_RING_H
#define _RTFIFO_RING_H

#include <rt/pure.h>

#ifndef __KERNEL__
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
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

/* @n words of 8 bytes; what is over is the caller's. */
static __always_inline void ring_copy_words(u8 *to, const u8 *from, u64 n)
{
#if defined(__KERNEL__) && defined(CONFIG_X86_64)
	asm volatile("rep movsq" : "+D" (to), "+S" (from), "+c" (n) : : "memory");
#else
	memcpy(to, from, n * 8);
#endif
}

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
	u32 cap;	/* bytes allocated: a power of two */
	u32 mask;	/* cap - 1 */
	u32 size;	/* bytes it may hold: exactly what was asked for */
	u32 limit;	/* the same for a producer's short way; 0 sends it the long one */
	u32 get_cap;	/* cap for a consumer's short way; 0 likewise */
	u32 gen;	/* which buffer of its ring this is */
};

struct ring {
	struct ring_index *ix;
	struct ring_buf *buf;
	bool keep;	/* a resize is at work: overwrite nothing */
	u32 record;	/* bytes of a record: only whole ones go in and out; 0: just bytes */
	u32 high;	/* the most bytes in it, as seen whenever Linux moved some */

	/* Written by the producer alone. */
	u32 prod_gen __attribute__((aligned(RING_LINE_BYTES)));
	u32 prod_from;	/* the first byte that went to the buffer prod_gen */
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
 * A memcpy for short messages, without a call: up to 32 bytes go by moves of fixed
 * size that may overlap, the rest by words.
 */
static __always_inline void ring_copy(u8 *to, const u8 *from, size_t n)
{
	u64 first, second, third, last;

	if (n >= 8) {
		memcpy(&last, from + n - 8, 8);
		if (n <= 16) {
			memcpy(&first, from, 8);
			memcpy(to, &first, 8);
		} else if (n <= 32) {
			memcpy(&first, from, 8);
			memcpy(&second, from + 8, 8);
			memcpy(&third, from + n - 16, 8);
			memcpy(to, &first, 8);
			memcpy(to + 8, &second, 8);
			memcpy(to + n - 16, &third, 8);
		} else {
			ring_copy_words(to, from, n / 8);
		}
		memcpy(to + n - 8, &last, 8);
	} else if (n >= 4) {
		u32 head, tail;

		memcpy(&head, from, 4);
		memcpy(&tail, from + n - 4, 4);
		memcpy(to, &head, 4);
		memcpy(to + n - 4, &tail, 4);
	} else if (n) {
		u8 head = from[0], mid = from[n / 2], tail = from[n - 1];

		to[0] = head;
		to[n / 2] = mid;
		to[n - 1] = tail;
	}
}

/*
 * The short way of a put: no wrap of the buffer, nothing to note. Returns the indices;
 * or NULL: it is not that simple, nothing has happened. @n may be anything.
 */
static __always_inline struct ring_index *ring_put_short(struct ring *r, const void *src, size_t n)
{
	struct ring_index *ix = r->ix;
	struct ring_buf *b = smp_load_acquire(&r->buf);		/* (C) */
	u32 head = ix->head;
	u32 used = head - smp_load_acquire(&ix->tail);		/* (B): the space is really free */
	u32 off = head & b->mask;

	if (unlikely(used + n > READ_ONCE(b->limit) || off + n > b->cap))
		return NULL;
	ring_copy(b->data + off, src, n);
	smp_store_release(&ix->head, head + (u32)n);		/* (A): publishes the bytes */
	return ix;
}

int ring_put_long(struct ring *r, const void *src, u32 n);

/**
 * ring_put - append @n bytes, or nothing
 *
 * Producer only; wait-free.
 * Return: @n, or -ENOSPC if they do not fit, -EINVAL if they are not whole records.
 */
static inline int ring_put(struct ring *r, const void *src, u32 n)
{
	return likely(ring_put_short(r, src, n)) ? (int)n : ring_put_long(r, src, n);
}

/* The same for a get. */
static __always_inline struct ring_index *ring_get_short(struct ring *r, void *dst, size_t n)
{
	struct ring_index *ix = r->ix;
	u32 tail = ix->tail;
	/*
	 * head before buf: whoever sees bytes that were written after a resize
	 * also sees the buffer they were written to.
	 */
	u32 used = smp_load_acquire(&ix->head) - tail;		/* (A): the bytes are there */
	const struct ring_buf *b = smp_load_acquire(&r->buf);	/* (C) */
	u32 off = tail & b->mask;

	if (unlikely(used < n || off + n > READ_ONCE(b->get_cap)))
		return NULL;
	ring_copy(dst, b->data + off, n);
	smp_store_release(&ix->tail, tail + (u32)n);		/* (B): the bytes have been read */
	return ix;
}

int ring_peek(struct ring *r, void *dst, u32 n);
int ring_get_long(struct ring *r, void *dst, u32 n);

/**
 * ring_get - take the oldest @n bytes, or nothing
 *
 * Consumer only; wait-free.
 * Return: @n, or -EAGAIN if there are fewer, -EINVAL if they are not whole records.
 */
static inline int ring_get(struct ring *r, void *dst, u32 n)
{
	return likely(ring_get_short(r, dst, n)) ? (int)n : ring_get_long(r, dst, n);
}

/* Give the space of the oldest @n bytes back; consumer of a ring that nobody overwrites. */
static inline void ring_consume(struct ring *r, u32 n)
{
	smp_store_release(&r->ix->tail, r->ix->tail + n);	/* (B): the bytes have been read */
}

/* Statistics: so many were in it when some were taken. */
static __always_inline void ring_note_high(struct ring *r, u32 used)
{
	if (unlikely(used > r->high))
		WRITE_ONCE(r->high, used);
}

/*
 * Consumer of a ring whose producer may overwrite: give the space of @n bytes back.
 * @tail is where the consumer began to read; false: the oldest bytes were overwritten
 * since, what was read is void.
 */
static __always_inline bool ring_try_consume(struct ring *r, u32 tail, u32 n)
{
	u32 used = smp_load_acquire(&r->ix->head) - tail;

	if (!ring_cmpxchg(&r->ix->tail, tail, tail + n))	/* (B), (F) */
		return false;
	ring_note_high(r, used);
	return true;
}

/* Are @n bytes a whole number of records? */
static inline bool ring_whole(const struct ring *r, u32 n)
{
	u32 record = READ_ONCE(r->record);

	return !record || n % record == 0;
}

int ring_put_overwrite(struct ring *r, const void *src, u32 n);
u32 ring_flush(struct ring *r);
u32 ring_span_used(const struct ring *r, u32 tail, u8 **at);
u32 ring_span_free(const struct ring *r, u32 skip, u8 **at);
void ring_commit(struct ring *r, u32 n);
void ring_use_record(struct ring *r, u32 record, void (*sync)(void));
int ring_set_record(struct ring *r, u32 record, void (*sync)(void));
int ring_resize_rt_consumer(struct ring *r, struct ring_buf *new, void (*sync)(void));
int ring_resize_rt_producer(struct ring *r, struct ring_buf *new, void (*sync)(void));

#endif
