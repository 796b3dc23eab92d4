// SPDX-License-Identifier: GPL-2.0
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

static __always_inline int rtf_check(unsigned int fifo, const void *buf, int count)
{
	if (unlikely(fifo >= rtf_count))
		return -ENODEV;
	if (unlikely(!buf || count < 0))
		return -EINVAL;
	return 0;
}

int rtf_put(unsigned int fifo, const void *buf, int count)
{
	int ret = rtf_check(fifo, buf, count);
	unsigned long flags;
	struct rtf *f;

	if (unlikely(ret))
		return ret;
	ret = -ENODEV;
	f = rtf_enter(fifo, &flags);
	if (likely(f)) {
		ret = ring_put(&f->out.ring, buf, count);
		if (likely(ret > 0))
			rtf_kick(&f->out, ring_used);
	}
	rtf_leave(flags);
	return ret;
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

int rtf_get(unsigned int fifo, void *buf, int count)
{
	int ret = rtf_check(fifo, buf, count);
	unsigned long flags;
	struct rtf *f;

	if (unlikely(ret))
		return ret;
	ret = -ENODEV;
	f = rtf_enter(fifo, &flags);
	if (likely(f)) {
		ret = ring_get(&f->in.ring, buf, count);
		if (likely(ret > 0))
			rtf_kick(&f->in, ring_free);
	}
	rtf_leave(flags);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_get);

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
	}
	rtf_leave(flags);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_flush);

int rtf_used(unsigned int fifo)
{
	unsigned long flags;
	struct rtf *f;
	int ret;

	if (unlikely(fifo >= rtf_count))
		return -ENODEV;
	f = rtf_enter(fifo, &flags);
	ret = f ? (int)ring_used(&f->in.ring) : -ENODEV;
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
