// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is called when Linux uses a FIFO: the thesis's handler, in the process; the RT
 * handler, out-of-band; the filter, before a write; and the watch, at open and close. Locking
 * order: see rtfifo.h.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <rt/context.h>
#include "pipeline/pipeline.h"
#include "rtfifo.h"

/* Are we inside @f's filter, with its in.lock held? */
bool rtf_in_filter(struct rtf *f)
{
	return READ_ONCE(f->filter_task) == current;
}

/* Are we inside @f's handler, watch or filter? Waiting for it would be for ever. */
bool rtf_in_hook(struct rtf *f)
{
	return READ_ONCE(f->handler_task) == current || rtf_in_filter(f);
}

/*
 * The FIFO, alive and referenced, to change what it calls: with in.lock taken for the filter, which
 * a handler may change, and with handler_lock for the others. None of those runs meanwhile, but for
 * the RT handler. Else an error.
 */
static struct rtf *rtf_hold(unsigned int fifo, bool filter)
{
	struct mutex *lock;	/* the filter's or the handler's */
	struct rtf *f;
	int ret = -EBUSY;

	if (rt_context() != RT_CONTEXT_LINUX)
		return ERR_PTR(-EPERM);
	f = rtf_find(fifo);
	if (!f)
		return ERR_PTR(-ENODEV);
	if (!(filter ? rtf_in_filter(f) : rtf_in_hook(f))) {
		lock = filter ? &f->in.lock : &f->handler_lock;
		mutex_lock(lock);
		if (!READ_ONCE(f->dead))
			return f;
		mutex_unlock(lock);
		ret = -ENODEV;
	}
	rtf_release(f);
	return ERR_PTR(ret);
}

int rtf_create_handler(unsigned int fifo, int (*handler)(unsigned int fifo))
{
	struct rtf *f = rtf_hold(fifo, false);

	if (IS_ERR(f))
		return PTR_ERR(f);
	WRITE_ONCE(f->handler, handler);
	mutex_unlock(&f->handler_lock);
	rtf_release(f);
	return 0;
}
EXPORT_SYMBOL_GPL(rtf_create_handler);

int rtf_watch_writers(unsigned int fifo, rtf_watch_fn *watch)
{
	struct rtf *f = rtf_hold(fifo, false);

	if (IS_ERR(f))
		return PTR_ERR(f);
	WRITE_ONCE(f->watch, watch);
	mutex_unlock(&f->handler_lock);
	rtf_release(f);
	return 0;
}
EXPORT_SYMBOL_GPL(rtf_watch_writers);

int rtf_create_rt_handler(unsigned int fifo, rtf_rt_handler_fn *handler)
{
	struct rtf *f = rtf_hold(fifo, false);

	if (IS_ERR(f))
		return PTR_ERR(f);
	WRITE_ONCE(f->rt_handler, handler);
	mutex_unlock(&f->handler_lock);
	rtf_sync();
	rtf_release(f);
	return 0;
}
EXPORT_SYMBOL_GPL(rtf_create_rt_handler);

int rtf_set_filter(unsigned int fifo, rtf_filter_fn *filter)
{
	struct rtf *f = rtf_hold(fifo, true);

	if (IS_ERR(f))
		return PTR_ERR(f);
	WRITE_ONCE(f->filter, filter);
	mutex_unlock(&f->in.lock);
	rtf_release(f);
	return 0;
}
EXPORT_SYMBOL_GPL(rtf_set_filter);

/* The FIFO is gone from the table: from here on nothing of its owner's is called. */
void rtf_hooks_off(struct rtf *f)
{
	mutex_lock(&f->handler_lock);
	WRITE_ONCE(f->handler, NULL);
	WRITE_ONCE(f->watch, NULL);
	WRITE_ONCE(f->rt_handler, NULL);
	WRITE_ONCE(f->dead, true);
	mutex_unlock(&f->handler_lock);
	rtf_sync();

	mutex_lock(&f->in.lock);
	WRITE_ONCE(f->filter, NULL);
	mutex_unlock(&f->in.lock);
}

/* @mod is going, and forgot to take its functions back from a FIFO that stays. */
void rtf_hooks_forget(struct rtf *f, struct module *mod)
{
	bool handler = within_module((unsigned long)READ_ONCE(f->handler), mod);
	bool rt_handler = within_module((unsigned long)READ_ONCE(f->rt_handler), mod);
	bool filter = within_module((unsigned long)READ_ONCE(f->filter), mod);
	bool watch = within_module((unsigned long)READ_ONCE(f->watch), mod);

	if (!handler && !rt_handler && !filter && !watch)
		return;
	pr_info("%s left its handler of FIFO %u behind; forgotten\n", mod->name,
		f->number);
	if (handler)
		rtf_create_handler(f->number, NULL);
	if (rt_handler)
		rtf_create_rt_handler(f->number, NULL);
	if (filter)
		rtf_set_filter(f->number, NULL);
	if (watch)
		rtf_watch_writers(f->number, NULL);
}

/*
 * With in.lock held: what the filter says to the next @n bytes, which lie in the ring and
 * are not committed. 0 if there is none.
 */
int rtf_run_filter(struct rtf *f, u32 n, u32 done, u32 total)
{
	struct rtf_written written = { .done = done, .total = total };
	int ret;
	u8 *at;

	if (!f->filter)
		return 0;
	written.counts[0] = min(ring_span_free(&f->in.ring, 0, &at), n);
	written.bytes[0] = at;
	if (written.counts[0] < n) {
		ring_span_free(&f->in.ring, written.counts[0], &at);
		written.bytes[1] = at;
		written.counts[1] = n - written.counts[0];
	}
	WRITE_ONCE(f->filter_task, current);
	ret = f->filter(f->number, &written);
	WRITE_ONCE(f->filter_task, NULL);
	return min(ret, 0);
}

/* @handler: which was called, for its caller to read */
struct rtf_event {
	struct rtf *f;
	unsigned int event;
	rtf_rt_handler_fn *handler;
};

/* In an RT interrupt's context, interrupts off: so that rtf_sync() knows when it is over. */
static void rtf_run_rt_handler(void *arg)
{
	struct rtf_event *e = arg;
	rtf_rt_handler_fn *handler = READ_ONCE(e->f->rt_handler);

	WRITE_ONCE(e->handler, handler);
	if (handler)
		handler(e->f->number, e->event);
}

/*
 * Linux has read (@event is RTF_SPACE) or written (RTF_DATA) at least one byte; perhaps not
 * all that it wants to, and what it waits for is that the RT side takes these. Without locks.
 */
void rtf_tell_rt(struct rtf *f, unsigned int event)
{
	struct rtf_event e = { f, event };

	if (!READ_ONCE(f->rt_handler) || likely(!pl_run_guarded(rtf_run_rt_handler, &e)))
		return;
	/* A fault ended it. One that has been set in its place meanwhile stays. */
	cmpxchg(&f->rt_handler, READ_ONCE(e.handler), NULL);
	pr_err("FIFO %u: its RT handler %ps failed and is forgotten\n", f->number,
	       READ_ONCE(e.handler));
}

/*
 * After a transfer, without locks: what the FIFO's handler says, or 0 if there is none. RTAI's
 * handlers take @how, 'r' or 'w', beside the number; to others that is a register more.
 */
int rtf_run_handler(struct rtf *f, int how)
{
	int (*handler)(unsigned int fifo, int how);
	int ret = 0;

	if (!READ_ONCE(f->handler))
		return 0;
	mutex_lock(&f->handler_lock);
	if (f->handler) {
		WRITE_ONCE(f->handler_task, current);
		handler = (void *)f->handler;
		ret = handler(f->number, how);
		WRITE_ONCE(f->handler_task, NULL);
	}
	mutex_unlock(&f->handler_lock);
	return ret;
}

/* With handler_lock held, and a watch there. */
static int rtf_run_watch(struct rtf *f, unsigned int event)
{
	int ret;

	WRITE_ONCE(f->handler_task, current);
	ret = f->watch(f->number, event);
	WRITE_ONCE(f->handler_task, NULL);
	return ret;
}

/* A process opens: what the watch says, or 0 if there is none. */
int rtf_tell_opened(struct rtf_file *open)
{
	struct rtf *f = open->f;
	int ret = 0;

	if (!READ_ONCE(f->watch))
		return 0;
	mutex_lock(&f->handler_lock);
	if (f->watch) {
		ret = min(rtf_run_watch(f, RTF_OPENED), 0);
		open->told = ret ? NULL : f->watch;
	}
	mutex_unlock(&f->handler_lock);
	return ret;
}

/* The opening ends: tell the watch that let it begin, if that is still there. */
void rtf_tell_closed(struct rtf_file *open)
{
	struct rtf *f = open->f;

	if (!open->told)
		return;
	mutex_lock(&f->handler_lock);
	if (f->watch == open->told)
		rtf_run_watch(f, RTF_CLOSED);
	mutex_unlock(&f->handler_lock);
}
