/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the measuring modules share: the file by which tools/measure talks to them. Included by one
 * .c file of a module.
 *
 * Writing a line starts a measurement; who starts it while one runs gets EBUSY. Reading waits for its
 * end and gives its figure as tools/measure/figure.h says; ENODATA before the first.
 *
 * Locking: measure_mutex serialises who starts and who reads; the measurement itself takes no lock,
 * and says by measure_finish() that it is over.
 */
#ifndef _MEASURE_FILE_H
#define _MEASURE_FILE_H

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../../../../tools/measure/figure.h"

struct measure_source {
	const char *name;		/* of the file, /proc/NAME */
	int (*start)(char *line);	/* Linux process; figures are cleared */
	void (*end)(void);		/* nothing runs after this returned; Linux process */
};

static const struct measure_source *measure_source;
static DEFINE_MUTEX(measure_mutex);
static struct figure measure_figure;
static const char *measure_name;	/* of the figure; NULL before the first */
static bool measure_started;
static bool measure_finished;

/* The measurement is over, and nobody writes to the figure any more. Context: any. */
static inline void measure_finish(void)
{
	smp_store_release(&measure_finished, true); /* pairs with measure_wait() */
}

static bool measure_is_over(void)
{
	return smp_load_acquire(&measure_finished); /* pairs with measure_finish() */
}

static int measure_wait(void)
{
	while (measure_started && !measure_is_over())
		if (msleep_interruptible(1))
			return -EINTR;
	if (measure_started)
		measure_source->end();
	measure_started = false;
	return 0;
}

static ssize_t measure_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	char *line = memdup_user_nul(buf, min_t(size_t, count, 128));
	int err;

	if (IS_ERR(line))
		return PTR_ERR(line);
	mutex_lock(&measure_mutex);
	if (measure_started && !measure_is_over()) {
		err = -EBUSY;
	} else {
		measure_wait();
		figure_clear(&measure_figure);
		measure_finished = false;
		err = measure_source->start(strim(line));
		measure_started = !err;
	}
	mutex_unlock(&measure_mutex);
	kfree(line);
	return err ?: count;
}

static int measure_show(struct seq_file *m, void *v)
{
	const struct figure *f = &measure_figure;
	int err;

	mutex_lock(&measure_mutex);
	err = measure_name ? measure_wait() : -ENODATA;
	if (!err) {
		seq_printf(m, "FIGURE %s count=%llu missed=%llu min=%lld max=%lld sum=%lld square=%llu\n",
			   measure_name, f->count, f->missed, f->min, f->max, f->sum, f->square);
		for (unsigned int bin = 0; bin < 2 * FIGURE_SIDE; bin++)
			if (f->bins[bin])
				seq_printf(m, "BIN %lld %lld %llu\n", figure_lower(bin),
					   figure_lower(bin + 1), f->bins[bin]);
	}
	mutex_unlock(&measure_mutex);
	return err;
}

static int measure_open(struct inode *inode, struct file *file)
{
	return single_open(file, measure_show, NULL);
}

static const struct proc_ops measure_ops = {
	.proc_open = measure_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
	.proc_write = measure_write,
};

/* Offer the file. Context: module init. */
static int measure_init(const struct measure_source *source)
{
	measure_source = source;
	return proc_create(source->name, 0600, NULL, &measure_ops) ? 0 : -ENOMEM;
}

/* Take it away, when a measurement that runs is over. Context: module exit. */
static void measure_exit(void)
{
	remove_proc_entry(measure_source->name, NULL);
	mutex_lock(&measure_mutex);
	measure_wait();
	mutex_unlock(&measure_mutex);
}

#endif
