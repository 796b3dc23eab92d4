// SPDX-License-Identifier: GPL-2.0-only
/*
 * An RT task that wakes Linux: does the post arrive, where may it not, and how soon?
 *
 * The task posts in each of its jobs. The post's function, in Linux's hard-irq context,
 * wakes a SCHED_FIFO thread. Whatever the task interrupted (user mode, the kernel, a
 * section with interrupts off), the function must run soon, but never inside of such a
 * section, and only in hard-irq context with interrupts off.
 *
 * /proc/wake_test: reading gives one line of counters; writing "section" makes one
 * section of 20 ms with interrupts off in the writing process; "reset" clears.
 */
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include <rt/context.h>
#include <rt/post.h>
#include <rt/task.h>

#define SECTION_MS 20

static unsigned int period_us = 1000;
module_param(period_us, uint, 0444);
MODULE_PARM_DESC(period_us, "period of the RT task that posts (default 1000)");

static RT_TASK wake_task;
static struct rt_post wake_post;
static struct task_struct *wake_thread;

/* Each has one writer: the task, the post's function, the thread, or the section. */
static u64 posts, merged, handled, woken;
static u64 sections, section_posts, late_replays;
static u64 wrong_context, inside_section;
static RTIME posted_at, max_handle_ns, max_wake_ns;
static bool in_section;

static void wake_job(int unused)
{
	do {
		if (!rt_post(&wake_post))
			merged++;
		else
			WRITE_ONCE(posted_at, rt_get_time());
		WRITE_ONCE(posts, posts + 1);
	} while (rt_task_wait() != -EPERM);
}

static void wake_posted(struct rt_post *post)
{
	RTIME late = rt_get_time() - READ_ONCE(posted_at);

	if (READ_ONCE(in_section))
		inside_section++;
	if (!in_hardirq() || !irqs_disabled() || rt_context() != RT_CONTEXT_LINUX)
		wrong_context++;
	max_handle_ns = max(max_handle_ns, late);
	WRITE_ONCE(handled, handled + 1);
	wake_up_process(wake_thread);
}

static int wake_thread_fn(void *unused)
{
	u64 seen = READ_ONCE(handled);

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		if (READ_ONCE(handled) == seen) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		max_wake_ns = max(max_wake_ns, rt_get_time() - READ_ONCE(posted_at));
		woken += READ_ONCE(handled) - seen;
		seen = READ_ONCE(handled);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* The posts made inside wait for its end, and are handled right there. */
static void wake_section(void)
{
	u64 end, posts_before, handled_before, handled_inside;
	unsigned long flags;

	local_irq_save(flags);
	WRITE_ONCE(in_section, true);
	posts_before = READ_ONCE(posts);
	handled_before = READ_ONCE(handled);
	end = ktime_get_mono_fast_ns() + SECTION_MS * NSEC_PER_MSEC;
	/* Not mdelay(): its "pause" makes an emulated CPU leave its fast path at each turn. */
	do
		asm volatile(".fill 400, 1, 0x90");
	while (ktime_get_mono_fast_ns() < end);
	handled_inside = READ_ONCE(handled) - handled_before;
	posts_before = READ_ONCE(posts) - posts_before;
	WRITE_ONCE(in_section, false);
	local_irq_restore(flags);
	/* The first instruction after: the replay is behind us. */
	if (READ_ONCE(handled) == handled_before)
		late_replays++;
	inside_section += handled_inside;
	section_posts += posts_before;
	sections++;
}

static ssize_t wake_write(struct file *file, const char __user *ubuf, size_t count, loff_t *pos)
{
	char word[16] = "";

	if (!count || count >= sizeof(word))
		return -EINVAL;
	if (copy_from_user(word, ubuf, count))
		return -EFAULT;
	if (sysfs_streq(word, "section"))
		wake_section();
	else if (sysfs_streq(word, "reset"))
		max_wake_ns = max_handle_ns = 0;
	else
		return -EINVAL;
	return count;
}

static int wake_show(struct seq_file *m, void *v)
{
	seq_printf(m, "posts=%llu merged=%llu handled=%llu woken=%llu max_handle_ns=%lld max_wake_ns=%lld ",
		   posts, merged, handled, woken, max_handle_ns, max_wake_ns);
	seq_printf(m, "sections=%llu section_posts=%llu late_replays=%llu inside_section=%llu wrong_context=%llu\n",
		   sections, section_posts, late_replays, inside_section, wrong_context);
	return 0;
}

static int wake_open(struct inode *inode, struct file *file)
{
	return single_open(file, wake_show, NULL);
}

static const struct proc_ops wake_ops = {
	.proc_open = wake_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
	.proc_write = wake_write,
};

static int __init wake_init(void)
{
	int err;

	rt_post_init(&wake_post, wake_posted);
	wake_thread = kthread_create(wake_thread_fn, NULL, "wake_test");
	if (IS_ERR(wake_thread))
		return PTR_ERR(wake_thread);
	sched_set_fifo(wake_thread);
	err = rt_task_init(&wake_task, wake_job, 0, 4096, 1);
	if (err)
		goto err_stop_thread;
	if (!proc_create("wake_test", 0600, NULL, &wake_ops)) {
		err = -ENOMEM;
		goto err_delete_task;
	}
	wake_up_process(wake_thread);
	err = rt_task_make_periodic(&wake_task, rt_get_time(), period_us * 1000LL);
	if (err)
		goto err_remove_file;
	return 0;

err_remove_file:
	remove_proc_entry("wake_test", NULL);
err_delete_task:
	rt_task_delete(&wake_task);
err_stop_thread:
	kthread_stop(wake_thread);
	return err;
}

static void __exit wake_exit(void)
{
	remove_proc_entry("wake_test", NULL);
	rt_task_delete(&wake_task);
	rt_post_sync(&wake_post);
	kthread_stop(wake_thread);
}

module_init(wake_init);
module_exit(wake_exit);
MODULE_DESCRIPTION("An RT task that wakes Linux, for the tests");
MODULE_LICENSE("GPL");
