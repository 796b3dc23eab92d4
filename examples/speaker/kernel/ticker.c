// SPDX-License-Identifier: GPL-2.0-only
/*
 * What calls the player: the CMOS clock's interrupt at 8192 Hz, or an RT task.
 *
 * While the clock is ours its other interrupts (alarms) are off; its registers are as before
 * afterwards. Reading and setting the clock go on as usual: rtc_lock is held with interrupts
 * off, which keeps the handler out as well.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/mc146818rtc.h>
#include <linux/module.h>
#include <rt/irq.h>
#include <rt/task.h>
#include "speaker.h"

#define CMOS_IRQ 8
#define CMOS_HZ 8192
/* 32768 Hz time base, divided to CMOS_HZ */
#define CMOS_RATE (RTC_REF_CLCK_32KHZ | 3)
#define CMOS_IRQ_ENABLES (RTC_PIE | RTC_AIE | RTC_UIE)
/* How long the clock may take for its first interrupt, 122 us when all is well. */
#define FIRST_TICK_MS 50

#define TASK_PRIORITY 1
#define TASK_STACK_BYTES 4096
#define TASK_AHEAD_NS 1000000

static void (*tick)(RTIME due);
static int running = CLOCK_AUTO;	/* CLOCK_AUTO: none */
static bool ticked;
static RT_TASK task;

static struct {
	u8 a;
	u8 b;
} saved;

/* The CMOS clock's interrupt. Context: RT interrupt. */
static void cmos_tick(void)
{
	(void)CMOS_READ(RTC_REG_C);	/* or there is no further interrupt */
	WRITE_ONCE(ticked, true);
	tick(0);
}

static void cmos_take(void)
{
	unsigned long flags;

	spin_lock_irqsave(&rtc_lock, flags);
	saved.a = CMOS_READ(RTC_REG_A) & ~RTC_UIP;
	saved.b = CMOS_READ(RTC_REG_B);
	CMOS_WRITE(CMOS_RATE, RTC_REG_A);
	CMOS_WRITE((saved.b & ~CMOS_IRQ_ENABLES) | RTC_PIE, RTC_REG_B);
	(void)CMOS_READ(RTC_REG_C);
	spin_unlock_irqrestore(&rtc_lock, flags);
}

static void cmos_halt(void)
{
	unsigned long flags;

	spin_lock_irqsave(&rtc_lock, flags);
	CMOS_WRITE(CMOS_READ(RTC_REG_B) & ~CMOS_IRQ_ENABLES, RTC_REG_B);
	(void)CMOS_READ(RTC_REG_C);
	spin_unlock_irqrestore(&rtc_lock, flags);
}

/* Register B's other bits are the clock's format, which Linux may have set meanwhile. */
static void cmos_give_back(void)
{
	unsigned long flags;

	spin_lock_irqsave(&rtc_lock, flags);
	CMOS_WRITE(saved.a, RTC_REG_A);
	(void)CMOS_READ(RTC_REG_C);
	CMOS_WRITE((CMOS_READ(RTC_REG_B) & ~CMOS_IRQ_ENABLES) | (saved.b & CMOS_IRQ_ENABLES),
		   RTC_REG_B);
	spin_unlock_irqrestore(&rtc_lock, flags);
}

/*
 * The clock stops first, then nobody handles its interrupt; only then are its registers
 * given back, as Linux may have had interrupts of its own enabled in them.
 */
static void cmos_stop(void)
{
	cmos_halt();
	free_RTirq(CMOS_IRQ);
	cmos_give_back();
}

static int cmos_request(void (*handler)(void))
{
	int err = request_RTirq(CMOS_IRQ, handler);

	if (err)
		pr_err("cannot have interrupt %d: %d\n", CMOS_IRQ, err);
	return err;
}

static void cmos_ignore(void)
{
	(void)CMOS_READ(RTC_REG_C);
}

int ticker_try(int clock)
{
	int err = clock == CLOCK_RTC ? cmos_request(cmos_ignore) : 0;

	if (clock == CLOCK_RTC && !err)
		free_RTirq(CMOS_IRQ);
	return err;
}

static int cmos_start(void)
{
	int err;

	WRITE_ONCE(ticked, false);
	err = cmos_request(cmos_tick);
	if (err)
		return err;
	cmos_take();
	msleep(FIRST_TICK_MS);
	if (READ_ONCE(ticked))
		return 0;
	cmos_stop();
	pr_err("the CMOS clock does not interrupt; if the HPET has its line, boot with hpet=disable\n");
	return -EIO;
}

/* Context: RT task; from its first release until it is deleted. */
static void task_fn(int unused)
{
	do
		tick(task.release);
	while (rt_task_wait() != -EPERM);
}

static int task_start(struct tick_rate rate)
{
	int err = rt_task_init(&task, task_fn, 0, TASK_STACK_BYTES, TASK_PRIORITY);
	unsigned long flags;

	if (err) {
		pr_err("cannot have an RT task: %d\n", err);
		return err;
	}
	rt_task_set_name(&task, "speaker");
	/* Linux must not put anything between naming the first release and asking for it. */
	local_irq_save(flags);
	err = rt_task_make_periodic(&task, rt_get_time() + TASK_AHEAD_NS, rate.den);
	local_irq_restore(flags);
	if (err) {
		pr_err("no RT task of %u ns: %d\n", rate.den, err);
		rt_task_delete(&task);
	}
	return err;
}

struct tick_rate ticker_rate(int clock, unsigned int hz)
{
	if (clock == CLOCK_RTC)
		return (struct tick_rate){ CMOS_HZ, 1 };
	return (struct tick_rate){ NSEC_PER_SEC, (NSEC_PER_SEC + hz / 2) / hz };
}

int ticker_start(int clock, struct tick_rate rate, void (*fn)(RTIME due))
{
	int err;

	tick = fn;
	err = clock == CLOCK_RTC ? cmos_start() : task_start(rate);
	if (!err)
		running = clock;
	return err;
}

void ticker_stop(void)
{
	if (running == CLOCK_RTC)
		cmos_stop();
	else if (running == CLOCK_TASK)
		rt_task_delete(&task);
	running = CLOCK_AUTO;
}
