// SPDX-License-Identifier: GPL-2.0-only
/* RTAI's FIFOs, interrupts, service requests and names; loading and unloading. */
#include <linux/notifier.h>
#include <rt/post.h>
#include "native.h"

int rtai_rtf_create(struct module *owner, unsigned int fifo, int size)
{
	int error = rtf_create_for(owner, fifo, size);

	/* To create one again was to use it, too. */
	return error == -EBUSY ? 0 : error ?: rtf_set_loop(fifo, 1);
}
EXPORT_SYMBOL_GPL(rtai_rtf_create);

int rtai_rtf_put(unsigned int fifo, const void *buf, int count)
{
	int done = rtf_put(fifo, buf, count);

	if (done != -ENOSPC)
		return done;
	done = rtf_put(fifo, buf, min(rtf_free(fifo), count));
	return done == -ENOSPC ? 0 : done;
}
EXPORT_SYMBOL_GPL(rtai_rtf_put);

/* Interrupts. Tactus's handlers have no argument, so each line has a function of its own. */

#define LINES 16

static struct line {
	int (*handler)(unsigned int irq, void *data);
	void *data;
} lines[LINES];

#define LINE(n) static void line_##n(void) { lines[n].handler(n, lines[n].data); }
LINE(0) LINE(1) LINE(2) LINE(3) LINE(4) LINE(5) LINE(6) LINE(7)
LINE(8) LINE(9) LINE(10) LINE(11) LINE(12) LINE(13) LINE(14) LINE(15)

static void (* const line_fns[LINES])(void) = {
	line_0, line_1, line_2, line_3, line_4, line_5, line_6, line_7,
	line_8, line_9, line_10, line_11, line_12, line_13, line_14, line_15,
};

int rt_request_irq(unsigned int irq, int (*handler)(unsigned int irq, void *data), void *data,
		   int mode)
{
	int error;

	if (irq >= LINES || !handler)
		return -EINVAL;
	if (cmpxchg(&lines[irq].handler, NULL, handler))
		return -EBUSY;
	lines[irq].data = data;
	error = request_RTirq(irq, line_fns[irq]);
	if (error)
		lines[irq].handler = NULL;
	return error;
}
EXPORT_SYMBOL_GPL(rt_request_irq);

int rt_release_irq(unsigned int irq)
{
	if (irq >= LINES || !lines[irq].handler)
		return -EINVAL;
	free_RTirq(irq);
	lines[irq].handler = NULL;
	return 0;
}
EXPORT_SYMBOL_GPL(rt_release_irq);

void line_set_data(unsigned int irq, void *data)
{
	if (irq < LINES)
		WRITE_ONCE(lines[irq].data, data);
}

/* Service requests: Linux calls a function, with interrupts off, when it gets to it. */

#define SRQS 32

static struct srq {
	struct rt_post post;
	void (*handler)(void);
	int taken;
} srqs[SRQS];

static void srq_run(struct rt_post *post)
{
	container_of(post, struct srq, post)->handler();
}

int rt_request_srq(unsigned int label, void (*handler)(void), long long (*user)(unsigned long))
{
	unsigned int i;

	if (!handler)
		return -EINVAL;
	if (user)
		return -EOPNOTSUPP;
	for (i = 1; i < SRQS; i++) {
		if (xchg(&srqs[i].taken, 1))
			continue;
		rt_post_init(&srqs[i].post, srq_run);
		WRITE_ONCE(srqs[i].handler, handler);
		return i;
	}
	return -EBUSY;
}
EXPORT_SYMBOL_GPL(rt_request_srq);

int rt_free_srq(unsigned int srq)
{
	if (srq >= SRQS || !srqs[srq].handler)
		return -EINVAL;
	rt_post_sync(&srqs[srq].post);
	srqs[srq].handler = NULL;
	WRITE_ONCE(srqs[srq].taken, 0);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_free_srq);

void rt_pend_linux_srq(unsigned int srq)
{
	if (srq < SRQS && READ_ONCE(srqs[srq].handler))
		rt_post(&srqs[srq].post);
}
EXPORT_SYMBOL_GPL(rt_pend_linux_srq);

void irqs_free(const struct module *mod)
{
	unsigned int i;

	for (i = 0; i < LINES; i++)
		if (lines[i].handler &&
		    (!mod || within_module((unsigned long)lines[i].handler, mod)))
			rt_release_irq(i);
	for (i = 0; i < SRQS; i++)
		if (srqs[i].handler &&
		    (!mod || within_module((unsigned long)srqs[i].handler, mod)))
			rt_free_srq(i);
}

/* Names. */

#define NAMES 256
#define LETTERS 39	/* of <uapi/tactus/rtai.h> */

static struct named {
	unsigned long name;
	void *object;
} names[NAMES];

unsigned long nam2num(const char *name)
{
	return rtai_nam2num(name);
}
EXPORT_SYMBOL_GPL(nam2num);

void num2nam(unsigned long num, char *name)
{
	static const char letters[] = "\0ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";
	int i;

	name[6] = 0;
	for (i = 5; i >= 0; i--, num /= LETTERS)
		name[i] = letters[num % LETTERS];
}
EXPORT_SYMBOL_GPL(num2nam);

int rt_register(unsigned long name, void *object, int type, void *owner)
{
	int i;

	if (!name || !object || rt_get_adr(name))
		return 0;
	for (i = 0; i < NAMES; i++) {
		if (cmpxchg(&names[i].name, 0, name))
			continue;
		smp_store_release(&names[i].object, object);
		return i + 1;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rt_register);

void *rt_get_adr(unsigned long name)
{
	int i;

	for (i = 0; name && i < NAMES; i++)
		if (READ_ONCE(names[i].name) == name)
			return smp_load_acquire(&names[i].object);
	return NULL;
}
EXPORT_SYMBOL_GPL(rt_get_adr);

static int forget(int i)
{
	WRITE_ONCE(names[i].object, NULL);
	smp_store_release(&names[i].name, 0);
	return i + 1;
}

int rt_drg_on_name(unsigned long name)
{
	int i;

	for (i = 0; name && i < NAMES; i++)
		if (names[i].name == name)
			return forget(i);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_drg_on_name);

int rt_drg_on_adr(void *object)
{
	int i;

	for (i = 0; object && i < NAMES; i++)
		if (names[i].object == object)
			return forget(i);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_drg_on_adr);

void names_forget(const struct module *mod)
{
	int i;

	for (i = 0; i < NAMES; i++)
		if (names[i].object && within_module((unsigned long)names[i].object, mod))
			forget(i);
}

/* Tasks of a program that goes are Tactus's own, which ends them. */
static int on_module(struct notifier_block *block, unsigned long state, void *mod)
{
	if (state == MODULE_STATE_GOING) {
		timer_forget(mod);
		irqs_free(mod);
		linux_irqs_free(mod);
		named_forget(mod);
		names_forget(mod);
		tasklets_forget(mod);
	}
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = on_module };

static int __init rtai_compat_init(void)
{
	int error = heap_init();

	linux_irqs_init();
	if (error)
		return error;
	error = register_module_notifier(&notifier);
	if (error)
		heap_exit();
	return error;
}
module_init(rtai_compat_init);

static void __exit rtai_compat_exit(void)
{
	unregister_module_notifier(&notifier);
	timer_forget(NULL);
	irqs_free(NULL);
	linux_irqs_free(NULL);
	tasklets_forget(NULL);
	named_forget(NULL);
	garbage_wait();
	heap_exit();
}
module_exit(rtai_compat_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("RTAI's API (2 to 5) on Tactus");
