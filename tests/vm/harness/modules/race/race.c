// SPDX-License-Identifier: GPL-2.0-only
/*
 * A data race between RT code and Linux: an RT timer's function and the process that loads this
 * module count in the same plain variable. KCSAN must say so; nothing else can.
 *
 * marked=1 does the same with marked accesses, which is no race: KCSAN must keep silent.
 */
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <rt/timer.h>

#define PERIOD_NS 50000
#define RUN_MS 1500

static bool marked;
module_param(marked, bool, 0444);
MODULE_PARM_DESC(marked, "1: with marked accesses, as it should be");

static unsigned long shared;
module_param(shared, ulong, 0444);

/* Context: RT interrupt and Linux process. */
static noinline void count(void)
{
	if (marked)
		WRITE_ONCE(shared, READ_ONCE(shared) + 1);
	else
		shared++;
}

/* Context: RT interrupt. */
static void tick(struct rt_timer *timer)
{
	count();
	rt_timer_start(timer, rt_get_time() + PERIOD_NS);
}

static struct rt_timer timer = { .fn = tick };

static int __init race_init(void)
{
	unsigned long end = jiffies + msecs_to_jiffies(RUN_MS);
	int err = rt_timer_start(&timer, rt_get_time() + PERIOD_NS);

	if (err)
		return err;
	while (time_before(jiffies, end)) {
		for (int i = 0; i < 1000; i++)
			count();
		cond_resched();
	}
	rt_timer_cancel(&timer);
	return 0;
}

static void __exit race_exit(void)
{
}

module_init(race_init);
module_exit(race_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A data race between RT code and Linux, for the checking kernel's tests");
