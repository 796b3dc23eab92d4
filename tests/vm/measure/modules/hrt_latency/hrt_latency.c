// SPDX-License-Identifier: GPL-2.0-only
/*
 * How late a Linux hrtimer is: the control for examples/latency.
 *
 * A pinned timer that runs in hard-irq context (on PREEMPT_RT kernels too), started
 * for absolute moments one period apart, none of which is left out: after an
 * interrupts-off section of 20 ms the twenty 1 ms releases it held up follow one
 * another, each with its own lateness. Needs nothing of Tactus but the harness's
 * source, so that it measures the untouched kernel.
 */
#include <linux/hrtimer.h>
#include <linux/module.h>

#include "compat/hrtimer.h"
#include "../../../../../examples/latency/harness.h"

static unsigned int period_us = 1000;
module_param(period_us, uint, 0644);
MODULE_PARM_DESC(period_us, "time between releases, 50 to 1000000 us; read when a measurement starts");

static struct hrtimer hrt_timer;

static enum hrtimer_restart hrt_job(struct hrtimer *timer)
{
	s64 now_ns = ktime_get_ns();

	if (!latency_job(now_ns))
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(lateness_next_due(&latency_stats)));
	return HRTIMER_RESTART;
}

static int hrt_start(void)
{
	u64 period_ns = period_us * 1000ULL;

	if (period_us < 50 || period_us > 1000000)
		return -EINVAL;
	/* Far enough ahead that the first release is a release like all others. */
	lateness_init(&latency_stats, ktime_get_ns() + 2 * period_ns, period_ns);
	hrtimer_start(&hrt_timer, ns_to_ktime(latency_stats.start_ns),
		      HRTIMER_MODE_ABS_PINNED_HARD);
	return 0;
}

static void hrt_end(void)
{
	hrtimer_cancel(&hrt_timer);
}

static const struct latency_source hrt_source = {
	.name = "hrt_latency",
	.start = hrt_start,
	.end = hrt_end,
};

static int __init hrt_latency_init(void)
{
	compat_hrtimer_setup(&hrt_timer, hrt_job, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	return latency_harness_init(&hrt_source);
}

static void __exit hrt_latency_exit(void)
{
	latency_harness_exit();
}

module_init(hrt_latency_init);
module_exit(hrt_latency_exit);
MODULE_DESCRIPTION("Lateness of a hard hrtimer on the untouched kernel");
MODULE_LICENSE("GPL");
