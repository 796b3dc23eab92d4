// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debug builds: the first call of RT code to a function that only Linux may call becomes a warning.
 *
 * Linux's function tracer calls us at the entry of each of these functions, in any context. Calls
 * count that come from a module's text while the CPU is out-of-band: Linux's own NMI handlers, and
 * what the executive calls in its place, are not modules'.
 */
#include <linux/bug.h>
#include <linux/ftrace.h>
#include <linux/printk.h>
#include <linux/string.h>

#include <rt/post.h>
#include "exec/callcheck.h"
#include "exec/cpu.h"

#ifdef CONFIG_DYNAMIC_FTRACE
/* As `tactus check` has them: what prints, allocates, locks, sleeps, wakes, tells the time. */
static const char *const linux_only[] = {
	"_printk", "vprintk*", "_dev_*", "__kmalloc*", "kmalloc_*", "kmem_cache_alloc*", "kfree",
	"vmalloc*", "vzalloc*", "vfree", "mutex_lock*", "mutex_unlock", "down", "up",
	"_raw_spin_lock*", "msleep*", "usleep_range*", "schedule", "schedule_timeout*",
	"wait_for_completion*", "__wake_up*", "wake_up_process", "complete", "queue_work_on",
	"_copy_to_user", "_copy_from_user", "ktime_get", "ktime_get_real*",
};

/* The first call only: what follows it would mislead. */
static unsigned long called, caller;
static char who[RT_TASK_NAME_BYTES];
static struct rt_post report;

static void say(struct rt_post *post)
{
	WARN(1, "tactus: RT code (%s) calls Linux: %pS calls %ps()\n", who, (void *)caller,
	     (void *)called);
}

/* Context: any. */
static void notrace entered(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *regs)
{
	const RT_TASK *curr;

	if (likely(!pl_oob()) || parent_ip < MODULES_VADDR || parent_ip >= MODULES_END ||
	    cmpxchg(&called, 0, ip))
		return;
	caller = parent_ip;
	curr = rt_cpu_task();
	strscpy(who, pl_in_irq() || !curr ? "handler" : curr->name, sizeof(who));
	rt_post(&report);
}

static struct ftrace_ops ops = { .func = entered };
static bool on;

void rt_callcheck_init(void)
{
	char pattern[32];
	int err;

	called = 0;
	rt_post_init(&report, say);
	/* A kernel need not have each of them. */
	for (int i = 0; i < ARRAY_SIZE(linux_only); i++) {
		strscpy(pattern, linux_only[i], sizeof(pattern));
		ftrace_set_filter(&ops, (unsigned char *)pattern, strlen(pattern), false);
	}
	err = register_ftrace_function(&ops);
	if (err)
		pr_warn("calls of RT code to Linux are not checked: %d\n", err);
	on = !err;
}

void rt_callcheck_exit(void)
{
	if (on)
		unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);
	rt_post_sync(&report);
}
#else
void rt_callcheck_init(void)
{
	pr_info("calls of RT code to Linux are not checked: the kernel has no function tracer\n");
}

void rt_callcheck_exit(void)
{
}
#endif
