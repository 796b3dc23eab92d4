// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts an RT timer on a CPU that goes off line, after the executive has left it and while Linux
 * still runs there. Loaded before tactus, so that Linux asks it later: callbacks of one kind are
 * torn down in the reverse order. What it was told is the parameter result.
 */
#include <linux/cpuhotplug.h>
#include <linux/module.h>

#include <rt/timer.h>

static int result = 1;
module_param(result, int, 0444);

static enum cpuhp_state state;

static void never(struct rt_timer *timer)
{
}

static struct rt_timer timer = { .fn = never };

static int leave(unsigned int cpu)
{
	int (*start)(struct rt_timer *timer, RTIME expires) = symbol_get(rt_timer_start);

	if (!start)
		return 0;
	result = start(&timer, 1000);
	symbol_put(rt_timer_start);
	return 0;
}

static int __init leaving_init(void)
{
	int err = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "test:leaving", NULL, leave);

	state = err;
	return min(err, 0);
}

static void __exit leaving_exit(void)
{
	cpuhp_remove_state_nocalls(state);
}

module_init(leaving_init);
module_exit(leaving_exit);
MODULE_DESCRIPTION("An RT timer for a CPU that leaves");
MODULE_LICENSE("GPL");
