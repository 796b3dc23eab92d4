// SPDX-License-Identifier: GPL-2.0-only
/*
 * rt_printk(): one ring of texts for each CPU, printed by Linux when the post arrives.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/vmalloc.h>

#include <rt/post.h>
#include <rt/printk.h>
#include "exec/printk.h"
#include "pipeline/pipeline.h"
#include "sched/textring.h"

/* The post runs on the CPU that posted, so a ring has one producer and one consumer. */
struct printer {
	struct rt_post post;
	struct textring *ring;
	u32 reported;		/* of ring->lost */
};

static DEFINE_PER_CPU(struct printer, printers);

/* In Linux's hard-irq context. */
static void print(struct rt_post *post)
{
	struct printer *printer = container_of(post, struct printer, post);
	char text[RT_PRINTK_MAX_BYTES];
	u32 lost;

	while (textring_get(printer->ring, text, sizeof(text)))
		printk("%s", text);	/* the text has its own level */
	lost = READ_ONCE(printer->ring->lost);
	if (lost != printer->reported)
		pr_warn("%u messages of RT code were lost\n", lost - printer->reported);
	printer->reported = lost;
}

int rt_printk(const char *fmt, ...)
{
	struct printer *printer;
	char text[RT_PRINTK_MAX_BYTES];
	unsigned long flags;
	va_list args;
	int length, error;

	va_start(args, fmt);
	length = vscnprintf(text, sizeof(text), fmt, args);
	va_end(args);

	flags = pl_hard_save();
	printer = this_cpu_ptr(&printers);
	error = printer->ring ? textring_put(printer->ring, text, length) : -ENOSPC;
	if (printer->ring)
		rt_post(&printer->post);
	pl_hard_restore(flags);
	return error ?: length;
}
EXPORT_SYMBOL_GPL(rt_printk);

int rt_printk_init(void)
{
	int i;

	/* Those that come on line later included. */
	for_each_possible_cpu(i) {
		struct printer *printer = per_cpu_ptr(&printers, i);

		rt_post_init(&printer->post, print);
		printer->ring = vzalloc(sizeof(*printer->ring));
		if (!printer->ring) {
			rt_printk_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

/* What is still in the rings is printed: RT code is over by now. */
void rt_printk_exit(void)
{
	int i;

	for_each_possible_cpu(i) {
		struct printer *printer = per_cpu_ptr(&printers, i);

		if (!printer->ring)
			continue;
		rt_post_sync(&printer->post);
		print(&printer->post);
		vfree(printer->ring);
		printer->ring = NULL;
	}
}
