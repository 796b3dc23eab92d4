// SPDX-License-Identifier: GPL-2.0-only
/*
 * What RTAI's own three tests measure, for their users' columns: how late a task of 100 us is
 * (latency), the same above two longer tasks that compute for half of their periods (preempt), and
 * the time of a switch by each of three calls (switches). Records go to FIFO 3.
 */
#include <linux/module.h>
#include <linux/kernel.h>
#include <asm/rtai.h>
#include <rtai_sched.h>
#include <rtai_fifos.h>
#include <rtai_sem.h>
#include <rtai_msg.h>

MODULE_LICENSE("GPL");

#define PERIOD_NS 100000
#define FAST 4			/* periods */
#define SLOW 24
#define WINDOW 1000		/* releases a record */
#define TASKS 10
#define ROUNDS 100		/* and never so long that the watchdog has to stop it */

struct record { long long values[5]; };

static char *what = "latency";
module_param(what, charp, 0444);

static RT_TASK top, fast, slow, peers[TASKS];
static SEM sem;
static RTIME first;
static int period, mode;
static long long jitter[2];

static void watch(long unused)
{
	RTIME expected = first - period;

	while (1) {
		struct record record = { { RT_TIME_END, 0, -RT_TIME_END, 0, 0 } };
		long long sum = 0, overruns = 0;
		int i;

		for (i = 0; i < WINDOW; i++) {
			long long late;

			expected += period;
			overruns += rt_task_wait_period() != 0;
			late = count2nano(rt_get_time() - expected - period);
			record.values[0] = late < record.values[0] ? late : record.values[0];
			record.values[2] = late > record.values[2] ? late : record.values[2];
			sum += late;
		}
		record.values[1] = sum / WINDOW;
		record.values[3] = mode == 'p' ? jitter[0] : overruns;
		record.values[4] = jitter[1];
		rtf_put(3, &record, sizeof(record));
	}
}

static void compute(long which)
{
	long long length = (which ? SLOW : FAST) * PERIOD_NS, before = 0;

	while (1) {
		long long now = rt_get_time_ns(), off = now - before - length;

		if (off < 0)
			off = -off;
		if (before && off > jitter[which])
			jitter[which] = off;
		before = now;
		rt_busy_sleep(length / 2);
		rt_task_wait_period();
	}
}

static void follow(long which)
{
	unsigned int word;

	for (;;) {
		if (mode == 0)
			rt_task_suspend(&peers[which]);
		else if (mode == 1)
			rt_sem_wait(&sem);
		else
			rt_return(rt_receive(0, &word), 0);
	}
}

static void lead(long unused)
{
	struct record record = { { 2 * TASKS * ROUNDS } };
	unsigned int word;
	int i, k;

	for (mode = 0; mode < 3; mode++) {
		RTIME began;

		/* They wait by the call of before, or by none yet. */
		for (k = 0; mode && k < TASKS; k++) {
			if (mode == 1)
				rt_task_resume(&peers[k]);
			else
				rt_sem_signal(&sem);
		}
		began = rt_get_time_ns();
		for (i = 0; i < ROUNDS; i++) {
			for (k = 0; k < TASKS; k++) {
				if (mode == 0)
					rt_task_resume(&peers[k]);
				else if (mode == 1)
					rt_sem_signal(&sem);
				else
					rt_rpc(&peers[k], 0, &word);
			}
		}
		record.values[1 + mode] = rt_get_time_ns() - began;
	}
	rtf_put(3, &record, sizeof(record));
	rt_task_suspend(rt_whoami());
}

int init_module(void)
{
	int k;

	rtf_create(3, 4096);
	rt_set_oneshot_mode();
	period = start_rt_timer(nano2count(PERIOD_NS));
	first = rt_get_time() + 100 * period;
	if (*what == 's') {
		rt_sem_init(&sem, 0);
		rt_task_init(&top, lead, 0, 4000, 1, 0, 0);
		for (k = 0; k < TASKS; k++) {
			rt_task_init(&peers[k], follow, k, 4000, 0, 0, 0);
			rt_task_resume(&peers[k]);
		}
		return rt_task_resume(&top);
	}
	mode = *what;
	rt_task_init(&top, watch, 0, 4000, 0, 0, 0);
	rt_task_init(&fast, compute, 0, 4000, 1, 0, 0);
	rt_task_init(&slow, compute, 1, 4000, 2, 0, 0);
	if (mode == 'p') {
		rt_task_make_periodic(&fast, first, FAST * period);
		rt_task_make_periodic(&slow, first, SLOW * period);
	}
	return rt_task_make_periodic(&top, first, period);
}

void cleanup_module(void)
{
	int k;

	stop_rt_timer();
	rt_task_delete(&top);
	if (*what == 's') {
		for (k = 0; k < TASKS; k++)
			rt_task_delete(&peers[k]);
		rt_sem_delete(&sem);
	} else {
		rt_task_delete(&fast);
		rt_task_delete(&slow);
	}
	rtf_destroy(3);
}
