// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of FIFOs: create, destroy, names. All in Linux process context.
 * Life cycle and locking order: see rtfifo.h.
 */
#include <linux/cpu.h>
#include <linux/ctype.h>
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
void rtf_sync(void)
{
	on_each_cpu(rtf_answer, NULL, 1);
}

/*
 * A task that has left the place since, and ended, is still in memory until RCU's grace period is
 * over. A wake-up too many is one that every sleeper in Linux bears.
 *
 * Context: Linux, in a read-side section of RCU.
 */
static __always_inline void rtf_wake_sleeper(struct rtf_end *end)
{
	struct task_struct *sleeper = READ_ONCE(end->sleeper);

	if (sleeper)
		wake_up_process(sleeper);
}

/* Wake up all who wait at @end. Context: Linux process. */
void rtf_wake_end(struct rtf_end *end, __poll_t events)
{
	rcu_read_lock();
	rtf_wake_sleeper(end);
	rcu_read_unlock();
	wake_up_interruptible_poll(&end->wait, events);
}

/*
 * The queue, and signals. Linux takes locks for them that PREEMPT_RT's hard-irq context cannot.
 *
 * Context: Linux's hard-irq context, or on PREEMPT_RT a thread.
 */
static void rtf_wake_others(struct rtf *f, struct rtf_end *end, __poll_t events, int band)
{
	wake_up_interruptible_poll(&end->wait, events);
	kill_fasync(&f->fasync, SIGIO, band);
}

static void rtf_wake_other_readers(struct rt_post *post)
{
	struct rtf *f = container_of(post, struct rtf, out.others);

	rtf_wake_others(f, &f->out, EPOLLIN | EPOLLRDNORM, POLL_IN);
	/* A process that wants signals gets one for every put and never re-arms. */
	if (READ_ONCE(f->fasync))
		rtf_want(&f->out, 1);
}

static void rtf_wake_other_writers(struct rt_post *post)
{
	struct rtf *f = container_of(post, struct rtf, in.others);

	rtf_wake_others(f, &f->in, EPOLLOUT | EPOLLWRNORM, POLL_OUT);
}

/*
 * The RT side has moved its index far enough. One who sleeps in read() is woken up at once; the
 * rest of it only if there is somebody.
 *
 * Context: Linux's hard-irq context, with interrupts off: that is a read-side section.
 */
static __always_inline void rtf_wake(struct rtf *f, struct rtf_end *end,
				     void (*others)(struct rt_post *post))
{
	xchg(end->want, 0);	/* before the wake-up: who stays asks again */
	rtf_wake_sleeper(end);
	/* The exchange is its barrier: who queued up after it sees the ring as it is now. */
	if (likely(!waitqueue_active(&end->wait) && !READ_ONCE(f->fasync)))
		return;
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		rt_post(&end->others);
	else
		others(&end->others);
}

static void rtf_wake_readers(struct rt_post *post)
{
	struct rtf *f = container_of(post, struct rtf, out.post);

	rtf_wake(f, &f->out, rtf_wake_other_readers);
}

static void rtf_wake_writers(struct rt_post *post)
{
	struct rtf *f = container_of(post, struct rtf, in.post);

	rtf_wake(f, &f->in, rtf_wake_other_writers);
}

struct ring_buf *rtf_buf_alloc(u32 size)
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

void rtf_buf_free(struct ring_buf *buf)
{
	if (!buf)
		return;
	vfree(buf->data);
	kfree(buf);
}

/* Writes of up to that many bytes are not split; of records, one at least. */
u32 rtf_piece(u32 size, u32 record)
{
	u32 piece = clamp_t(u32, size / 2, 1, RTF_ATOMIC_BYTES);

	if (!record)
		return piece;
	return max(rounddown(piece, record), record);
}

static void rtf_del(struct rtf *f)
{
	rtf_buf_free(f->out.ring.buf);
	rtf_buf_free(f->in.ring.buf);
	free_page((unsigned long)f->page);
	kfree(f);
}

static struct rtf *rtf_alloc(u32 size)
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
	f->piece = rtf_piece(size, 0);
	rt_post_init_hard(&f->out.post, rtf_wake_readers);
	rt_post_init_hard(&f->in.post, rtf_wake_writers);
	rt_post_init(&f->out.others, rtf_wake_other_readers);
	rt_post_init(&f->in.others, rtf_wake_other_writers);
	init_waitqueue_head(&f->out.wait);
	init_waitqueue_head(&f->in.wait);
	mutex_init(&f->out.lock);
	mutex_init(&f->in.lock);
	mutex_init(&f->handler_lock);
	kref_init(&f->ref);
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

/* Letters, digits, '_', '-' and, not first, '.'. */
static bool rtf_name_ok(const char *name)
{
	size_t i, len = strnlen(name, RTF_NAME_MAX + 1);

	for (i = 0; i < len; i++)
		if (!isascii(name[i]) || !(isalnum(name[i]) || name[i] == '_' || name[i] == '-' ||
					   (i && name[i] == '.')))
			return false;
	return len <= RTF_NAME_MAX;
}

/* With the table locked: the number of the FIFO of this name, or -ENODEV. */
static int rtf_named(const char *name)
{
	unsigned int i;

	for (i = 0; i < rtf_count; i++)
		if (rtf_table[i] && !strcmp(rtf_table[i]->name, name))
			return i;
	return -ENODEV;
}

/* With the table locked: find @f a number, if it wants any, and put it there. */
static int rtf_insert(struct rtf *f, int number)
{
	unsigned int at = number;
	int ret;

	if (number < 0)
		for (at = 0; at < rtf_count && rtf_table[at]; at++)
			;
	if (at == rtf_count)
		return -ENOSPC;
	if (rtf_table[at])
		return -EBUSY;
	if (f->name[0] && rtf_named(f->name) >= 0)
		return -EEXIST;
	f->number = at;
	/* Who opens the node before the table has the FIFO waits for our lock. */
	ret = f->name[0] ? rtf_name_node_add(f) : 0;
	if (!ret)
		smp_store_release(&rtf_table[at], f);	/* with the acquire in rtside.c */
	return ret;
}

/* Create the FIFO that @new describes; its number is noted there. */
int rtf_create_like(struct module *owner, bool by_user, struct rtf_new *new)
{
	struct rtf *f;
	int ret;

	if (rt_context() != RT_CONTEXT_LINUX)
		return -EPERM;
	if (new->fifo < -1 || new->fifo >= (int)rtf_count)
		return -ENODEV;
	if (new->size < 1 || new->size > RTF_MAX_SIZE_BYTES || !rtf_name_ok(new->name))
		return -EINVAL;

	f = rtf_alloc(new->size);
	if (!f)
		return -ENOMEM;
	f->owner = owner;
	f->by_user = by_user;
	strscpy(f->name, new->name, sizeof(f->name));
	ret = rtf_record_new(f, new->record);
	if (!ret) {
		mutex_lock(&rtf_table_lock);
		ret = rtf_insert(f, new->fifo);
		new->fifo = f->number;
		mutex_unlock(&rtf_table_lock);
	}
	if (ret)
		rtf_del(f);
	return ret;
}

int rtf_create_for(struct module *owner, unsigned int fifo, int size)
{
	struct rtf_new new = { .fifo = fifo, .size = size };

	/* No number of ours means "any" here, and no size is too large to be negative. */
	if (rt_context() == RT_CONTEXT_LINUX && fifo >= rtf_count)
		return -ENODEV;
	return rtf_create_like(owner, false, &new);
}
EXPORT_SYMBOL_GPL(rtf_create_for);

int (rtf_create)(unsigned int fifo, int size)
{
	return rtf_create_for(NULL, fifo, size);
}
EXPORT_SYMBOL_GPL(rtf_create);

int rtf_create_named(struct module *owner, const char *name, int size)
{
	struct rtf_new new = { .fifo = -1, .size = size };
	int ret;

	if (rt_context() != RT_CONTEXT_LINUX)
		return -EPERM;
	if (!name || !*name || strscpy(new.name, name, sizeof(new.name)) < 0)
		return -EINVAL;
	ret = rtf_create_like(owner, false, &new);
	return ret ?: new.fifo;
}
EXPORT_SYMBOL_GPL(rtf_create_named);

int rtf_find_named(const char *name)
{
	int ret;

	if (rt_context() != RT_CONTEXT_LINUX)
		return -EPERM;
	if (!name)
		return -EINVAL;
	if (!*name)
		return -ENODEV;
	mutex_lock(&rtf_table_lock);
	ret = rtf_named(name);
	mutex_unlock(&rtf_table_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(rtf_find_named);

/* End FIFO @fifo; with @users_only, if no module of the kernel owns it. */
static int rtf_end(unsigned int fifo, bool users_only)
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
	else if (rtf_in_hook(f) || (users_only && !f->by_user))
		ret = -EBUSY;
	if (!ret) {
		WRITE_ONCE(rtf_table[fifo], NULL);
		if (f->name[0])
			rtf_name_node_remove(f);
	}
	mutex_unlock(&rtf_table_lock);
	if (ret)
		return ret;

	/* The RT side is off it, and so are its posts. */
	rtf_sync();
	rt_post_sync(&f->out.post);
	rt_post_sync(&f->in.post);
	rt_post_sync(&f->out.others);
	rt_post_sync(&f->in.others);

	/* No handler from here on: not one that is being installed right now either. */
	rtf_hooks_off(f);

	rtf_wake_end(&f->out, EPOLLIN | EPOLLHUP);
	rtf_wake_end(&f->in, EPOLLOUT | EPOLLERR);
	kill_fasync(&f->fasync, SIGIO, POLL_HUP);
	rtf_release(f);
	return 0;
}

int rtf_destroy(unsigned int fifo)
{
	return rtf_end(fifo, false);
}
EXPORT_SYMBOL_GPL(rtf_destroy);

/* The same for one that RTF_IOC_CREATE made; -EBUSY for any other. */
int rtf_destroy_users(unsigned int fifo)
{
	return rtf_end(fifo, true);
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
			pr_info("%s left FIFO %u behind; destroyed\n", mod->name, i);
			rtf_destroy(i);
		} else {
			rtf_hooks_forget(f, mod);
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
