// SPDX-License-Identifier: GPL-2.0
/*
 * The RT end of the FIFOs: rtf_put() and rtf_get(). See rtfifo.h for why they
 * need no lock. The post is made with interrupts still off: a task that is
 * deleted cannot take data out of the ring and leave its writer asleep.
 */
#include <linux/export.h>
#include "pipeline/pipeline.h"
#include "rtfifo.h"

int rtf_put(unsigned int fifo, const void *buf, int count)
{
	unsigned long flags;
	struct rtf *f;
	int ret;

	if (unlikely(fifo >= rtf_count))
		return -ENODEV;
	if (unlikely(!buf || count < 0))
		return -EINVAL;

	flags = pl_hard_save();
	f = smp_load_acquire(&rtf_table[fifo]);		/* with rtf_create_for()'s release */
	if (likely(f)) {
		ret = ring_put(&f->out.ring, buf, count);
		if (likely(ret > 0))
			rtf_kick(&f->out, ring_used);
	} else {
		ret = -ENODEV;
	}
	pl_hard_restore(flags);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_put);

int rtf_get(unsigned int fifo, void *buf, int count)
{
	unsigned long flags;
	struct rtf *f;
	int ret;

	if (unlikely(fifo >= rtf_count))
		return -ENODEV;
	if (unlikely(!buf || count < 0))
		return -EINVAL;

	flags = pl_hard_save();
	f = smp_load_acquire(&rtf_table[fifo]);		/* with rtf_create_for()'s release */
	if (likely(f)) {
		ret = ring_get(&f->in.ring, buf, count);
		if (likely(ret > 0))
			rtf_kick(&f->in, ring_free);
	} else {
		ret = -ENODEV;
	}
	pl_hard_restore(flags);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_get);

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
