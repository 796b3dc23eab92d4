// SPDX-License-Identifier: GPL-2.0-only
/*
 * How late an interrupt of Linux's is, on the untouched kernel: the control for rt_measure.
 *
 * "irq WARM_UP COUNT" written to /proc/irq_measure measures the real-time clock's, by rtc_grid.h.
 * The handler runs in hard-irq context on PREEMPT_RT, too. Unbind rtc_cmos first.
 */
#include <linux/interrupt.h>
#include <asm/msr.h>

#include "../rtc_grid.h"

#define RTC_LINE 8

static irqreturn_t irq_measure_irq(int irq, void *cookie)
{
	rtc_grid_note(rdtsc());
	CMOS_READ(RTC_REG_C);	/* lets the next one come */
	return IRQ_HANDLED;
}

static int irq_measure_start(char *line)
{
	int err;

	if (!rtc_grid_parse(line))
		return -EINVAL;
	err = request_irq(RTC_LINE, irq_measure_irq, IRQF_NO_THREAD, "irq_measure", &rtc_grid);
	if (err)
		return err;
	measure_name = "irq";
	rtc_grid_start();
	return 0;
}

static void irq_measure_end(void)
{
	rtc_grid_stop();
	free_irq(RTC_LINE, &rtc_grid);
}

static const struct measure_source irq_measure_source = {
	.name = "irq_measure",
	.start = irq_measure_start,
	.end = irq_measure_end,
};

static int __init irq_measure_init(void)
{
	return measure_init(&irq_measure_source);
}

static void __exit irq_measure_exit(void)
{
	measure_exit();
}

module_init(irq_measure_init);
module_exit(irq_measure_exit);
MODULE_DESCRIPTION("Latency of an interrupt of Linux's on the untouched kernel");
MODULE_LICENSE("GPL");
