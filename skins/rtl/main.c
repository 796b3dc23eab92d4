// SPDX-License-Identifier: GPL-2.0-only
/* FIFOs, files and interrupts of RTLinux's API; loading and unloading. */
#include <linux/notifier.h>
#include <linux/timekeeping.h>
#include <rt/post.h>
#include "pipeline/pipeline.h"
#include "threads.h"

#undef rtf_create
#undef rtf_destroy
#undef rtf_put
#undef rtf_get

#define FIFOS 1024
#define RTL_FIFO_BYTES 2048	/* of one that open() makes, as there */

/* FIFOs. */

static int (*rt_handlers[FIFOS])(unsigned int fifo);
static unsigned short get_for[FIFOS];	/* one more than the FIFO whose processes fill this one */

int rtl_rtf_create(struct module *owner, unsigned int fifo, int size)
{
	int error = rtf_create_for(owner, fifo, size);

	if (error)
		return error;
	WRITE_ONCE(rt_handlers[fifo], NULL);
	WRITE_ONCE(get_for[fifo], 0);
	return rtf_set_loop(fifo, 1);
}
EXPORT_SYMBOL_GPL(rtl_rtf_create);

int rtl_rtf_destroy(unsigned int fifo)
{
	if (fifo < FIFOS) {
		WRITE_ONCE(rt_handlers[fifo], NULL);
		WRITE_ONCE(get_for[fifo], 0);
	}
	return rtf_destroy(fifo);
}
EXPORT_SYMBOL_GPL(rtl_rtf_destroy);

static int tell(unsigned int fifo, int result)
{
	int (*handler)(unsigned int fifo) = fifo < FIFOS ? READ_ONCE(rt_handlers[fifo]) : NULL;

	if (handler && result > 0)
		handler(fifo);
	return result;
}

int rtl_rtf_put(unsigned int fifo, const void *buf, int count)
{
	return tell(fifo, rtf_put(fifo, buf, count));
}
EXPORT_SYMBOL_GPL(rtl_rtf_put);

int rtl_rtf_get(unsigned int fifo, void *buf, int count)
{
	unsigned int from = fifo < FIFOS ? READ_ONCE(get_for[fifo]) : 0;

	return tell(fifo, rtf_get_some(from ? from - 1 : fifo, buf, count));
}
EXPORT_SYMBOL_GPL(rtl_rtf_get);

/* The handler is called by who puts or gets, RT code as a rule. */
int rtl_rtf_create_rt_handler(unsigned int fifo, int (*handler)(unsigned int fifo))
{
	if (fifo >= FIFOS || rtf_free(fifo) < 0)
		return -ENODEV;
	WRITE_ONCE(rt_handlers[fifo], handler);
	return 0;
}
EXPORT_SYMBOL_GPL(rtl_rtf_create_rt_handler);

/* Processes use @get for both directions: what they write to it, RT code gets from @put. */
int rtl_rtf_make_user_pair(unsigned int get, unsigned int put)
{
	if (get >= FIFOS || put >= FIFOS || rtf_free(get) < 0 || rtf_free(put) < 0)
		return -ENODEV;
	/* Else RT code would get back what it put for the processes. */
	rtf_set_loop(get, 0);
	WRITE_ONCE(get_for[put], get + 1);
	return 0;
}
EXPORT_SYMBOL_GPL(rtl_rtf_make_user_pair);

void fifos_forget(const struct module *mod)
{
	unsigned int fifo;

	for (fifo = 0; fifo < FIFOS; fifo++)
		if (!mod || within_module((unsigned long)rt_handlers[fifo], mod))
			WRITE_ONCE(rt_handlers[fifo], NULL);
}

/* Files: a descriptor is one more than the FIFO's number. */

int rtl_open(struct module *owner, const char *name, int flags)
{
	unsigned int fifo = 0;

	if (!name || strncmp(name, "/dev/rtf", 8) || !name[8])
		return -ENODEV;
	for (name += 8; *name >= '0' && *name <= '9' && fifo < FIFOS; name++)
		fifo = fifo * 10 + *name - '0';
	if (*name)
		return -ENODEV;
	if (flags & O_CREAT && rtf_free(fifo) < 0)
		rtl_rtf_create(owner, fifo, RTL_FIFO_BYTES);
	return rtf_free(fifo) < 0 ? -ENODEV : fifo + 1;
}
EXPORT_SYMBOL_GPL(rtl_open);

int rtl_close(int fd)
{
	return fd > 0 && fd <= FIFOS ? 0 : -EBADF;
}
EXPORT_SYMBOL_GPL(rtl_close);

int rtl_ioctl(int fd, int request, unsigned long value)
{
	if (fd < 1 || fd > FIFOS)
		return -EBADF;
	if (request != RTF_SETSIZE || value > INT_MAX)
		return -EINVAL;
	return rtf_resize(fd - 1, value);
}
EXPORT_SYMBOL_GPL(rtl_ioctl);

ssize_t rtl_read(int fd, void *buf, size_t count)
{
	if (fd < 1 || fd > FIFOS || count > INT_MAX)
		return -EBADF;
	return rtl_rtf_get(fd - 1, buf, count);
}
EXPORT_SYMBOL_GPL(rtl_read);

ssize_t rtl_write(int fd, const void *buf, size_t count)
{
	if (fd < 1 || fd > FIFOS || count > INT_MAX)
		return -EBADF;
	return rtl_rtf_put(fd - 1, buf, count);
}
EXPORT_SYMBOL_GPL(rtl_write);

/* Interrupts. Tactus's handlers have no argument, so each line has a function of its own. */

unsigned long rtl_hard_save(void)
{
	return pl_hard_save();
}
EXPORT_SYMBOL_GPL(rtl_hard_save);

void rtl_hard_restore(unsigned long flags)
{
	pl_hard_restore(flags);
}
EXPORT_SYMBOL_GPL(rtl_hard_restore);

void rtl_hard_off(void)
{
	pl_hard_save();
}
EXPORT_SYMBOL_GPL(rtl_hard_off);

void rtl_hard_on(void)
{
	pl_hard_restore(X86_EFLAGS_IF);
}
EXPORT_SYMBOL_GPL(rtl_hard_on);

typedef unsigned int rtl_irq_fn(unsigned int irq, struct pt_regs *regs);

static rtl_irq_fn *lines[LINES];
static struct pt_regs no_regs;

#define LINE(n) static void line_##n(void) \
{ \
	rtl_irq_fn *fn = READ_ONCE(lines[n]); \
	if (fn) \
		fn(n, &no_regs); \
}
LINE(0) LINE(1) LINE(2) LINE(3) LINE(4) LINE(5) LINE(6) LINE(7)
LINE(8) LINE(9) LINE(10) LINE(11) LINE(12) LINE(13) LINE(14) LINE(15)

static void (* const line_fns[LINES])(void) = {
	line_0, line_1, line_2, line_3, line_4, line_5, line_6, line_7,
	line_8, line_9, line_10, line_11, line_12, line_13, line_14, line_15,
};

/* Programs may hold interrupts off around a request or its end, for which Linux may sleep. */

int rtl_request_irq(unsigned int irq, rtl_irq_fn *handler)
{
	unsigned long flags;
	int error;

	if (irq >= LINES || !handler)
		return -EINVAL;
	if (cmpxchg(&lines[irq], NULL, handler))
		return -EBUSY;
	flags = rtl_hard_save();
	rtl_hard_on();
	error = request_RTirq(irq, line_fns[irq]);
	rtl_hard_restore(flags);
	if (error)
		WRITE_ONCE(lines[irq], NULL);
	return error;
}
EXPORT_SYMBOL_GPL(rtl_request_irq);

int rtl_free_irq(unsigned int irq)
{
	unsigned long flags;

	if (irq >= LINES || !lines[irq])
		return -EINVAL;
	flags = rtl_hard_save();
	rtl_hard_on();
	free_RTirq(irq);
	rtl_hard_restore(flags);
	WRITE_ONCE(lines[irq], NULL);
	return 0;
}
EXPORT_SYMBOL_GPL(rtl_free_irq);

/* Soft interrupts: Linux calls a function, with interrupts off, when it gets to it. */

#define SOFT_FIRST 256
#define SOFTS 32

static struct soft {
	struct rt_post post;
	void (*handler)(int irq, void *data, struct pt_regs *regs);
	bool taken;
} softs[SOFTS];

static void soft_run(struct rt_post *post)
{
	struct soft *soft = container_of(post, struct soft, post);

	soft->handler(SOFT_FIRST + (int)(soft - softs), NULL, &no_regs);
}

int rtl_get_soft_irq(void (*handler)(int irq, void *data, struct pt_regs *regs), const char *name)
{
	unsigned int i;

	if (!handler)
		return -EINVAL;
	for (i = 0; i < SOFTS; i++) {
		if (xchg(&softs[i].taken, true))
			continue;
		rt_post_init(&softs[i].post, soft_run);
		WRITE_ONCE(softs[i].handler, handler);
		return SOFT_FIRST + i;
	}
	return -ENOSPC;
}
EXPORT_SYMBOL_GPL(rtl_get_soft_irq);

void rtl_free_soft_irq(unsigned int irq)
{
	unsigned int i = irq - SOFT_FIRST;

	if (i >= SOFTS || !softs[i].handler)
		return;
	rt_post_sync(&softs[i].post);
	softs[i].handler = NULL;
	WRITE_ONCE(softs[i].taken, false);
}
EXPORT_SYMBOL_GPL(rtl_free_soft_irq);

void rtl_global_pend_irq(int irq)
{
	unsigned int i = irq - SOFT_FIRST;

	if (i < SOFTS && READ_ONCE(softs[i].handler))
		rt_post(&softs[i].post);
}
EXPORT_SYMBOL_GPL(rtl_global_pend_irq);

void irqs_forget(const struct module *mod)
{
	unsigned int i;

	for (i = 0; i < LINES; i++)
		if (lines[i] && (!mod || within_module((unsigned long)lines[i], mod)))
			rtl_free_irq(i);
	for (i = 0; i < SOFTS; i++)
		if (softs[i].handler &&
		    (!mod || within_module((unsigned long)softs[i].handler, mod)))
			rtl_free_soft_irq(SOFT_FIRST + i);
}

/* A program that goes takes all that is its own with it: who posts first, then what is posted. */
static int on_module(struct notifier_block *block, unsigned long state, void *mod)
{
	if (state == MODULE_STATE_GOING) {
		threads_forget(mod);
		queues_forget(mod);
		signals_forget(mod);
		irqs_forget(mod);
		fifos_forget(mod);
	}
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = on_module };

static int __init rtl_compat_init(void)
{
	rtl_clock_real.offset = ktime_get_real_ns() - rt_get_time();
	return register_module_notifier(&notifier);
}
module_init(rtl_compat_init);

static void __exit rtl_compat_exit(void)
{
	unregister_module_notifier(&notifier);
	threads_forget(NULL);
	queues_forget(NULL);
	signals_forget(NULL);
	irqs_forget(NULL);
}
module_exit(rtl_compat_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("RTLinux's API (1 and 3) on Tactus");
