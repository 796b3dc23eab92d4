/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupt latency by the real-time clock at 8192 Hz, whose moments are known: an emulated chip's
 * periods lie on the grid of its 32768 Hz, which is virtual time's from 0 on. The first interrupt
 * is taken to be less than one step of it late. It holds under --icount only, where the TSC counts
 * ns of that time.
 */
#ifndef _RTC_GRID_H
#define _RTC_GRID_H

#include <linux/mc146818rtc.h>

#include "measure_file.h"

/* One step of 32768 Hz and one period of 8192 Hz, in 64ths of a ns. */
#define RTC_STEP_64	1953125ULL
#define RTC_PERIOD_64	(4 * RTC_STEP_64)

static struct {
	u64 due_64;		/* when the next one is; 0: none came yet */
	u64 warm_up;		/* interrupts that do not count yet */
	u64 left;		/* interrupts that count */
	u8 saved_a, saved_b;
} rtc_grid;

/*
 * An interrupt came; @now_ns is the clock at the handler's first instruction.
 * Context: the handler, Linux's or RT; calls nothing of Linux.
 */
static void rtc_grid_note(u64 now_ns)
{
	u64 now_64 = now_ns * 64;
	s64 late_ns;

	if (!rtc_grid.left)
		return;
	if (!rtc_grid.due_64)
		rtc_grid.due_64 = now_64 - now_64 % RTC_STEP_64;
	late_ns = (now_64 - rtc_grid.due_64) / 64;
	rtc_grid.due_64 += RTC_PERIOD_64;
	/* The chip has one flag: what falls due while it is set is lost, and lateness is the first's. */
	while (rtc_grid.due_64 <= now_64) {
		rtc_grid.due_64 += RTC_PERIOD_64;
		measure_figure.missed += !rtc_grid.warm_up;
	}
	if (rtc_grid.warm_up) {
		rtc_grid.warm_up--;
		return;
	}
	figure_note(&measure_figure, late_ns);
	if (!--rtc_grid.left)
		measure_finish();
}

/* Have the chip interrupt. Context: Linux process. */
static void rtc_grid_start(void)
{
	spin_lock_irq(&rtc_lock);
	rtc_grid.saved_a = CMOS_READ(RTC_REG_A);
	rtc_grid.saved_b = CMOS_READ(RTC_REG_B);
	CMOS_WRITE(0x23, RTC_REG_A);
	CMOS_WRITE((rtc_grid.saved_b & 0x8f) | RTC_PIE, RTC_REG_B);
	CMOS_READ(RTC_REG_C);
	spin_unlock_irq(&rtc_lock);
}

/* Have it as it was. Context: Linux process. */
static void rtc_grid_stop(void)
{
	spin_lock_irq(&rtc_lock);
	CMOS_WRITE(rtc_grid.saved_a, RTC_REG_A);
	CMOS_WRITE(rtc_grid.saved_b, RTC_REG_B);
	spin_unlock_irq(&rtc_lock);
}

/* "irq WARM_UP COUNT". Return: false if @line is not that. */
static bool rtc_grid_parse(const char *line)
{
	unsigned long warm_up, count;

	if (sscanf(line, "irq %lu %lu", &warm_up, &count) != 2 || !count)
		return false;
	rtc_grid.due_64 = 0;
	rtc_grid.warm_up = warm_up;
	rtc_grid.left = count;
	return true;
}

#endif
