// SPDX-License-Identifier: GPL-2.0
/*
 * The table of FIFOs and what changes it: create, destroy, resize, handlers.
 * All in Linux process context. Life cycle and locking order: see rtfifo.h.
 */
#include <linux/cpu.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>
#include <rt/context.h>
#include "rtfifo.h"

unsigned int rtf_count;
struct rtf *rtf_table[RTF_MAX_FIFOS];

/* Writers of the table, and readers that want a reference. The RT side does without. */
static DEFINE_MUTEX(rtf_table_lock);

static void rtf_answer(void *unused)
{
}

/* Return when every RT operation that began before the call is over: see rtfifo.h. */
static void rtf_sync(void)
{
	on_each_cpu(rtf_answer, NULL, 1);
}

/* In Linux's interrupt context: the RT side has moved its index far enough. */
static void rtf_wake(struct rtf *f, struct rtf_end *end, __poll_t events, int band)
{
	xchg(end->want, 0);	/* before the wake-up: who stays asks again */
	wake_up_interruptible_poll(&end->wait, events);
	kill_fasync(&f->fasync, SIGIO, band);
}

static void rtf_wake_readers(struct rt_post *post)
{
	struct rtf *f = container_of(post, struct rtf, out.post);

	rtf_wake(f, &f->out, EPOLLIN | EPOLLRDNORM, POLL_IN);
	/* Whoever wants signals wants one for every put; he never asks again. */
	if (READ_ONCE(f->fasync))
		rtf_want(&f->out, 1);
}

static void rtf_wake_writers(struct rt_post *post)
{
	struct rtf *f = container_of(post, struct rtf, in.post);

	rtf_wake(f, &f->in, EPOLLOUT | EPOLLWRNORM, POLL_OUT);
}

static struct ring_buf *rtf_buf_alloc(u32 size)
{
	u32 bytes = max_t(u32, roundup_pow_of_two(size), PAGE_SIZE);
	struct ring_buf *buf = kzalloc(sizeof(*buf), GFP_KERNEL);

	if (!buf)
		return NULL;
	buf->data = vmalloc_user(bytes);
	if (!buf->data) {
		kfree(buf);
		return NULL;
	}
	buf->cap = bytes;
	buf->mask = bytes - 1;
	buf->size = size;
	return buf;
}

static void rtf_buf_free(struct ring_buf *buf)
{
	if (!buf)
		return;
	vfree(buf->data);
	kfree(buf);
}

static u32 rtf_piece(u32 size)
{
	return clamp_t(u32, size / 2, 1, RTF_ATOMIC_BYTES);
}

static void rtf_del(struct rtf *f)
{
	rtf_buf_free(f->out.ring.buf);
	rtf_buf_free(f->in.ring.buf);
	free_page((unsigned long)f->page);
	kfree(f);
}

static struct rtf *rtf_alloc(struct module *owner, unsigned int number, u32 size)
{
	struct ring_buf *out = rtf_buf_alloc(size), *in = rtf_buf_alloc(size);
	struct rtf *f = kzalloc(sizeof(*f), GFP_KERNEL);

	BUILD_BUG_ON(sizeof(struct rtf_page) > PAGE_SIZE);
	if (f)
		f->page = (struct rtf_page *)get_zeroed_page(GFP_KERNEL);
	if (!out || !in || !f || !f->page) {
		rtf_buf_free(out);
		rtf_buf_free(in);
		kfree(f);
		return NULL;
	}
	ring_init(&f->out.ring, &f->page->out, out);
	ring_init(&f->in.ring, &f->page->in, in);
	f->out.want = &f->page->out.want_used;
	f->in.want = &f->page->in.want_free;
	f->piece = rtf_piece(size);
	rt_post_init(&f->out.post, rtf_wake_readers);
	rt_post_init(&f->in.post, rtf_wake_writers);
	init_waitqueue_head(&f->out.wait);
	init_waitqueue_head(&f->in.wait);
	mutex_init(&f->out.lock);
	mutex_init(&f->in.lock);
	mutex_init(&f->handler_lock);
	kref_init(&f->ref);
	f->number = number;
	f->owner = owner;
	return f;
}

static void rtf_last_ref(struct kref *ref)
{
	rtf_del(container_of(ref, struct rtf, ref));
}

/* Give back a reference got from rtf_find(). */
void rtf_release(struct rtf *f)
{
	kref_put(&f->ref, rtf_last_ref);
}

/* The FIFO of this number with a reference for the caller, or NULL. */
struct rtf *rtf_find(unsigned int fifo)
{
	struct rtf *f;

	if (fifo >= rtf_count)
		return NULL;
	mutex_lock(&rtf_table_lock);
	f = rtf_table[fifo];
	if (f)
		kref_get(&f->ref);
	mutex_unlock(&rtf_table_lock);
	return f;
}

int rtf_create_for(struct module *owner, unsigned int fifo, int size)
{
	struct rtf *f;
	int ret = 0;

	if (rt_context() != RT_CONTEXT_LINUX)
		return -EPERM;
	if (fifo >= rtf_count)
		return -ENODEV;
	if (size < 1 || size > RTF_MAX_SIZE_BYTES)
		return -EINVAL;

	f = rtf_alloc(owner, fifo, size);
	if (!f)
		return -ENOMEM;
	mutex_lock(&rtf_table_lock);
	if (rtf_table[fifo])
		ret = -EBUSY;
	else
		smp_store_release(&rtf_table[fifo], f);	/* with the acquire in rtside.c */
	mutex_unlock(&rtf_table_lock);
	if (ret)
		rtf_del(f);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_create_for);

int (rtf_create)(unsigned int fifo, int size)
{
	return rtf_create_for(NULL, fifo, size);
}
EXPORT_SYMBOL_GPL(rtf_create);

/* Are we inside @f's handler? Waiting for it would be for ever. */
static bool rtf_in_handler(struct rtf *f)
{
	return READ_ONCE(f->handler_task) == current;
}

int rtf_destroy(unsigned int fifo)
{
	struct rtf *f;
	int ret = 0;

	if (rt_context() != RT_CONTEXT_LINUX)
		return -EPERM;
	if (fifo >= rtf_count)
		return -ENODEV;

	mutex_lock(&rtf_table_lock);
	f = rtf_table[fifo];
	if (!f)
		ret = -ENODEV;
	else if (rtf_in_handler(f))
		ret = -EBUSY;
	else
		WRITE_ONCE(rtf_table[fifo], NULL);
	mutex_unlock(&rtf_table_lock);
	if (ret)
		return ret;

	/* The RT side is off it, and so are its posts. */
	rtf_sync();
	rt_post_sync(&f->out.post);
	rt_post_sync(&f->in.post);

	/* No handler from here on: not one that is being installed right now either. */
	mutex_lock(&f->handler_lock);
	WRITE_ONCE(f->handler, NULL);
	WRITE_ONCE(f->dead, true);
	mutex_unlock(&f->handler_lock);

	wake_up_interruptible_poll(&f->out.wait, EPOLLIN | EPOLLHUP);
	wake_up_interruptible_poll(&f->in.wait, EPOLLOUT | EPOLLERR);
	kill_fasync(&f->fasync, SIGIO, POLL_HUP);
	rtf_release(f);
	return 0;
}
EXPORT_SYMBOL_GPL(rtf_destroy);

/* With both ends locked: give both rings buffers of the new size, or neither. */
static int rtf_switch(struct rtf *f, struct ring_buf **out, struct ring_buf **in)
{
	struct ring_buf *old_out = f->out.ring.buf, *old_in = f->in.ring.buf;
	int ret;

	/* What fits now fits later: nobody writes, and the RT side can only read. */
	if (ring_used(&f->in.ring) > (*in)->size)
		return -ENOSPC;
	ret = ring_resize_rt_producer(&f->out.ring, *out, rtf_sync);
	if (ret)
		return ret;
	ring_resize_rt_consumer(&f->in.ring, *in, rtf_sync);
	WRITE_ONCE(f->piece, rtf_piece((*in)->size));
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
		/* A writer may sleep for room that is there now. */
		if (!ret)
			wake_up_interruptible_poll(&f->in.wait, EPOLLOUT | EPOLLWRNORM);
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
	ret = rtf_resize_this(f, new_size);
	rtf_release(f);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_resize);

int rtf_create_handler(unsigned int fifo, int (*handler)(unsigned int fifo))
{
	struct rtf *f;
	int ret = 0;

	if (rt_context() != RT_CONTEXT_LINUX)
		return -EPERM;
	f = rtf_find(fifo);
	if (!f)
		return -ENODEV;
	if (rtf_in_handler(f)) {
		ret = -EBUSY;
	} else {
		mutex_lock(&f->handler_lock);
		if (f->dead)
			ret = -ENODEV;
		else
			WRITE_ONCE(f->handler, handler);
		mutex_unlock(&f->handler_lock);
	}
	rtf_release(f);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_create_handler);

/* After a transfer, without locks: what the FIFO's handler says, or 0 if there is none. */
int rtf_run_handler(struct rtf *f)
{
	int ret = 0;

	if (!READ_ONCE(f->handler))
		return 0;
	mutex_lock(&f->handler_lock);
	if (f->handler) {
		WRITE_ONCE(f->handler_task, current);
		ret = f->handler(f->number);
		WRITE_ONCE(f->handler_task, NULL);
	}
	mutex_unlock(&f->handler_lock);
	return ret;
}

/*
 * A module is going: after its exit function, before its memory. Its FIFOs and
 * handlers must not outlive it.
 */
static int rtf_module_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	struct module *mod = data;
	unsigned int i;

	if (action != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	for (i = 0; i < rtf_count; i++) {
		struct rtf *f = rtf_find(i);

		if (!f)
			continue;
		if (f->owner == mod) {
			pr_info("rtfifo: %s left FIFO %u behind; destroyed\n", mod->name, i);
			rtf_destroy(i);
		} else if (within_module((unsigned long)READ_ONCE(f->handler), mod)) {
			pr_info("rtfifo: %s left its handler of FIFO %u behind; forgotten\n",
				mod->name, i);
			rtf_create_handler(i, NULL);
		}
		rtf_release(f);
	}
	return NOTIFY_DONE;
}

static struct notifier_block rtf_module_nb = {
	.notifier_call = rtf_module_notify,
};

int rtf_table_init(unsigned int count)
{
	int ret;

	ret = register_module_notifier(&rtf_module_nb);
	if (ret)
		return ret;
	rtf_count = count;
	return 0;
}

/* No module that could call us is left, and no file is open. */
void rtf_table_exit(void)
{
	unsigned int i;

	unregister_module_notifier(&rtf_module_nb);
	for (i = 0; i < rtf_count; i++)
		rtf_destroy(i);
}
