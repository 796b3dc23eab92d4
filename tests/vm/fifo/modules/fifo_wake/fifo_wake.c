// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a FIFO's figures are measured with: a put from an RT timer and, beside it, an eventfd
 * that a Linux hrtimer signals; and what puts cost while Linux is in the middle of a read.
 *
 * Commands to /proc/fifo_wake:
 *	fifo PERIOD_US		FIFO 0 gets 8 bytes each period
 *	eventfd FD PERIOD_US	the eventfd is signalled each period
 *	stall PERIOD_US		FIFO 0 gets 64 bytes each period, and each put is timed
 *	stop
 * Reading it: the moment of the last put or signal (CLOCK_MONOTONIC, ns, taken just before it), how many
 * puts were timed, the shortest and the longest, in ns. The latter three begin anew with "stall".
 */
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <rt/fifo.h>
#include <rt/time.h>
#include <rt/timer.h>

#include "compat/eventfd.h"
#include "compat/hrtimer.h"

#define FIFO 0
#define SIZE_BYTES (16 << 20)

static struct {
	u64 at_ns;
	u64 puts, min_ns, max_ns;
} told;

static RTIME period;
static bool timed;

static void put_fn(struct rt_timer *timer)
{
	static char bytes[64];
	RTIME begin, took;

	rt_timer_start(timer, timer->expires + period);
	told.at_ns = ktime_get_mono_fast_ns();
	if (timed) {
		begin = rt_get_time();
		rtf_put(FIFO, bytes, sizeof(bytes));
		took = rt_get_time() - begin;
		told.puts++;
		told.min_ns = min_t(u64, told.min_ns, took);
		told.max_ns = max_t(u64, told.max_ns, took);
	} else {
		rtf_put(FIFO, bytes, 8);
	}
}

static struct rt_timer put_timer = { .fn = put_fn };

static struct hrtimer signal_timer;
static struct eventfd_ctx *signal_ctx;

static enum hrtimer_restart signal_fn(struct hrtimer *timer)
{
	hrtimer_forward_now(timer, ns_to_ktime(period));
	told.at_ns = ktime_get_mono_fast_ns();
	compat_eventfd_signal(signal_ctx);
	return HRTIMER_RESTART;
}

static void stop(void)
{
	rt_timer_cancel(&put_timer);
	hrtimer_cancel(&signal_timer);
	if (signal_ctx)
		eventfd_ctx_put(signal_ctx);
	signal_ctx = NULL;
}

static ssize_t control_write(struct file *file, const char __user *buf, size_t len, loff_t *off)
{
	char line[64] = "";
	int fd, period_us, ret;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	stop();
	if (!strcmp(line, "stop"))
		return len;
	timed = line[0] == 's';
	if (sscanf(line, "fifo %d", &period_us) == 1 || sscanf(line, "stall %d", &period_us) == 1) {
		period = period_us * 1000LL;
		told.puts = told.max_ns = 0;
		told.min_ns = U64_MAX;
		ret = rt_timer_start(&put_timer, rt_get_time() + period);
		return ret ?: len;
	}
	if (sscanf(line, "eventfd %d %d", &fd, &period_us) != 2)
		return -EINVAL;
	period = period_us * 1000LL;
	signal_ctx = eventfd_ctx_fdget(fd);
	if (IS_ERR(signal_ctx)) {
		ret = PTR_ERR(signal_ctx);
		signal_ctx = NULL;
		return ret;
	}
	hrtimer_start(&signal_timer, ktime_add_ns(ktime_get(), period),
		      HRTIMER_MODE_ABS_PINNED_HARD);
	return len;
}

static ssize_t control_read(struct file *file, char __user *buf, size_t len, loff_t *off)
{
	char text[100];
	int n = scnprintf(text, sizeof(text), "%llu %llu %llu %llu\n", told.at_ns, told.puts,
			  told.min_ns, told.max_ns);

	*off = 0;
	return simple_read_from_buffer(buf, len, off, text, n);
}

static const struct proc_ops control_ops = {
	.proc_read = control_read,
	.proc_write = control_write,
};

static int __init fifo_wake_init(void)
{
	int ret = rtf_create(FIFO, SIZE_BYTES);

	if (ret)
		return ret;
	compat_hrtimer_setup(&signal_timer, signal_fn, CLOCK_MONOTONIC,
			     HRTIMER_MODE_ABS_PINNED_HARD);
	if (proc_create("fifo_wake", 0600, NULL, &control_ops))
		return 0;
	rtf_destroy(FIFO);
	return -ENOMEM;
}

static void __exit fifo_wake_exit(void)
{
	remove_proc_entry("fifo_wake", NULL);
	stop();
	rtf_destroy(FIFO);
}

module_init(fifo_wake_init);
module_exit(fifo_wake_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tactus: wake-up by a FIFO and by an eventfd");
