// SPDX-License-Identifier: GPL-2.0-only
/*
 * What switches and releases cost, in ticks of the TSC: under --icount, in instructions.
 *
 * Loading measures; the parameter results has the figures, each the least and the median of
 * ROUNDS, the clock's own cost taken off (the greatest would have an interrupt of Linux's in it):
 *
 *	suspend, wakeup	of another task, which changes nothing about who runs
 *	rt_rt		from before rt_task_suspend() of itself in one task to the next one's going on
 *	linux_rt_linux	a rt_task_wakeup() in Linux of a task that suspends itself at once
 *	fp_linux	the same of a task that uses floating point
 *	release_N	a rt_task_wakeup(), in a task, of another of N ready ones, which lies
 *			before all of them by priority
 *	irq_off_on	Linux's local_irq_disable() and local_irq_enable()
 *	irq_save_restore local_irq_save() and local_irq_restore()
 */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>
#include <asm/tsc.h>

#include <rt/task.h>

#define ROUNDS 200
#define COLD 10
#define MOST 1000

static char results[1024];
module_param_string(results, results, sizeof(results), 0444);

static RT_TASK first, second, third;
static RT_TASK *many;
static u64 begin;
static u32 taken[ROUNDS];
static int rounds;

static __always_inline u64 clock(void)
{
	return rdtsc();
}

static u64 clock_cost(void)
{
	u64 from = clock();

	return clock() - from;
}

static void fresh(void)
{
	WRITE_ONCE(rounds, 0);
}

/* The first few find caches and branches, and the emulator's translations, cold. */
static void take(u64 ticks)
{
	ticks -= clock_cost();
	if (++rounds > COLD)
		taken[rounds - COLD - 1] = ticks;
}

static int compare(const void *a, const void *b)
{
	return *(const u32 *)a < *(const u32 *)b ? -1 : *(const u32 *)a > *(const u32 *)b;
}

static void say(const char *name, int number)
{
	size_t used = strlen(results);
	int n = rounds - COLD;

	sort(taken, n, sizeof(taken[0]), compare, NULL);
	if (number)
		scnprintf(results + used, sizeof(results) - used, "%s_%d=%u,%u ", name, number,
			  taken[0], taken[n / 2]);
	else
		scnprintf(results + used, sizeof(results) - used, "%s=%u,%u ", name, taken[0],
			  taken[n / 2]);
}

static void leads(int unused)
{
	while (rounds < ROUNDS) {
		begin = clock();
		rt_task_suspend(&first);
	}
}

/* The other goes on inside of the wake-up, and this one when that suspends itself. */
static void follows(int unused)
{
	while (rounds < ROUNDS) {
		rt_task_wakeup(&first);
		take(clock() - begin);
	}
}

static void waits(int unused)
{
	for (;;)
		rt_task_suspend(&third);
}

/* A task of less urgency becomes ready, and is stopped again. */
static void base(int which)
{
	while (rounds < ROUNDS) {
		u64 from = clock(), between;

		rt_task_wakeup(&third);
		between = clock();
		rt_task_suspend(&third);
		take(which ? between - from : clock() - between);
	}
}

static void suspends(int fp)
{
	rt_use_fp(fp);
	for (;;)
		rt_task_suspend(rt_task_self());
}

static void nothing(int unused)
{
}

static int n_ready;

/* More urgent than all of them, so that none runs meanwhile. */
static void wakes(int unused)
{
	RT_TASK *task = &many[0];

	for (int i = 0; i < n_ready; i++)
		if (&many[i] != task)
			rt_task_wakeup(&many[i]);
	while (rounds < ROUNDS) {
		u64 from = clock();

		rt_task_wakeup(task);
		take(clock() - from);
		rt_task_suspend(task);
	}
	for (int i = 0; i < n_ready; i++)
		rt_task_delete(&many[i]);
}

static int ready_among(int n)
{
	int error = 0, i;

	many = vzalloc(n * sizeof(*many));
	if (!many)
		return -ENOMEM;
	fresh();
	n_ready = n;
	for (i = 0; i < n && !error; i++)
		error = rt_task_init(&many[i], nothing, 0, RT_STACK_MIN_BYTES, 2 + i) ?:
			rt_task_set_cpu(&many[i], 0);
	error = error ?: rt_task_init(&first, wakes, 0, 4096, 1) ?: rt_task_set_cpu(&first, 0) ?:
		rt_task_wakeup(&first);
	rt_task_delete(&first);
	while (i--)
		rt_task_delete(&many[i]);
	vfree(many);
	if (!error)
		say("release", n);
	return error;
}

static int without_switch(const char *name, int which)
{
	int error;

	fresh();
	error = rt_task_init(&third, waits, 0, 4096, 2) ?: rt_task_set_cpu(&third, 0) ?:
		rt_task_wakeup(&third) ?:
		rt_task_init(&first, base, which, 4096, 1) ?: rt_task_set_cpu(&first, 0) ?:
		rt_task_wakeup(&first);
	rt_task_delete(&first);
	rt_task_delete(&third);
	if (!error)
		say(name, 0);
	return error;
}

static int between_tasks(void)
{
	int error;

	fresh();
	error = rt_task_init(&second, follows, 0, 4096, 2) ?: rt_task_set_cpu(&second, 0) ?:
		rt_task_init(&first, leads, 0, 4096, 1) ?: rt_task_set_cpu(&first, 0) ?:
		rt_task_wakeup(&second);
	rt_task_delete(&first);
	rt_task_delete(&second);
	if (!error)
		say("rt_rt", 0);
	return error;
}

static int from_linux(const char *name, int fp)
{
	unsigned long flags;
	int error;

	fresh();
	error = rt_task_init(&first, suspends, fp, 4096, 1) ?: rt_task_set_cpu(&first, 0);
	while (!error && rounds < ROUNDS) {
		u64 from;

		local_irq_save(flags);
		from = clock();
		error = rt_task_wakeup(&first);
		take(clock() - from);
		local_irq_restore(flags);
	}
	rt_task_delete(&first);
	if (!error)
		say(name, 0);
	return error;
}

/* Context: Linux process. */
static void of_linux(void)
{
	unsigned long flags;
	u64 from;

	fresh();
	while (rounds < ROUNDS) {
		from = clock();
		local_irq_disable();
		local_irq_enable();
		take(clock() - from);
	}
	say("irq_off_on", 0);
	fresh();
	while (rounds < ROUNDS) {
		from = clock();
		local_irq_save(flags);
		local_irq_restore(flags);
		take(clock() - from);
	}
	say("irq_save_restore", 0);
}

static int __init task_bench_init(void)
{
	of_linux();
	return without_switch("suspend", 0) ?: without_switch("wakeup", 1) ?: between_tasks() ?:
	       from_linux("linux_rt_linux", 0) ?: from_linux("fp_linux", 1) ?:
	       ready_among(1) ?: ready_among(10) ?: ready_among(100) ?: ready_among(MOST);
}

static void __exit task_bench_exit(void)
{
}

module_init(task_bench_init);
module_exit(task_bench_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What switches and releases cost");
