// SPDX-License-Identifier: GPL-2.0-only
/*
 * RTAI's calls between two CPUs: two tasks, one on each, do each part together and say how often it
 * went wrong. Between the parts they meet at a barrier.
 */
#include <linux/module.h>
#include <linux/kernel.h>
#include <asm/rtai.h>
#include <rtai_sched.h>
#include <rtai_sem.h>
#include <rtai_mbx.h>
#include <rtai_tbx.h>
#include <rtai_msg.h>
#include <rtai_bits.h>
#include <rtai_rwl.h>
#include <rtai_spl.h>

MODULE_LICENSE("GPL");

#define ROUNDS 200

static RT_TASK tasks[2];
static SEM ping, pong, meet, lock;
static MBX mbx;
static TBX tbx;
static CND cond;
static BITS bits;
static RWL rwl;
static SPL spl;
static volatile int counter, other, slot, elsewhere;

static int semaphores(int role)
{
	int i, wrong = 0;

	for (i = 0; i < ROUNDS; i++) {
		if (!role) {
			counter = i;
			rt_sem_signal(&ping);
			rt_sem_wait(&pong);
			wrong += counter != -i;
		} else {
			rt_sem_wait(&ping);
			wrong += counter != i;
			counter = -i;
			rt_sem_signal(&pong);
		}
	}
	return wrong;
}

/* A lost update shows. */
static int mutex(int role)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		int seen;

		rt_sem_wait(&lock);
		seen = slot;
		rt_busy_sleep(1000);
		slot = seen + 1;
		rt_sem_signal(&lock);
	}
	rt_sem_wait_barrier(&meet);
	return slot != 2 * ROUNDS;
}

static int spinning(int role)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		int seen;

		rt_spl_lock(&spl);
		seen = elsewhere;
		rt_busy_sleep(1000);
		elsewhere = seen + 1;
		rt_spl_unlock(&spl);
	}
	rt_sem_wait_barrier(&meet);
	return elsewhere != 2 * ROUNDS;
}

static int readers(int role)
{
	int i, wrong = 0;

	for (i = 0; i < ROUNDS; i++) {
		if (!role) {
			rt_rwl_wrlock(&rwl);
			counter++;
			rt_busy_sleep(2000);
			other = counter;
		} else {
			int seen;

			rt_rwl_rdlock(&rwl);
			seen = counter;
			rt_busy_sleep(2000);
			wrong += seen != other || seen != counter;
		}
		rt_rwl_unlock(&rwl);
	}
	return wrong;
}

static int mailboxes(int role)
{
	int i, value, wrong = 0;

	for (i = 0; i < ROUNDS; i++) {
		value = i;
		if (!role) {
			wrong += rt_mbx_send(&mbx, &value, sizeof(value)) != 0;
		} else {
			wrong += rt_mbx_receive(&mbx, &value, sizeof(value)) != 0;
			wrong += value != i;
		}
	}
	return wrong;
}

static int typed(int role)
{
	int i, value, wrong = 0;

	for (i = 0; i < ROUNDS; i++) {
		value = i;
		if (!role) {
			wrong += rt_tbx_send(&tbx, &value, sizeof(value)) != 0;
		} else {
			wrong += rt_tbx_receive(&tbx, &value, sizeof(value)) != 0;
			wrong += value != i;
		}
	}
	return wrong;
}

static int calls(int role)
{
	unsigned int word = 0;
	int i, wrong = 0;

	for (i = 0; i < ROUNDS; i++) {
		if (!role) {
			rt_rpc(&tasks[1], i, &word);
			wrong += word != 2 * i;
		} else {
			RT_TASK *from = rt_receive(&tasks[0], &word);

			wrong += from != &tasks[0] || word != i;
			rt_return(from, 2 * word);
		}
	}
	return wrong;
}

static int conditions(int role)
{
	int i, wrong = 0;

	for (i = 1; i <= ROUNDS; i++) {
		rt_sem_wait(&lock);
		while ((counter != 0) == !role)
			rt_cond_wait(&cond, &lock);
		if (role)
			wrong += counter != i;
		counter = role ? 0 : i;
		rt_cond_signal(&cond);
		rt_sem_signal(&lock);
	}
	return wrong;
}

static int flags(int role)
{
	unsigned long found;
	int i, wrong = 0;

	for (i = 0; i < ROUNDS; i++) {
		unsigned long mask = 1UL << i % 31;

		if (!role) {
			rt_bits_signal(&bits, SET_BITS, mask);
			rt_sem_wait(&pong);
		} else {
			rt_bits_wait(&bits, ALL_SET, mask, CLR_BITS, mask, &found);
			/* What is left when its own bits are cleared. */
			wrong += found != 0;
			rt_sem_signal(&pong);
		}
	}
	return wrong;
}

static const struct {
	const char *name;
	int (*fn)(int role);
} parts[] = {
	{ "semaphores", semaphores }, { "mutex", mutex }, { "spinning", spinning },
	{ "readers", readers }, { "mailboxes", mailboxes }, { "typed", typed }, { "calls", calls },
	{ "conditions", conditions }, { "flags", flags },
};

static void run(long role)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		int wrong;

		rt_sem_wait_barrier(&meet);
		counter = other = 0;
		rt_sem_wait_barrier(&meet);
		wrong = parts[i].fn(role);
		rt_printk("cpus: %s on %d wrong %d\n", parts[i].name, hard_cpu_id(), wrong);
	}
	rt_task_suspend(rt_whoami());
}

int init_module(void)
{
	long i;

	rt_set_oneshot_mode();
	start_rt_timer(nano2count(1000000));
	rt_sem_init(&ping, 0);
	rt_sem_init(&pong, 0);
	rt_sem_init(&meet, 2);
	rt_typed_sem_init(&lock, 1, RES_SEM);
	rt_mbx_init(&mbx, 10);
	rt_tbx_init(&tbx, 64, 0);
	rt_cond_init(&cond);
	rt_bits_init(&bits, 0);
	rt_rwl_init(&rwl);
	rt_spl_init(&spl);
	for (i = 0; i < 2; i++)
		rt_task_init_cpuid(&tasks[i], run, i, 4000, 1, 0, 0, i);
	for (i = 0; i < 2; i++)
		rt_task_resume(&tasks[i]);
	return 0;
}

void cleanup_module(void)
{
	stop_rt_timer();
	rt_task_delete(&tasks[0]);
	rt_task_delete(&tasks[1]);
	rt_spl_delete(&spl);
	rt_rwl_delete(&rwl);
	rt_bits_delete(&bits);
	rt_cond_delete(&cond);
	rt_tbx_delete(&tbx);
	rt_mbx_delete(&mbx);
	rt_sem_delete(&lock);
	rt_sem_delete(&meet);
	rt_sem_delete(&pong);
	rt_sem_delete(&ping);
}
