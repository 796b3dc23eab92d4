// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every misuse of request_RTirq() and free_RTirq(), and their proper use.
 *
 * Loading runs the cases; /sys/module/irq_test/parameters/results lists what each
 * returned, as "name=errno" words. Interrupt 8 is kept if keep=1, until unload.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <rt/irq.h>
#include <rt/timer.h>

#define RTC_IRQ 8
#define KEYBOARD_IRQ 1	/* in use by Linux */
#define FREE_IRQ 5	/* exists, nobody uses it */
#define NO_SUCH_IRQ 1000

static bool keep;
module_param(keep, bool, 0444);

static char results[256];
module_param_string(results, results, sizeof(results), 0444);

static int from_rt = 1;

static void handler(void)
{
}

/* Context: RT interrupt. */
static void try_from_rt(struct rt_timer *timer)
{
	from_rt = request_RTirq(FREE_IRQ, handler);
}

static void note(const char *name, int result)
{
	size_t used = strlen(results);

	scnprintf(results + used, sizeof(results) - used, "%s=%d ", name, result);
}

static int __init irq_test_init(void)
{
	static struct rt_timer timer = { .fn = try_from_rt };

	note("null", request_RTirq(FREE_IRQ, NULL));
	note("none", request_RTirq(NO_SUCH_IRQ, handler));
	note("huge", request_RTirq(UINT_MAX, handler));
	note("linux", request_RTirq(KEYBOARD_IRQ, handler));
	rt_timer_start(&timer, rt_get_time());
	msleep(20);
	note("rt", from_rt);
	note("rtc", request_RTirq(RTC_IRQ, handler));
	note("rtc_twice", request_RTirq(RTC_IRQ, handler));
	if (!keep) {
		free_RTirq(RTC_IRQ);
		free_RTirq(RTC_IRQ);
		note("rtc_again", request_RTirq(RTC_IRQ, handler));
		free_RTirq(RTC_IRQ);
	}
	free_RTirq(NO_SUCH_IRQ);
	free_RTirq(UINT_MAX);
	note("free", request_RTirq(FREE_IRQ, handler));
	return 0;
}

static void __exit irq_test_exit(void)
{
	free_RTirq(FREE_IRQ);
	free_RTirq(RTC_IRQ);
}

module_init(irq_test_init);
module_exit(irq_test_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("The calls of RT interrupts, used and misused");
