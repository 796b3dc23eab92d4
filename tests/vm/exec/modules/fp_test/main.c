// SPDX-License-Identifier: GPL-2.0-only
/*
 * Three RT tasks, each with another kind of floating point and another rounding mode, which
 * pre-empt one another and compare each result with the one expected. Beside them the kernel's
 * own floating point, on demand: writing a number to the parameter kernel_jobs has it do so many.
 *
 * With use_fp=0 the tasks do the same without having said rt_use_fp(). They begin a while after
 * loading, so that whoever loads them can be asleep by then.
 */
#include <linux/module.h>
#include <asm/fpu/api.h>

#include <rt/task.h>

#include "jobs.h"

#define TASKS 3
#define START_NS 10000000
#define KERNEL TASKS	/* the fourth */

static bool use_fp = true;
module_param(use_fp, bool, 0444);

static unsigned int rounds = 5000;
module_param(rounds, uint, 0444);

/* Jobs of each task, then it ends; 0: no limit. */
static unsigned int most;
module_param(most, uint, 0444);

/* Of the three tasks, and of the kernel. */
static unsigned long long expected[TASKS + 1];
static int nr_expected;
module_param_array(expected, ullong, &nr_expected, 0444);

static unsigned int jobs[TASKS + 1];
module_param_array(jobs, uint, NULL, 0444);

static unsigned int wrong[TASKS + 1];
module_param_array(wrong, uint, NULL, 0444);

static const struct {
	int kind, mode, period_ns;
} kinds[TASKS + 1] = {
	{ WORK_SSE, UP, 310000 },
	{ WORK_X87, DOWN, 470000 },
	{ WORK_AVX, TO_ZERO, 730000 },
	{ WORK_SSE, TO_NEAREST },
};

static RT_TASK tasks[TASKS];

static void judge(int i)
{
	unsigned long long result = jobs_work(kinds[i].kind, rounds);

	jobs[i]++;
	wrong[i] += result != expected[i];
}

static void compute(int i)
{
	if (use_fp)
		rt_use_fp(1);
	jobs_mode(kinds[i].kind, kinds[i].mode);
	do
		judge(i);
	while ((!most || jobs[i] < most) && rt_task_wait() != -EPERM);
}

static int compute_in_kernel(const char *text, const struct kernel_param *param)
{
	unsigned int count;
	int error = kstrtouint(text, 0, &count);

	while (!error && count--) {
		kernel_fpu_begin();
		judge(KERNEL);
		kernel_fpu_end();
	}
	return error;
}

static const struct kernel_param_ops kernel_jobs_ops = { .set = compute_in_kernel };
module_param_cb(kernel_jobs, &kernel_jobs_ops, NULL, 0200);

static void fp_test_exit(void)
{
	for (int i = 0; i < TASKS; i++)
		rt_task_delete(&tasks[i]);
}

static int __init fp_test_init(void)
{
	int error = nr_expected == ARRAY_SIZE(expected) ? 0 : -EINVAL;

	for (int i = 0; i < TASKS && !error; i++) {
		if (kinds[i].kind == WORK_AVX && !boot_cpu_has(X86_FEATURE_AVX))
			continue;
		error = rt_task_init(&tasks[i], compute, i, 4096, i + 1) ?:
			rt_task_set_cpu(&tasks[i], 0) ?:
			rt_task_make_periodic(&tasks[i], rt_get_time() + START_NS, kinds[i].period_ns);
	}
	if (error)
		fp_test_exit();
	return error;
}

module_init(fp_test_init);
module_exit(fp_test_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Floating point in RT tasks");
