// SPDX-License-Identifier: GPL-2.0
/*
 * The ring's slower half: access by spans for the Linux end, and resizing while
 * the RT end goes on. Invariants and barriers: see ring.h.
 */
#include "ring.h"

void ring_init(struct ring *r, struct ring_index *ix, struct ring_buf *buf)
{
	memset(r, 0, sizeof(*r));
	memset(ix, 0, sizeof(*ix));
	ix->head = RING_INDEX_START;
	ix->tail = RING_INDEX_START;
	buf->gen = 1;
	r->ix = ix;
	r->buf = buf;
	r->prod_gen = buf->gen;
	r->prod_from = ix->head;
}

/*
 * Append @n bytes, and drop as many of the oldest as it takes.
 *
 * Producer only. The bytes that go are taken from the consumer by moving its tail,
 * before they are written over; a consumer in the middle of reading them finds out
 * when it wants to move tail itself. That exchange can fail only because the
 * consumer has just freed some of the @n bytes, so there are at most @n tries; two are rare.
 *
 * While Linux resizes the ring nothing is overwritten: then this is ring_put().
 *
 * Return: @n, or -ENOSPC if the ring is smaller than that (or full, during a resize).
 */
int ring_put_overwrite(struct ring *r, const void *src, u32 n)
{
	struct ring_index *ix = r->ix;
	u32 size = READ_ONCE(smp_load_acquire(&r->buf)->size);		/* (C) */
	u32 tail = smp_load_acquire(&ix->tail);				/* (B) */

	/* ring_put() refuses what is too long, and counts that. */
	while (n <= size && ix->head - tail > size - n && !READ_ONCE(r->keep)) {
		u32 want = ix->head + n - size;

		if (ring_cmpxchg(&ix->tail, tail, want)) {		/* (F) */
			WRITE_ONCE(r->lost, r->lost + (want - tail));
			break;
		}
		tail = smp_load_acquire(&ix->tail);
	}
	return ring_put(r, src, n);
}

/*
 * Forget what is in the ring; consumer only. Returns how many bytes those were.
 * What a producer appends or overwrites meanwhile is not among them.
 */
u32 ring_flush(struct ring *r)
{
	u32 tail, n;

	do {
		tail = READ_ONCE(r->ix->tail);
		n = smp_load_acquire(&r->ix->head) - tail;		/* (A) */
	} while (!ring_try_consume(r, tail, n));
	return n;
}

/*
 * Consumer only: how many bytes lie in one piece, and where, from byte number @tail
 * on; that is the ring's tail, or further on. They stay the consumer's until it
 * moves the ring's tail, unless the producer overwrites.
 */
u32 ring_span_used(const struct ring *r, u32 tail, u8 **at)
{
	u32 used = smp_load_acquire(&r->ix->head) - tail;		/* (A) */
	const struct ring_buf *b = smp_load_acquire(&r->buf);
	u32 off = tail & b->mask, room = b->mask + 1 - off;

	*at = b->data + off;
	/* Overwritten since the caller looked at tail: he will find out. */
	if (used > b->mask + 1)
		used = b->mask + 1;
	return used < room ? used : room;
}

/* Producer only: the same for space; it is handed over by ring_commit(). */
u32 ring_span_free(const struct ring *r, u32 skip, u8 **at)
{
	const struct ring_buf *b = smp_load_acquire(&r->buf);
	u32 used = r->ix->head - smp_load_acquire(&r->ix->tail) + skip;	/* (B) */
	u32 off = (r->ix->head + skip) & b->mask, room = b->mask + 1 - off;
	u32 size = READ_ONCE(b->size);

	*at = b->data + off;
	if (used >= size)
		return 0;
	return size - used < room ? size - used : room;
}

/* Producer only: the next @n bytes have been written in place. */
void ring_commit(struct ring *r, u32 n)
{
	u32 head = r->ix->head;
	u32 used = head + n - READ_ONCE(r->ix->tail);	/* for the statistics only */

	ring_prod_note(r, r->buf, head);
	smp_store_release(&r->ix->head, head + n);		/* (A): publishes the bytes */
	if (used > r->high)
		WRITE_ONCE(r->high, used);
}

/* Copy the bytes number @from up to, but not including, @to. */
static void ring_move(const struct ring_buf *old, struct ring_buf *new, u32 from, u32 to)
{
	while (from != to) {
		u32 off = from & old->mask, n = old->mask + 1 - off;

		if (n > to - from)
			n = to - from;
		ring_copy_in(new, from, old->data + off, n);
		from += n;
	}
}

/**
 * ring_resize_rt_consumer - change the buffer while RT code reads
 * @r: a ring whose producer is the caller, or held off by it
 * @new: the buffer to use from now on; data, mask and size are set
 * @sync: returns when no RT operation that began before is still going on
 *
 * Every byte keeps its number, so the consumer does not notice: what is unread
 * is copied, then the buffer is switched. What it reads meanwhile is copied for
 * nothing.
 *
 * Return: 0, after which the old buffer is nobody's; or -ENOSPC if the data do
 * not fit, and nothing has changed.
 */
int ring_resize_rt_consumer(struct ring *r, struct ring_buf *new, void (*sync)(void))
{
	struct ring_buf *old = r->buf;
	u32 head = r->ix->head, tail = smp_load_acquire(&r->ix->tail);

	if (head - tail > new->size)
		return -ENOSPC;
	new->gen = old->gen + 1;
	ring_move(old, new, tail, head);
	smp_store_release(&r->buf, new);			/* (C): publishes the copies */
	sync();
	return 0;
}

/**
 * ring_resize_rt_producer - change the buffer while RT code writes
 * @r: a ring whose consumer is the caller, or held off by it
 * @new: the buffer to use from now on; data, mask and size are set
 * @sync: returns when no RT operation that began before is still going on
 *
 * First the room is made sure of: when shrinking, the old buffer's limit is
 * lowered and the producer lives by it, before it is known whether the data fit.
 * Then bytes up to the present head are copied and the buffer is switched. The
 * producer notes at which byte it began to use the new buffer; those that went to
 * the old one in between are copied last. No put is refused that the smaller of
 * the two sizes has room for.
 *
 * Meanwhile the producer may not overwrite: a byte that is copied late would
 * otherwise land on one that has taken its place.
 *
 * Return: 0, after which the old buffer is nobody's; or -ENOSPC if the data do
 * not fit, and nothing has changed.
 */
int ring_resize_rt_producer(struct ring *r, struct ring_buf *new, void (*sync)(void))
{
	struct ring_buf *old = r->buf;
	u32 size = old->size;
	u32 tail, copied, end;

	WRITE_ONCE(r->keep, true);
	if (new->size < size)
		WRITE_ONCE(old->size, new->size);
	sync();
	/* From here on tail stands still, and the producer lives by the smaller size. */
	tail = smp_load_acquire(&r->ix->tail);
	if (smp_load_acquire(&r->ix->head) - tail > new->size) {
		WRITE_ONCE(old->size, size);
		WRITE_ONCE(r->keep, false);
		return -ENOSPC;
	}
	new->gen = old->gen + 1;
	copied = smp_load_acquire(&r->ix->head);		/* (A) */
	ring_move(old, new, tail, copied);
	smp_store_release(&r->buf, new);			/* (C) */
	sync();

	/*
	 * Nobody uses the old buffer any more, so head says where its bytes end,
	 * unless the producer has gone on: then its note does. head must be read
	 * first: a put between the two reads then leaves a note.
	 */
	end = smp_load_acquire(&r->ix->head);			/* (A) */
	if (smp_load_acquire(&r->prod_gen) == new->gen)		/* (D) */
		end = READ_ONCE(r->prod_from);
	ring_move(old, new, copied, end);
	WRITE_ONCE(r->keep, false);
	return 0;
}
