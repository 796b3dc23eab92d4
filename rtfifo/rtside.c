// SPDX-License-Identifier: GPL-2.0-only
/*
 * The RT end of the FIFOs: rtf_put(), rtf_get() and their kin. See rtfifo.h for why they
 * need no lock. The post is made with interrupts still off: a task that is
 * deleted cannot take data out of the ring and leave its writer asleep.
 */
#include <linux/export.h>
#include "pipeline/pipeline.h"
#include "rtfifo.h"

/*
 * Around every operation: interrupts off, then the look-up; and the other way round.
 * Between them the FIFO cannot go away.
 */
static __always_inline struct rtf *rtf_enter(unsigned int fifo, unsigned long *flags)
{
	*flags = pl_hard_save();
	return smp_load_acquire(&rtf_table[fifo]);	/* with rtf_create_for()'s release */
}

static __always_inline void rtf_leave(unsigned long flags)
{
	pl_hard_restore(flags);
}

/* After its index has moved: post a wake-up of those who are satisfied by that. */
static void rtf_kick(struct rtf_end *end, u32 (*have)(const struct ring *r))
{
	u32 want;

	if (!rtf_wanted(end->want))
		return;
	want = READ_ONCE(*end->want);
	if (want && have(&end->ring) >= want)
		rt_post(&end->post);
}

static __always_inline int rtf_check(unsigned int fifo, const void *buf, int count)
{
	if (unlikely(fifo >= rtf_count))
		return -ENODEV;
	if (unlikely(!buf || count < 0))
		return -EINVAL;
	return 0;
}

/* The ends of a put and a get when somebody sleeps. */
static noinline int rtf_put_kick(struct rtf *f, int count, unsigned long flags)
{
	rtf_kick(&f->out, ring_used);
	rtf_leave(flags);
	return count;
}

static noinline int rtf_get_kick(struct rtf *f, int count, unsigned long flags)
{
	rtf_kick(&f->in, ring_free);
	rtf_leave(flags);
	return count;
}

/* What rtf_put() cannot do in the short way; with interrupts off, which it undoes. */
static noinline int rtf_put_long(struct rtf *f, const void *buf, int count, unsigned long flags)
{
	int ret = -ENODEV;

	if (f)
		ret = count < 0 ? -EINVAL : ring_put_long(&f->out.ring, buf, count);
	if (ret > 0)
		rtf_kick(&f->out, ring_used);
	rtf_leave(flags);
	return ret;
}

/* The usual case is all in this function, and needs few registers: no call, no stack. */
int rtf_put(unsigned int fifo, const void *buf, int count)
{
	size_t bytes = (unsigned int)count;	/* a negative one is too many */
	struct ring_index *ix;
	unsigned long flags;
	struct rtf *f;

	if (unlikely(fifo >= rtf_count))
		return -ENODEV;
	if (unlikely(!buf))
		return -EINVAL;
	f = rtf_enter(fifo, &flags);
	if (unlikely(!f))
		return rtf_put_long(f, buf, bytes, flags);
	ix = ring_put_short(&f->out.ring, buf, bytes);
	if (unlikely(!ix))
		return rtf_put_long(f, buf, bytes, flags);
	if (unlikely(rtf_wanted(&ix->want_used)))
		return rtf_put_kick(f, bytes, flags);
	rtf_leave(flags);
	return bytes;
}
EXPORT_SYMBOL_GPL(rtf_put);

int rtf_put_overwrite(unsigned int fifo, const void *buf, int count)
{
	int ret = rtf_check(fifo, buf, count);
	unsigned long flags;
	struct rtf *f;

	if (unlikely(ret))
		return ret;
	ret = -ENODEV;
	f = rtf_enter(fifo, &flags);
	if (likely(f)) {
		ret = ring_put_overwrite(&f->out.ring, buf, count);
		if (likely(ret > 0))
			rtf_kick(&f->out, ring_used);
	}
	rtf_leave(flags);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_put_overwrite);

/* As for rtf_put(). */
static noinline int rtf_get_long(struct rtf *f, void *buf, int count, unsigned long flags)
{
	int ret = -ENODEV;

	if (f)
		ret = count < 0 ? -EINVAL : ring_get_long(&f->in.ring, buf, count);
	if (ret > 0)
		rtf_kick(&f->in, ring_free);
	rtf_leave(flags);
	return ret;
}

int rtf_get(unsigned int fifo, void *buf, int count)
{
	size_t bytes = (unsigned int)count;	/* a negative one is too many */
	struct ring_index *ix;
	unsigned long flags;
	struct rtf *f;

	if (unlikely(fifo >= rtf_count))
		return -ENODEV;
	if (unlikely(!buf))
		return -EINVAL;
	f = rtf_enter(fifo, &flags);
	if (unlikely(!f))
		return rtf_get_long(f, buf, bytes, flags);
	ix = ring_get_short(&f->in.ring, buf, bytes);
	if (unlikely(!ix))
		return rtf_get_long(f, buf, bytes, flags);
	if (unlikely(rtf_wanted(&ix->want_free)))
		return rtf_get_kick(f, bytes, flags);
	rtf_leave(flags);
	return bytes;
}
EXPORT_SYMBOL_GPL(rtf_get);

/*
 * RT code takes back what RT code has put: the oldest bytes of the out ring. A Linux reader
 * finds out as it does when they are overwritten. The ring stands still during a resize.
 */
static int rtf_take_back(struct ring *r, void *buf, u32 n)
{
	u32 record = READ_ONCE(r->record), tail, used;

	if (READ_ONCE(r->keep))
		return 0;
	do {
		tail = READ_ONCE(r->ix->tail);
		used = smp_load_acquire(&r->ix->head) - tail;
		if (n > used)
			n = record ? used - used % record : used;
		/* Linux has moved the tail since: less than this is there now. */
		if (ring_peek(r, buf, n) < 0)
			continue;
		if (!n || ring_try_consume(r, tail, n))
			break;
	} while (1);
	return (int)n;
}

int rtf_get_some(unsigned int fifo, void *buf, int count)
{
	int ret = rtf_check(fifo, buf, count);
	unsigned long flags;
	struct rtf *f;
	u32 used;

	if (unlikely(ret))
		return ret;
	ret = -ENODEV;
	f = rtf_enter(fifo, &flags);
	if (likely(f)) {
		ret = -EINVAL;
		if (ring_whole(&f->in.ring, count)) {
			used = ring_used(&f->in.ring);
			ret = ring_get(&f->in.ring, buf, min_t(u32, used, count));
			if (ret > 0)
				rtf_kick(&f->in, ring_free);
			if (READ_ONCE(f->loop) && ret < count)
				ret += rtf_take_back(&f->out.ring, (u8 *)buf + ret, count - ret);
		}
	}
	rtf_leave(flags);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_get_some);

int rtf_set_loop(unsigned int fifo, int on)
{
	unsigned long flags;
	int ret = -ENODEV;
	struct rtf *f;

	if (unlikely(fifo >= rtf_count))
		return -ENODEV;
	f = rtf_enter(fifo, &flags);
	if (f) {
		WRITE_ONCE(f->loop, !!on);
		ret = 0;
	}
	rtf_leave(flags);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_set_loop);

int rtf_peek(unsigned int fifo, void *buf, int count)
{
	int ret = rtf_check(fifo, buf, count);
	unsigned long flags;
	struct rtf *f;

	if (unlikely(ret))
		return ret;
	f = rtf_enter(fifo, &flags);
	ret = f ? ring_peek(&f->in.ring, buf, count) : -ENODEV;
	rtf_leave(flags);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_peek);

int rtf_flush(unsigned int fifo)
{
	unsigned long flags;
	int ret = -ENODEV;
	struct rtf *f;

	if (unlikely(fifo >= rtf_count))
		return -ENODEV;
	f = rtf_enter(fifo, &flags);
	if (f) {
		ret = ring_flush(&f->in.ring);
		if (ret > 0)
			rtf_kick(&f->in, ring_free);
		if (READ_ONCE(f->loop) && !READ_ONCE(f->out.ring.keep))
			ret += ring_flush(&f->out.ring);
	}
	rtf_leave(flags);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_flush);

int rtf_used(unsigned int fifo)
{
	unsigned long flags;
	int ret = -ENODEV;
	struct rtf *f;

	if (unlikely(fifo >= rtf_count))
		return -ENODEV;
	f = rtf_enter(fifo, &flags);
	if (f) {
		ret = (int)ring_used(&f->in.ring);
		if (READ_ONCE(f->loop))
			ret += (int)ring_used(&f->out.ring);
	}
	rtf_leave(flags);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_used);

int rtf_free(unsigned int fifo)
{
	unsigned long flags;
	struct rtf *f;
	int ret;

	if (unlikely(fifo >= rtf_count))
		return -ENODEV;
	f = rtf_enter(fifo, &flags);
	ret = f ? (int)ring_free(&f->out.ring) : -ENODEV;
	rtf_leave(flags);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_free);

int rtf_isempty(unsigned int fifo)
{
	int used = rtf_used(fifo);

	return used < 0 ? used : !used;
}
EXPORT_SYMBOL_GPL(rtf_isempty);

int rt_fifo_put(unsigned int fifo, char *buf, int count)
{
	int ret = rtf_put(fifo, buf, count);

	return ret < 0 ? -1 : ret;
}
EXPORT_SYMBOL_GPL(rt_fifo_put);

int rt_fifo_get(unsigned int fifo, char *buf, int count)
{
	int ret = rtf_get(fifo, buf, count);

	return ret < 0 ? -1 : ret;
}
EXPORT_SYMBOL_GPL(rt_fifo_get);
