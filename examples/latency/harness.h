/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a lateness measurement needs besides a source of releases: the way it is
 * started and stopped, and its files under /proc/<name>/. Included by one .c file
 * of a module.
 *
 *	running		1 or 0; writing 1 starts from zero (also when it runs: the reset),
 *			writing 0 stops after the next job
 *	summary		one line of name=value
 *	histogram	"from to count" in ns, one line a bin that is not empty; the last
 *			bin has "-" for to
 *
 * Stopping is done by the job itself, so that releases and expected are of the same
 * moment. A job that does not come any more makes the stop fail with ETIMEDOUT.
 *
 * Locking: latency_mutex serialises start and stop; the job takes no lock.
 */
#ifndef _LATENCY_HARNESS_H
#define _LATENCY_HARNESS_H

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "lateness.h"

/* Jobs that may still run after a stop was asked for, to catch up with late releases. */
#define LATENESS_PATIENCE 100

struct latency_source {
	const char *name;
	int (*start)(void);	/* lateness_init() and the first release; Linux process */
	void (*end)(void);	/* no job runs after this returned; Linux process */
};

static struct lateness latency_stats;
static const struct latency_source *latency_source;
static DEFINE_MUTEX(latency_mutex);
static bool latency_running;
static bool latency_stop;
static bool latency_stopped;
static int latency_patience;

/*
 * The job's only call: record the release, unless the measurement is over.
 * Return: false when it is. Context: the job's; wait-free.
 */
static __always_inline bool latency_job(s64 now_ns)
{
	if (READ_ONCE(latency_stopped))
		return false;
	lateness_record(&latency_stats, now_ns);
	if (likely(!READ_ONCE(latency_stop)))
		return true;
	if (latency_stats.expected != latency_stats.releases && latency_patience-- > 0)
		return true;
	smp_store_release(&latency_stopped, true); /* pairs with latency_stop_locked() */
	return false;
}

static int latency_stop_locked(void)
{
	u64 limit_ms = 1000 + div_u64(LATENESS_PATIENCE * latency_stats.period_ns, 1000000);
	int err = -ETIMEDOUT;

	if (!latency_running)
		return 0;
	WRITE_ONCE(latency_stop, true);
	for (u64 ms = 0; err && ms < limit_ms; ms++) {
		msleep(1);
		if (smp_load_acquire(&latency_stopped)) /* pairs with latency_job() */
			err = 0;
	}
	latency_source->end();
	latency_running = false;
	return err;
}

static int latency_start_locked(void)
{
	int err = latency_stop_locked();

	if (err)
		return err;
	latency_stop = false;
	latency_stopped = false;
	latency_patience = LATENESS_PATIENCE;
	err = latency_source->start();
	latency_running = !err;
	return err;
}

static int latency_running_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", READ_ONCE(latency_running));
	return 0;
}

static int latency_running_open(struct inode *inode, struct file *file)
{
	return single_open(file, latency_running_show, NULL);
}

static ssize_t latency_running_write(struct file *file, const char __user *buf, size_t count,
				     loff_t *pos)
{
	bool run;
	int err = kstrtobool_from_user(buf, count, &run);

	if (err)
		return err;
	mutex_lock(&latency_mutex);
	err = run ? latency_start_locked() : latency_stop_locked();
	mutex_unlock(&latency_mutex);
	return err ?: count;
}

static const struct proc_ops latency_running_ops = {
	.proc_open = latency_running_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
	.proc_write = latency_running_write,
};

/* A consistent copy of the statistics, to be freed by vfree(). */
static struct lateness *latency_snapshot(void)
{
	struct lateness *copy = vmalloc(sizeof(*copy));

	if (!copy)
		return ERR_PTR(-ENOMEM);
	if (lateness_copy(copy, &latency_stats))
		return copy;
	vfree(copy);
	return ERR_PTR(-EAGAIN);
}

static int latency_summary_show(struct seq_file *m, void *v)
{
	struct lateness *l = latency_snapshot();

	if (IS_ERR(l))
		return PTR_ERR(l);
	seq_printf(m, "period_ns=%lld start_ns=%lld releases=%llu expected=%llu skipped=%llu ",
		   l->period_ns, l->start_ns, l->releases, l->expected,
		   l->expected - l->releases);
	seq_printf(m, "overruns=%llu min_ns=%lld avg_ns=%lld max_ns=%lld worst=%llu sum_ns=%lld\n",
		   l->overruns, l->min_ns, l->releases ? div64_s64(l->sum_ns, l->releases) : 0,
		   l->max_ns, l->worst, l->sum_ns);
	vfree(l);
	return 0;
}

static int latency_histogram_show(struct seq_file *m, void *v)
{
	struct lateness *l = latency_snapshot();

	if (IS_ERR(l))
		return PTR_ERR(l);
	for (unsigned int bin = 0; bin < LATENESS_BINS; bin++) {
		if (!l->bins[bin])
			continue;
		seq_printf(m, "%lld ", lateness_bin_ns(bin));
		if (bin == LATENESS_BINS - 1)
			seq_printf(m, "- %llu\n", l->bins[bin]);
		else
			seq_printf(m, "%lld %llu\n", lateness_bin_ns(bin + 1), l->bins[bin]);
	}
	vfree(l);
	return 0;
}

/* Stop and take the files away. Context: module exit. */
static void latency_harness_exit(void)
{
	remove_proc_subtree(latency_source->name, NULL);
	mutex_lock(&latency_mutex);
	if (latency_stop_locked())
		pr_warn("%s: no job came to stop the measurement\n", latency_source->name);
	mutex_unlock(&latency_mutex);
}

/* Make the files and start measuring. Context: module init. */
static int latency_harness_init(const struct latency_source *source)
{
	struct proc_dir_entry *dir;
	int err;

	latency_source = source;
	dir = proc_mkdir(source->name, NULL);
	if (!dir)
		return -ENOMEM;
	if (!proc_create("running", 0644, dir, &latency_running_ops) ||
	    !proc_create_single("summary", 0444, dir, latency_summary_show) ||
	    !proc_create_single("histogram", 0444, dir, latency_histogram_show)) {
		remove_proc_subtree(source->name, NULL);
		return -ENOMEM;
	}
	mutex_lock(&latency_mutex);
	err = latency_start_locked();
	mutex_unlock(&latency_mutex);
	if (err)
		remove_proc_subtree(source->name, NULL);
	return err;
}

#endif
