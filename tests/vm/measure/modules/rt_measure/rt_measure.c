// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an RT task and an RT interrupt see, measured as tools/measure measures programs.
 *
 * A line written to /proc/rt_measure is one measurement; times are in ns:
 *
 *	gaps COUNT			between COUNT readings of the clock
 *	gap PERIOD BUSY WARM_UP COUNT	between the beats of a periodic task, minus PERIOD; each job
 *					computes for BUSY
 *	late PERIOD BUSY WARM_UP COUNT	the same task's lateness: the clock minus the release
 *	path PERIOD BUSY WARM_UP COUNT	the same, with the emulator's plug-in looking at each instruction;
 *					the first lateness values are in the parameter path_ns
 *	irq WARM_UP COUNT		latency of the real-time clock's interrupt, by rtc_grid.h
 */
#include <linux/percpu.h>
#include <asm/msr.h>

#include <rt/irq.h>
#include <rt/task.h>
#include <rt/time.h>

#include "../path_mark.h"
#include "../rtc_grid.h"

#define RTC_LINE 8
/* Far enough ahead that the first release is one like all others. */
#define AHEAD_NS 2000000

enum rt_measure_what { GAPS, GAP, LATE, PATH, IRQ };

static const char *const rt_measure_names[] = { "gaps", "gap", "late", "path", "irq" };

static int path_ns[256];
static int path_count;
module_param_array(path_ns, int, &path_count, 0444);
MODULE_PARM_DESC(path_ns, "lateness of the first releases of a path");
static unsigned long path_base;
module_param(path_base, ulong, 0444);
MODULE_PARM_DESC(path_base, "where the first CPU's own variables begin");

static RT_TASK rt_measure_task;
static enum rt_measure_what rt_measure_what;
static RTIME rt_measure_first;
static s64 rt_measure_period, rt_measure_busy, rt_measure_warm_up, rt_measure_count;

/* Context: RT task. */
static void rt_measure_gaps(void)
{
	RTIME last = rt_get_time();

	for (s64 n = 0; n < rt_measure_count; n++) {
		RTIME now = rt_get_time();

		figure_note(&measure_figure, now - last);
		last = now;
	}
}

/* Context: RT task. */
static void rt_measure_beats(void)
{
	RTIME due = rt_measure_first, last = rt_measure_first;
	s64 left = rt_measure_count;

	for (s64 n = -rt_measure_warm_up; left; n++, due += rt_measure_period) {
		RTIME now;

		PATH_HERE();
		now = rt_get_time();
		if (rt_measure_what == PATH && n + rt_measure_warm_up < ARRAY_SIZE(path_ns)) {
			path_ns[n + rt_measure_warm_up] = now - due;
			path_count = n + rt_measure_warm_up + 1;
		}
		if (n >= 0) {
			figure_note(&measure_figure, rt_measure_what == GAP ?
				    now - last - rt_measure_period : now - due);
			measure_figure.missed += now - due >= rt_measure_period;
			left--;
		}
		last = now;
		while (rt_measure_busy && rt_get_time() - now < rt_measure_busy)
			;
		if (rt_task_wait() == -EPERM)
			return;
	}
}

static void rt_measure_fn(int unused)
{
	if (rt_measure_what == GAPS)
		rt_measure_gaps();
	else
		rt_measure_beats();
	measure_finish();
	for (;;)
		rt_task_suspend(&rt_measure_task);
}

static int rt_measure_start_task(void)
{
	int err = rt_task_init(&rt_measure_task, rt_measure_fn, 0, 4096, 1);
	unsigned long flags;

	if (err)
		return err;
	rt_task_set_name(&rt_measure_task, "measure");
	if (rt_measure_what == GAPS) {
		err = rt_task_wakeup(&rt_measure_task);
	} else {
		/* Linux must not put anything between naming the first release and asking for it. */
		local_irq_save(flags);
		rt_measure_first = rt_get_time() + AHEAD_NS + rt_measure_period;
		err = rt_task_make_periodic(&rt_measure_task, rt_measure_first, rt_measure_period);
		local_irq_restore(flags);
	}
	if (err)
		rt_task_delete(&rt_measure_task);
	return err;
}

/* Context: RT interrupt. */
static void rt_measure_irq(void)
{
	rtc_grid_note(rdtsc());
	CMOS_READ(RTC_REG_C);	/* lets the next one come */
}

static bool rt_measure_parse(const char *line)
{
	char what[8];

	rt_measure_period = 0;
	rt_measure_busy = 0;
	rt_measure_warm_up = 0;
	if (sscanf(line, "gaps %lld", &rt_measure_count) == 1) {
		rt_measure_what = GAPS;
		return rt_measure_count > 0 && rt_measure_count <= 100000000;
	}
	if (rtc_grid_parse(line)) {
		rt_measure_what = IRQ;
		return true;
	}
	if (sscanf(line, "%7s %lld %lld %lld %lld", what, &rt_measure_period, &rt_measure_busy,
		   &rt_measure_warm_up, &rt_measure_count) != 5)
		return false;
	for (rt_measure_what = GAP; rt_measure_what < IRQ; rt_measure_what++)
		if (!strcmp(what, rt_measure_names[rt_measure_what]))
			break;
	return rt_measure_what < IRQ && rt_measure_period >= 10000 &&
	       rt_measure_period <= 10 * NSEC_PER_SEC && rt_measure_busy >= 0 &&
	       rt_measure_busy < rt_measure_period && rt_measure_warm_up >= 0 &&
	       rt_measure_warm_up <= 1000000 && rt_measure_count > 0;
}

static int rt_measure_start(char *line)
{
	int err;

	if (!rt_measure_parse(line)) {
		measure_name = NULL;
		return -EINVAL;
	}
	measure_name = rt_measure_names[rt_measure_what];
	if (rt_measure_what == PATH)
		PATH_START();
	if (rt_measure_what != IRQ)
		return rt_measure_start_task();
	err = request_RTirq(RTC_LINE, rt_measure_irq);
	if (!err)
		rtc_grid_start();
	return err;
}

static void rt_measure_end(void)
{
	if (rt_measure_what == IRQ) {
		rtc_grid_stop();
		free_RTirq(RTC_LINE);
	} else {
		rt_task_delete(&rt_measure_task);
	}
}

static const struct measure_source rt_measure_source = {
	.name = "rt_measure",
	.start = rt_measure_start,
	.end = rt_measure_end,
};

static int __init rt_measure_init(void)
{
	path_base = per_cpu_offset(0);
	return measure_init(&rt_measure_source);
}

static void __exit rt_measure_exit(void)
{
	measure_exit();
}

module_init(rt_measure_init);
module_exit(rt_measure_exit);
MODULE_DESCRIPTION("What an RT task and an RT interrupt see");
MODULE_LICENSE("GPL");
