// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the manner of RTAI: a periodic task of 100 us measures how late it is and puts a record
 * every 1000 periods into a FIFO; two tasks switch by messages, a semaphore, and a mailbox.
 */
#include <linux/module.h>
#include <linux/kernel.h>
#include <asm/rtai.h>
#include <rtai_sched.h>
#include <rtai_fifos.h>
#include <rtai_sem.h>
#include <rtai_mbx.h>
#include <rtai_msg.h>

MODULE_LICENSE("GPL");

#define PERIOD 100000
#define LOOPS 1000

static RT_TASK late, asker, server;
static SEM sem, resource;
static MBX mbx;
static RTIME expected;
static int period;

struct sample { long long min, max, average; int index, overruns; };

static void measure(long unused)
{
	struct sample sample = { 0 };
	double mean = 0;

	while (1) {
		int i;

		sample.min = RT_TIME_END;
		sample.max = -RT_TIME_END;
		mean = 0;
		for (i = 0; i < LOOPS; i++) {
			long long diff;

			expected += period;
			if (rt_task_wait_period())
				sample.overruns++;
			diff = count2nano(rt_get_time() - expected);
			if (diff < sample.min)
				sample.min = diff;
			if (diff > sample.max)
				sample.max = diff;
			mean += (double)diff / LOOPS;
		}
		sample.average = mean;
		sample.index++;
		rtf_put(3, &sample, sizeof(sample));
	}
}

static void serve(long arg)
{
	unsigned int msg;
	RT_TASK *from;
	char text[10];
	int left;

	while ((from = rt_receive(0, &msg)) && msg)
		rt_return(from, msg + arg);
	rt_sem_wait(&sem);
	left = rt_mbx_receive(&mbx, text, 10);
	rt_printk("late: got %.10s left %d prio %d\n", text, left, rt_change_prio(rt_whoami(), 7));
	rt_task_suspend(rt_whoami());
}

static void ask(long arg)
{
	unsigned int reply = 0, sum = 0, i;

	for (i = 1; i <= 10; i++) {
		rt_rpc(&server, i, &reply);
		sum += reply;
	}
	rt_send(&server, 0);
	rt_sem_wait(&resource);
	rt_sem_wait(&resource);
	rt_sem_signal(&resource);
	rt_sem_signal(&resource);
	i = rt_sem_wait_timed(&sem, nano2count(1000000));
	rt_printk("late: sum %u timed %x if %d\n", sum, i, rt_sem_wait_if(&sem));
	rt_sem_signal(&sem);
	rt_mbx_send(&mbx, "0123456789", 10);
}

int init_module(void)
{
	rt_set_oneshot_mode();
	period = start_rt_timer(nano2count(PERIOD));
	rtf_create(3, 4096);
	rt_sem_init(&sem, 0);
	rt_typed_sem_init(&resource, 1, RES_SEM);
	rt_mbx_init(&mbx, 4);
	rt_task_init(&late, measure, 0, 4000, 0, 1, 0);
	rt_task_init(&server, serve, 100, 4000, 3, 0, 0);
	rt_task_init(&asker, ask, 0, 4000, 2, 0, 0);
	rt_register(nam2num("LATE"), &late, IS_TASK, 0);
	expected = rt_get_time() + 10 * period;
	rt_task_make_periodic(&late, expected, period);
	rt_task_resume(&server);
	rt_task_resume(&asker);
	return rt_get_adr(nam2num("LATE")) == &late ? 0 : -EIO;
}

void cleanup_module(void)
{
	stop_rt_timer();
	rt_task_delete(&late);
	rt_task_delete(&asker);
	rt_task_delete(&server);
	rt_mbx_delete(&mbx);
	rt_sem_delete(&sem);
	rtf_destroy(3);
}
