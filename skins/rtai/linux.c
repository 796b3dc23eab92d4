// SPDX-License-Identifier: GPL-2.0-only
/* What RTAI's programs hand on to functions of their own in Linux, by a line's number. */
#include <rt/post.h>
#include "native.h"

#define LINES 16
#define SHARES 16

static struct share {
	unsigned int irq;
	void (*handler)(int irq, void *dev, struct pt_regs *regs);
	void *dev;
} shares[SHARES];

static DEFINE_SPINLOCK(shares_lock);

/* One post a line; the number is its place. */
static struct rt_post posts[LINES];

static void call(struct rt_post *post)
{
	unsigned int irq = post - posts, i;
	struct share share;

	for (i = 0; i < SHARES; i++) {
		spin_lock(&shares_lock);
		share = shares[i];
		spin_unlock(&shares_lock);
		if (share.handler && share.irq == irq)
			share.handler(irq, share.dev, NULL);
	}
}

int rt_request_linux_irq(unsigned int irq, void *handler, char *name, void *dev)
{
	int i, error = -EBUSY;

	if (irq >= LINES || !handler)
		return -EINVAL;
	spin_lock_irq(&shares_lock);
	for (i = 0; i < SHARES && error; i++) {
		if (shares[i].handler)
			continue;
		shares[i] = (struct share){ irq, handler, dev };
		error = 0;
	}
	spin_unlock_irq(&shares_lock);
	return error;
}
EXPORT_SYMBOL_GPL(rt_request_linux_irq);

static void drop(struct share *share)
{
	unsigned int irq = share->irq;

	spin_lock_irq(&shares_lock);
	share->handler = NULL;
	spin_unlock_irq(&shares_lock);
	rt_post_sync(&posts[irq]);
}

int rt_free_linux_irq(unsigned int irq, void *dev)
{
	int i;

	for (i = 0; i < SHARES; i++)
		if (shares[i].handler && shares[i].irq == irq && shares[i].dev == dev) {
			drop(&shares[i]);
			return 0;
		}
	return -EINVAL;
}
EXPORT_SYMBOL_GPL(rt_free_linux_irq);

void rt_pend_linux_irq(unsigned int irq)
{
	if (irq < LINES)
		rt_post(&posts[irq]);
}
EXPORT_SYMBOL_GPL(rt_pend_linux_irq);

void linux_irqs_free(const struct module *mod)
{
	int i;

	for (i = 0; i < SHARES; i++)
		if (shares[i].handler &&
		    (!mod || within_module((unsigned long)shares[i].handler, mod)))
			drop(&shares[i]);
	/* What a program has posted that is gone. */
	for (i = 0; i < LINES; i++)
		rt_post_sync(&posts[i]);
}

void linux_irqs_init(void)
{
	int i;

	for (i = 0; i < LINES; i++)
		rt_post_init(&posts[i], call);
}
