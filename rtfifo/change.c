// SPDX-License-Identifier: GPL-2.0-only
/*
 * What changes a FIFO in use, while the RT side goes on: its size, and its records.
 * In Linux process context. Locking order: see rtfifo.h.
 */
#include <linux/export.h>
#include <linux/poll.h>
#include <rt/context.h>
#include "rtfifo.h"

/* With both ends locked: give both rings buffers of the new size, or neither. */
static int rtf_switch(struct rtf *f, struct ring_buf **out, struct ring_buf **in)
{
	struct ring_buf *old_out = f->out.ring.buf, *old_in = f->in.ring.buf;
	int ret;

	if ((*in)->size < f->in.ring.record)
		return -EINVAL;
	if (f->claimant)
		return -EBUSY;
	/* What fits now fits later: nobody writes, and the RT side can only read. */
	if (ring_used(&f->in.ring) > (*in)->size)
		return -ENOSPC;
	ret = ring_resize_rt_producer(&f->out.ring, *out, rtf_sync);
	if (ret)
		return ret;
	ring_resize_rt_consumer(&f->in.ring, *in, rtf_sync);
	WRITE_ONCE(f->piece, rtf_piece((*in)->size, f->in.ring.record));
	*out = old_out;
	*in = old_in;
	return 0;
}

/* As rtf_resize(), for a FIFO that the caller has a reference to. */
int rtf_resize_this(struct rtf *f, u32 size)
{
	struct ring_buf *out, *in;
	int ret = -ENOMEM;

	if (size < 1 || size > RTF_MAX_SIZE_BYTES)
		return -EINVAL;
	out = rtf_buf_alloc(size);
	in = rtf_buf_alloc(size);
	if (out && in) {
		mutex_lock(&f->out.lock);
		mutex_lock(&f->in.lock);
		ret = READ_ONCE(f->dead) ? -ENODEV : rtf_switch(f, &out, &in);
		mutex_unlock(&f->in.lock);
		mutex_unlock(&f->out.lock);
		/*
		 * A writer may sleep for room that is there now, a reader for more than will ever
		 * be there again: each asks for what it wants anew.
		 */
		if (!ret) {
			rtf_wake_end(&f->in, EPOLLOUT | EPOLLWRNORM);
			rtf_wake_end(&f->out, EPOLLIN | EPOLLRDNORM);
		}
	}
	/* Now the old ones, or the new ones if that failed. */
	rtf_buf_free(out);
	rtf_buf_free(in);
	return ret;
}

int rtf_resize(unsigned int fifo, int new_size)
{
	struct rtf *f;
	int ret;

	if (rt_context() != RT_CONTEXT_LINUX)
		return -EPERM;
	if (fifo >= rtf_count)
		return -ENODEV;
	if (new_size < 1)
		return -EINVAL;
	f = rtf_find(fifo);
	if (!f)
		return -ENODEV;
	ret = rtf_in_filter(f) ? -EBUSY : rtf_resize_this(f, new_size);
	rtf_release(f);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_resize);

/* For a FIFO that RT code does not know. */
static void rtf_no_sync(void)
{
}

/* As rtf_set_record(), for a FIFO that is not in the table yet. */
int rtf_record_new(struct rtf *f, u32 record)
{
	int ret = ring_set_record(&f->in.ring, record, rtf_no_sync);

	ret = ret ?: ring_set_record(&f->out.ring, record, rtf_no_sync);
	if (!ret)
		f->piece = rtf_piece(ring_size(&f->in.ring), record);
	return ret;
}

/* As rtf_set_record(), for a FIFO that the caller has a reference to. */
int rtf_record_this(struct rtf *f, u32 record)
{
	u32 before = f->in.ring.record;
	int ret = -EBUSY;

	mutex_lock(&f->out.lock);
	mutex_lock(&f->in.lock);
	if (!f->claimant)
		ret = ring_set_record(&f->in.ring, record, rtf_sync);
	if (!ret) {
		ret = ring_set_record(&f->out.ring, record, rtf_sync);
		if (ret)
			ring_use_record(&f->in.ring, before, rtf_sync);
	}
	if (!ret)
		WRITE_ONCE(f->piece, rtf_piece(ring_size(&f->in.ring), record));
	mutex_unlock(&f->in.lock);
	mutex_unlock(&f->out.lock);
	return ret;
}

int rtf_set_record(unsigned int fifo, int record_bytes)
{
	struct rtf *f;
	int ret;

	if (rt_context() != RT_CONTEXT_LINUX)
		return -EPERM;
	if (record_bytes < 0)
		return -EINVAL;
	f = rtf_find(fifo);
	if (!f)
		return -ENODEV;
	ret = rtf_in_filter(f) ? -EBUSY : rtf_record_this(f, record_bytes);
	rtf_release(f);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_set_record);
