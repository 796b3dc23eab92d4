// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the manner of RTAI: shared memory, typed mailboxes, tasklets and timers, service requests,
 * conditions, a broadcast, names, priorities. Each part says a line; the test compares them.
 */
#include <linux/module.h>
#include <asm/rtai.h>
#include <rtai_sched.h>
#include <rtai_sem.h>
#include <rtai_tbx.h>
#include <rtai_shm.h>
#include <rtai_tasklets.h>
#include <rtai_nam2num.h>

MODULE_LICENSE("GPL");

struct shared { int from_kernel, from_process; char text[32]; };

static RT_TASK taker, giver, waiters[2];
static TBX box;
static SEM gate, mutex;
static CND cond;
static struct rt_tasklet_struct timer, tasklet;
static struct shared *shared;
static int fired, executed, srq, asked, state, passed;

static void take(long unused)
{
	char text[16];
	int left, i;

	rt_sleep(nano2count(3000000));
	for (i = 0; i < 3; i++) {
		memset(text, 0, sizeof(text));
		left = rt_tbx_receive(&box, text, sizeof(text) - 1);
		rt_printk("more: took %s left %d\n", text, left);
	}
	left = rt_tbx_receive_timed(&box, text, 8, nano2count(1000000));
	rt_printk("more: empty box leaves %d of 8, if %d\n", left,
		  rt_tbx_receive_if(&box, text, 8));
	left = rt_tbx_receive(&box, text, 8);
	rt_printk("more: broadcast left %d\n", left);
	rt_sem_wait(&mutex);
	while (state < 2)
		rt_cond_wait(&cond, &mutex);
	rt_sem_signal(&mutex);
	rt_printk("more: state %d\n", state);
	rt_task_suspend(rt_whoami());
}

static void give(long unused)
{
	int sent;

	rt_printk("more: too long %d\n", rt_tbx_send(&box, "", 100));
	rt_sleep(nano2count(1000000));
	/* 20 bytes hold two of these with their lengths; the urgent one goes to the front. */
	rt_tbx_send(&box, "one", 3);
	rt_tbx_send_if(&box, "two", 3);
	rt_printk("more: full %d\n", rt_tbx_send_if(&box, "three", 5));
	rt_tbx_send(&box, "three", 5);
	rt_sleep(nano2count(5000000));
	sent = rt_tbx_broadcast(&box, "all", 3);
	rt_printk("more: broadcast to %d\n", sent);
	rt_sleep(nano2count(1000000));
	rt_sem_wait(&mutex);
	state = 1;
	rt_cond_signal(&cond);
	rt_sem_signal(&mutex);
	rt_sleep(nano2count(1000000));
	rt_sem_wait(&mutex);
	state = 2;
	rt_cond_broadcast(&cond);
	rt_sem_signal(&mutex);
	rt_sleep(nano2count(1000000));
	rt_sem_broadcast(&gate);
	rt_sleep(nano2count(1000000));
	rt_printk("more: passed %d\n", passed);
	rt_pend_linux_srq(srq);
	rt_exec_tasklet(&tasklet);
	shared->from_kernel = 4711;
	rt_task_suspend(rt_whoami());
}

static void wait_at_gate(long unused)
{
	rt_sem_wait(&gate);
	passed++;
}

static void on_timer(unsigned long data)
{
	fired += data;
}

static void on_tasklet(unsigned long data)
{
	executed = data;
}

static void on_srq(void)
{
	asked++;
}

int init_module(void)
{
	char name[7];
	int i;

	shared = rt_shm_alloc(nam2num("MORE"), sizeof(*shared), USE_VMALLOC);
	if (!shared || rt_shm_alloc(nam2num("MORE"), 1 << 30, USE_VMALLOC))
		return -ENOMEM;
	strcpy(shared->text, "of the kernel");
	srq = rt_request_srq(0, on_srq, NULL);
	rt_insert_tasklet(&tasklet, 0, on_tasklet, 99, 7, 0);
	rt_insert_timer(&timer, 0, rt_get_time() + nano2count(1000000), nano2count(1000000),
			on_timer, 1, 0);
	rt_tbx_init(&box, 20, 0);
	rt_typed_sem_init(&gate, 0, CNT_SEM);
	rt_typed_sem_init(&mutex, 1, RES_SEM);
	rt_cond_init(&cond);
	rt_task_init(&taker, take, 0, 4000, 2, 0, 0);
	rt_task_init(&giver, give, 0, 4000, 3, 0, 0);
	for (i = 0; i < 2; i++) {
		rt_task_init(&waiters[i], wait_at_gate, 0, 4000, 4, 0, 0);
		rt_task_resume(&waiters[i]);
	}
	num2nam(nam2num("a_b9$"), name);
	printk("more: name %s found %d\n", name, rt_find_tasklet_by_id(7) == &tasklet);
	rt_task_resume(&taker);
	rt_task_resume(&giver);
	return 0;
}

void cleanup_module(void)
{
	rt_remove_timer(&timer);
	rt_remove_tasklet(&tasklet);
	rt_task_delete(&taker);
	rt_task_delete(&giver);
	for (int i = 0; i < 2; i++)
		rt_task_delete(&waiters[i]);
	printk("more: fired %s executed %d srq %d\n", fired >= 10 ? "enough" : "seldom", executed,
	       asked);
	printk("more: process said %s %d\n", shared->text, shared->from_process);
	rt_free_srq(srq);
	rt_tbx_delete(&box);
	printk("more: freed %d\n", rt_shm_free(nam2num("MORE")));
	printk("more: freed again %d\n", rt_shm_free(nam2num("MORE")));
}
