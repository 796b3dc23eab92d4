// SPDX-License-Identifier: GPL-2.0-only
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
	buf->limit = buf->size;
	buf->get_cap = buf->cap;
	r->ix = ix;
	r->buf = buf;
	r->prod_gen = buf->gen;
	r->prod_from = ix->head;
}

/* Copy bytes number @at to @at + @n; the caller has checked that n <= cap. */
static void ring_copy_in(struct ring_buf *b, u32 at, const void *src, u32 n)
{
	u32 off = at & b->mask, room = b->cap - off, first = n < room ? n : room;

	memcpy(b->data + off, src, first);
	memcpy(b->data, (const u8 *)src + first, n - first);
}

static void ring_copy_out(const struct ring_buf *b, u32 at, void *dst, u32 n)
{
	u32 off = at & b->mask, room = b->cap - off, first = n < room ? n : room;

	memcpy(dst, b->data + off, first);
	memcpy((u8 *)dst + first, b->data, n - first);
}

/* Remember from which byte on this producer has been using buffer @b. */
static void ring_prod_note(struct ring *r, struct ring_buf *b, u32 head)
{
	if (r->prod_gen == b->gen)
		return;
	WRITE_ONCE(r->prod_from, head);
	smp_store_release(&r->prod_gen, b->gen);		/* (D): publishes prod_from */
}

/*
 * The long way of a put: around the end of the buffer, the first one into a new
 * buffer, and the refusal. It opens the short way for those that follow.
 */
int ring_put_long(struct ring *r, const void *src, u32 n)
{
	struct ring_index *ix = r->ix;
	struct ring_buf *b = smp_load_acquire(&r->buf);		/* (C) */
	u32 head = ix->head;
	u32 used = head - smp_load_acquire(&ix->tail);		/* (B) */
	u32 size = READ_ONCE(b->size);

	if (!ring_whole(r, n))
		return -EINVAL;
	if (n > size || used > size - n) {
		WRITE_ONCE(r->refused, r->refused + 1);
		return -ENOSPC;
	}
	ring_prod_note(r, b, head);
	if (!READ_ONCE(r->record))
		WRITE_ONCE(b->limit, size);
	ring_copy_in(b, head, src, n);
	smp_store_release(&ix->head, head + n);			/* (A): publishes the bytes */
	return (int)n;
}

/*
 * Copy the oldest @n bytes and leave them in the ring, or nothing. Consumer only;
 * wait-free. Returns @n, or -EAGAIN if there are fewer.
 */
int ring_peek(struct ring *r, void *dst, u32 n)
{
	u32 tail = r->ix->tail;
	/* head before buf: see ring_get_short(). */
	u32 used = smp_load_acquire(&r->ix->head) - tail;	/* (A) */
	const struct ring_buf *b = smp_load_acquire(&r->buf);	/* (C) */

	if (used < n || n > b->cap)
		return -EAGAIN;
	ring_copy_out(b, tail, dst, n);
	return (int)n;
}

/* The long way of a get: around the end of the buffer, records, and the refusal. */
int ring_get_long(struct ring *r, void *dst, u32 n)
{
	int ret = ring_whole(r, n) ? ring_peek(r, dst, n) : -EINVAL;

	if (ret > 0)
		ring_consume(r, n);
	return ret;
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
	u32 record = READ_ONCE(r->record);

	/* ring_put() refuses what is too long or not whole, and counts that. */
	while (n <= size && ring_whole(r, n) && ix->head - tail > size - n && !READ_ONCE(r->keep)) {
		u32 want = ix->head + n - size, over = record ? (want - tail) % record : 0;

		/* Of the oldest, too, whole ones only. */
		if (over)
			want += record - over;
		if (ring_cmpxchg(&ix->tail, tail, want)) {		/* (F) */
			WRITE_ONCE(r->lost, r->lost + (want - tail));
			ring_note_high(r, ix->head - tail);
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
	u32 off = tail & b->mask, room = b->cap - off;

	*at = b->data + off;
	/* Overwritten since the caller read tail: its exchange will fail. */
	if (used > b->cap)
		used = b->cap;
	return used < room ? used : room;
}

/* Producer only: the same for space; it is handed over by ring_commit(). */
u32 ring_span_free(const struct ring *r, u32 skip, u8 **at)
{
	const struct ring_buf *b = smp_load_acquire(&r->buf);
	u32 used = r->ix->head - smp_load_acquire(&r->ix->tail) + skip;	/* (B) */
	u32 off = (r->ix->head + skip) & b->mask, room = b->cap - off;
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
	ring_note_high(r, used);
}

/* Copy the bytes number @from up to, but not including, @to. */
static void ring_move(const struct ring_buf *old, struct ring_buf *new, u32 from, u32 to)
{
	while (from != to) {
		u32 off = from & old->mask, n = old->cap - off;

		if (n > to - from)
			n = to - from;
		ring_copy_in(new, from, old->data + off, n);
		from += n;
	}
}

/*
 * Have the RT end live by @record from now on. A ring of records knows no short way: its
 * buffer's limits are 0.
 */
void ring_use_record(struct ring *r, u32 record, void (*sync)(void))
{
	struct ring_buf *b = r->buf;

	WRITE_ONCE(r->record, record);
	WRITE_ONCE(b->get_cap, record ? 0 : b->cap);
	WRITE_ONCE(b->limit, 0);	/* the next put opens it again, if it may */
	sync();
	/* A put that had not seen the record may have opened the short way. */
	if (record)
		WRITE_ONCE(b->limit, 0);
	sync();
}

/**
 * ring_set_record - from now on, let only whole records in and out
 * @r: a ring whose Linux end is the caller, or held off by it
 * @record: bytes of one; 0 for bytes that belong to no record
 * @sync: returns when no RT operation that began before is still going on
 *
 * Return: 0; -EINVAL if not even one would fit; or -EBUSY if the ring does not hold a
 * whole number of them, and then it is as before.
 */
int ring_set_record(struct ring *r, u32 record, void (*sync)(void))
{
	u32 before = r->record;

	if (record > r->buf->size)
		return -EINVAL;
	ring_use_record(r, record, sync);
	if (ring_whole(r, ring_used(r)))
		return 0;
	ring_use_record(r, before, sync);
	return -EBUSY;
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
	new->limit = r->record ? 0 : new->size;
	new->get_cap = r->record ? 0 : new->cap;
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
	if (new->size < size) {
		WRITE_ONCE(old->size, new->size);
		WRITE_ONCE(old->limit, 0);
		/* A put that had seen the old size may have opened the short way with it. */
		sync();
		WRITE_ONCE(old->limit, 0);
	}
	sync();
	/* From here on tail stands still, and the producer lives by the smaller size. */
	tail = smp_load_acquire(&r->ix->tail);
	if (smp_load_acquire(&r->ix->head) - tail > new->size) {
		WRITE_ONCE(old->size, size);
		WRITE_ONCE(r->keep, false);
		return -ENOSPC;
	}
	new->gen = old->gen + 1;
	new->get_cap = r->record ? 0 : new->cap;
	/* (D): the first put leaves a note */
	new->limit = 0;
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
