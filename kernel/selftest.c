// SPDX-License-Identifier: GPL-2.0-only
/*
 * A self-test of each CPU after the switch-over, and of each CPU that comes. Within 50 ms must
 * come:
 *
 *   an interrupt that Linux sends from another CPU, which starts the rest
 *   the replay of an interrupt that arrived while Linux was stalled
 *   an RT interrupt from another CPU
 *   the shot of an RT timer, and that of one of Linux's own; meanwhile the CPU may go idle
 *
 * Nothing here waits for anybody without a limit, and the limit needs no timer: this process looks
 * at the clock. Time in which it did not run itself (a virtual machine was halted, a more
 * urgent process came) counts as little, for then the others may not have run either.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include <rt/post.h>
#include <rt/timer.h>
#include "compat/hrtimer.h"
#include "pipeline/control.h"
#include "pipeline/pipeline.h"
#include "selftest.h"

#define LIMIT_NS 50000000ULL
#define SHOT_NS 20000000ULL
#define GAP_NS 1000000ULL	/* what a longer gap in one's own time counts as */

/*
 * struct test - of one CPU; static, for what comes too late must find it
 * @helper: the CPU that sends it its interrupts; itself if there is no other
 * @ready: it waits for the RT interrupt
 * @answered, @replayed, @ipi, @shot, @ticked: what has come
 * @done: the interrupt that starts the rest has come to its end
 */
struct test {
	call_single_data_t start, send;
	struct rt_post pending;
	struct rt_timer rt_timer;
	struct hrtimer linux_timer;
	int cpu, helper;
	bool ready, answered, replayed, ipi, shot, ticked, done;
};

static DEFINE_PER_CPU(struct test, tests);
static int hotplug_state;
static void (*off_fn)(void);

struct patience {
	u64 last, spent;
};

/* Is there time left? Context: any. */
static bool patient(struct patience *p)
{
	u64 now = rt_get_time();

	if (p->last)
		p->spent += min(now - p->last, GAP_NS);
	p->last = now;
	cpu_relax();
	pl_dally();
	return p->spent < LIMIT_NS;
}

static bool patient_for_ipi(void *p)
{
	return patient(p);
}

/* ---- what comes ---- */

static void post_comes(struct rt_post *post)
{
	WRITE_ONCE(container_of(post, struct test, pending)->replayed, true);
}

static void shot_comes(struct rt_timer *timer)
{
	WRITE_ONCE(container_of(timer, struct test, rt_timer)->shot, true);
}

static enum hrtimer_restart tick_comes(struct hrtimer *timer)
{
	WRITE_ONCE(container_of(timer, struct test, linux_timer)->ticked, true);
	return HRTIMER_NORESTART;
}

/* ---- the parts. Context: Linux's hard irq, or interrupts off: Linux is stalled. ---- */

/* On the helper. */
static void send(void *arg)
{
	struct patience p = {};
	struct test *t = arg;

	while (!READ_ONCE(t->ready) && patient(&p))
		;
	pl_ipi(t->cpu);
}

static void test_ipi(struct test *t)
{
	struct patience p = {};
	int err;

	if (t->helper != t->cpu)
		smp_call_function_single_async(t->helper, &t->send);
	do {
		err = pl_ipi_test(t->helper == t->cpu, &t->ready, patient_for_ipi, &p);
	} while (err == -EAGAIN && patient(&p));
	t->ipi = !err;
}

static void start(void *arg)
{
	struct patience p = {};
	struct test *t = arg;

	t->answered = true;
	rt_post(&t->pending);
	while (!pl_logged() && patient(&p))
		;
	test_ipi(t);
	rt_timer_start(&t->rt_timer, rt_get_time() + SHOT_NS);
	hrtimer_start(&t->linux_timer, ns_to_ktime(SHOT_NS), HRTIMER_MODE_REL_PINNED_HARD);
	/* Pairs with the acquire in wait_for(). */
	smp_store_release(&t->done, true);
}

/* ---- one CPU ---- */

static struct test *prepare(int cpu)
{
	struct test *t = per_cpu_ptr(&tests, cpu);
	int helper = cpumask_next(cpu, cpu_online_mask);

	if (helper >= nr_cpu_ids)
		helper = cpumask_first(cpu_online_mask);
	*t = (struct test) { .cpu = cpu, .helper = helper, .rt_timer.fn = shot_comes };
	INIT_CSD(&t->start, start, t);
	INIT_CSD(&t->send, send, t);
	rt_post_init(&t->pending, post_comes);
	compat_hrtimer_setup(&t->linux_timer, tick_comes, CLOCK_MONOTONIC,
			     HRTIMER_MODE_REL_PINNED_HARD);
	return t;
}

static void wait_for(const bool *what)
{
	struct patience p = {};

	while (!smp_load_acquire(what) && patient(&p))
		;
}

/* NULL, or what did not come. */
static const char *missing(const struct test *t)
{
	if (!READ_ONCE(t->answered))
		return "an interrupt that Linux sent it";
	if (!READ_ONCE(t->replayed))
		return "the replay of an interrupt that came while Linux was stalled";
	if (!READ_ONCE(t->ipi))
		return "an RT interrupt from another CPU";
	if (!READ_ONCE(t->shot))
		return "the shot of an RT timer";
	return READ_ONCE(t->ticked) ? NULL : "the shot of a timer of Linux's";
}

static int judge(struct test *t)
{
	const char *what;

	wait_for(&t->shot);
	wait_for(&t->ticked);
	what = missing(t);
	if (!what)
		return 0;
	pr_err("self-test failed: CPU %d did not get %s within %llu ms; everything is switched off again\n",
	       t->cpu, what, LIMIT_NS / NSEC_PER_MSEC);
	return -EIO;
}

int rt_selftest(void)
{
	int cpu, err = 0;

	if (pl_hosted())
		return 0;
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct test *t = prepare(cpu);

		smp_call_function_single_async(cpu, &t->start);
		wait_for(&t->done);
	}
	for_each_online_cpu(cpu)
		err = err ?: judge(per_cpu_ptr(&tests, cpu));
	cpus_read_unlock();
	return err;
}

void rt_selftest_end(void)
{
	int cpu;

	/* Lost, it would keep all others of its CPU waiting. */
	pl_kick_posts();
	for_each_possible_cpu(cpu) {
		struct test *t = per_cpu_ptr(&tests, cpu);

		if (!t->rt_timer.fn)
			continue;
		rt_post_sync(&t->pending);
		rt_timer_cancel(&t->rt_timer);
		hrtimer_cancel(&t->linux_timer);
	}
}

/* ---- CPUs that come ---- */

static void switch_off(struct work_struct *work)
{
	off_fn();
}

static DECLARE_WORK(off_work, switch_off);

/* Context: Linux, the CPU's own hotplug thread; after the pipeline's own. */
static int come(unsigned int cpu)
{
	struct test *t;
	int err;

	if (!pl_active())
		return 0;
	t = prepare(cpu);
	smp_call_function_single_async(cpu, &t->start);
	wait_for(&t->done);
	err = judge(t);
	if (err) {
		/* They would keep the CPU from going. */
		rt_timer_cancel(&t->rt_timer);
		hrtimer_cancel(&t->linux_timer);
		/* Not from here: others wait for the hotplug lock. */
		schedule_work(&off_work);
	}
	return err;
}

int rt_selftest_watch(void (*off)(void))
{
	int err;

	if (pl_hosted())
		return 0;
	off_fn = off;
	err = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "tactus:selftest", come, NULL);
	if (err < 0)
		return err;
	hotplug_state = err;
	return 0;
}

void rt_selftest_ignore(void)
{
	if (hotplug_state)
		cpuhp_remove_state_nocalls(hotplug_state);
	hotplug_state = 0;
	flush_work(&off_work);
}
