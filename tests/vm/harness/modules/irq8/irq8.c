// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes the real-time clock's IRQ 8 at 8192 Hz and notes the intervals between its interrupts:
 * what the bench promises is that they arrive, and in virtual time evenly.
 *
 * Unbind rtc_cmos first. Results are in /sys/module/irq8/parameters/, in ticks of the TSC.
 */
#include <linux/interrupt.h>
#include <linux/mc146818rtc.h>
#include <linux/module.h>
#include <asm/tsc.h>

#define RATE_8192_HZ	3	/* MC146818 register A, bits 0-3 */

static unsigned long count;
module_param(count, ulong, 0444);
static unsigned long shortest = ULONG_MAX;
module_param(shortest, ulong, 0444);
static unsigned long longest;
module_param(longest, ulong, 0444);
static unsigned int khz;
module_param(khz, uint, 0444);

static u64 last;
static u8 old_a, old_b;

static irqreturn_t tick(int irq, void *dev)
{
	u64 now = rdtsc_ordered();
	unsigned long gap = now - last;

	spin_lock(&rtc_lock);
	CMOS_READ(RTC_INTR_FLAGS);	/* lets the next one come */
	spin_unlock(&rtc_lock);
	/* The first few find the clock in the state that somebody else left. */
	if (count++ > 8) {
		shortest = min(shortest, gap);
		longest = max(longest, gap);
	}
	last = now;
	return IRQ_HANDLED;
}

static int __init irq8_init(void)
{
	unsigned long flags;
	int err;

	khz = tsc_khz;
	err = request_irq(8, tick, 0, "irq8", &count);
	if (err)
		return err;
	spin_lock_irqsave(&rtc_lock, flags);
	old_a = CMOS_READ(RTC_FREQ_SELECT);
	old_b = CMOS_READ(RTC_CONTROL);
	CMOS_WRITE((old_a & 0xf0) | RATE_8192_HZ, RTC_FREQ_SELECT);
	CMOS_WRITE(old_b | RTC_PIE, RTC_CONTROL);
	CMOS_READ(RTC_INTR_FLAGS);
	spin_unlock_irqrestore(&rtc_lock, flags);
	return 0;
}
module_init(irq8_init);

static void __exit irq8_exit(void)
{
	unsigned long flags;

	spin_lock_irqsave(&rtc_lock, flags);
	CMOS_WRITE(old_b, RTC_CONTROL);
	CMOS_WRITE(old_a, RTC_FREQ_SELECT);
	CMOS_READ(RTC_INTR_FLAGS);
	spin_unlock_irqrestore(&rtc_lock, flags);
	free_irq(8, &count);
}
module_exit(irq8_exit);

MODULE_DESCRIPTION("Watches the real-time clock's interrupt");
MODULE_LICENSE("GPL");
