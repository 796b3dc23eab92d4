// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hostile driver: sections in which Linux's interrupts are off for long.
 *
 * Writing the name of a context to /proc/hog makes one section in it:
 *	process		the writing process, inside the system call
 *	timer		a kernel timer's function (softirq)
 *	hrtimer		a hard hrtimer's function (hard irq)
 *	tasklet		a tasklet (softirq)
 *	spinlock	the writing process, under spin_lock_irqsave()
 * The write returns when the section is over, so that sections do not pile up.
 * Reading tells how many sections each context had, for how long in all, and whether one of them
 * was not what it says: interrupts on inside of it, or another context than the one named.
 *
 * Interrupts are switched off the way drivers do it, by local_irq_save() or with a lock, and the
 * time is passed by busy waiting: nothing in here knows of Tactus.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/uaccess.h>

#include "compat/hrtimer.h"

static unsigned int section_ms = 20;
module_param(section_ms, uint, 0644);
MODULE_PARM_DESC(section_ms, "length of a section with interrupts off, 1 to 1000 ms");

enum hog_context {
	HOG_PROCESS, HOG_TIMER, HOG_HRTIMER, HOG_TASKLET, HOG_SPINLOCK, HOG_CONTEXTS
};

static const char *const hog_names[HOG_CONTEXTS] = {
	"process", "timer", "hrtimer", "tasklet", "spinlock",
};

/* One section at a time: hog_mutex covers all below. */
static DEFINE_MUTEX(hog_mutex);
static DECLARE_COMPLETION(hog_done);
static u64 hog_sections[HOG_CONTEXTS];
static u64 hog_total_ns;
static u64 hog_longest_ns;
static bool hog_leaked;		/* interrupts were on inside of a section */
static bool hog_strayed;	/* a section ran in another context than it says */
/* Raw: what keeps interrupts off on every kernel, PREEMPT_RT too. */
static DEFINE_RAW_SPINLOCK(hog_lock);

/* By Linux's own account of where it is. */
static bool hog_is_in(enum hog_context context)
{
	switch (context) {
	case HOG_HRTIMER:
		return in_hardirq();
	case HOG_TIMER:
	case HOG_TASKLET:
		return in_serving_softirq() && !in_hardirq();
	case HOG_SPINLOCK:
		return in_task() && raw_spin_is_locked(&hog_lock);
	default:
		return in_task() && !raw_spin_is_locked(&hog_lock);
	}
}

static void hog_section(enum hog_context context)
{
	unsigned long flags;
	u64 begin_ns, length_ns;

	if (context == HOG_SPINLOCK)
		raw_spin_lock_irqsave(&hog_lock, flags);
	else
		local_irq_save(flags);
	begin_ns = ktime_get_mono_fast_ns();
	/* Not mdelay(): its "pause" makes an emulated CPU leave its fast path at each turn. */
	do
		asm volatile(".fill 400, 1, 0x90");
	while ((length_ns = ktime_get_mono_fast_ns() - begin_ns) < section_ms * 1000000ULL);
	if (!irqs_disabled())
		hog_leaked = true;
	if (!hog_is_in(context))
		hog_strayed = true;
	if (context == HOG_SPINLOCK)
		raw_spin_unlock_irqrestore(&hog_lock, flags);
	else
		local_irq_restore(flags);

	hog_sections[context]++;
	hog_total_ns += length_ns;
	hog_longest_ns = max(hog_longest_ns, length_ns);
}

static void hog_timer_fn(struct timer_list *unused)
{
	hog_section(HOG_TIMER);
	complete(&hog_done);
}

static enum hrtimer_restart hog_hrtimer_fn(struct hrtimer *unused)
{
	hog_section(HOG_HRTIMER);
	complete(&hog_done);
	return HRTIMER_NORESTART;
}

static void hog_tasklet_fn(struct tasklet_struct *unused)
{
	hog_section(HOG_TASKLET);
	complete(&hog_done);
}

static DEFINE_TIMER(hog_timer, hog_timer_fn);
static struct hrtimer hog_hrtimer;
static DECLARE_TASKLET(hog_tasklet, hog_tasklet_fn);

static ssize_t hog_write(struct file *file, const char __user *ubuf, size_t count, loff_t *pos)
{
	char name[16];
	int context;

	if (!count || count >= sizeof(name))
		return -EINVAL;
	if (copy_from_user(name, ubuf, count))
		return -EFAULT;
	name[count] = '\0';
	context = __sysfs_match_string(hog_names, HOG_CONTEXTS, name);
	if (context < 0)
		return context;
	if (section_ms < 1 || section_ms > 1000)
		return -EINVAL;

	mutex_lock(&hog_mutex);
	switch (context) {
	case HOG_PROCESS:
	case HOG_SPINLOCK:
		hog_section(context);
		complete(&hog_done);
		break;
	case HOG_TIMER:
		mod_timer(&hog_timer, jiffies + 1);
		break;
	case HOG_HRTIMER:
		hrtimer_start(&hog_hrtimer, ns_to_ktime(100 * NSEC_PER_USEC), HRTIMER_MODE_REL_HARD);
		break;
	case HOG_TASKLET:
		tasklet_schedule(&hog_tasklet);
		break;
	}
	wait_for_completion(&hog_done);
	mutex_unlock(&hog_mutex);
	return count;
}

static int hog_show(struct seq_file *m, void *v)
{
	u64 sections = 0;

	mutex_lock(&hog_mutex);
	for (int context = 0; context < HOG_CONTEXTS; context++) {
		seq_printf(m, "%s=%llu ", hog_names[context], hog_sections[context]);
		sections += hog_sections[context];
	}
	seq_printf(m, "sections=%llu total_ns=%llu longest_ns=%llu leaked=%d strayed=%d\n",
		   sections, hog_total_ns, hog_longest_ns, hog_leaked, hog_strayed);
	mutex_unlock(&hog_mutex);
	return 0;
}

static int hog_open(struct inode *inode, struct file *file)
{
	return single_open(file, hog_show, NULL);
}

static const struct proc_ops hog_ops = {
	.proc_open = hog_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
	.proc_write = hog_write,
};

static int __init hog_init(void)
{
	compat_hrtimer_setup(&hog_hrtimer, hog_hrtimer_fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	return proc_create("hog", 0600, NULL, &hog_ops) ? 0 : -ENOMEM;
}

static void __exit hog_exit(void)
{
	/* No write is under way after this, but its timer may still be on its way out. */
	remove_proc_entry("hog", NULL);
	timer_delete_sync(&hog_timer);
	hrtimer_cancel(&hog_hrtimer);
	tasklet_kill(&hog_tasklet);
}

module_init(hog_init);
module_exit(hog_exit);
MODULE_DESCRIPTION("Keeps Linux's interrupts off for long, in every kind of context");
MODULE_LICENSE("GPL");
