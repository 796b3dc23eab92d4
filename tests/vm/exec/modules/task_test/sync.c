// SPDX-License-Identifier: GPL-2.0-only
/* Mutexes, semaphores, mailboxes. */
#include <linux/smp.h>
#include <linux/workqueue.h>
#include <rt/sync.h>

#include "task_test.h"

static struct rt_mtx mtx[2];
static struct rt_sem sem;
static struct rt_mbx mbx;
static u32 memory[4];

static void busy_us(int us)
{
	RTIME until = rt_get_time() + us * 1000LL;

	while (rt_get_time() < until)
		;
}

/* ---- arguments and contexts ---- */

static void refused_in_task(int data)
{
	struct rt_mtx none = {};
	u32 message = 0;

	results[0] = rt_mtx_lock(NULL);
	results[1] = rt_mtx_lock(&none);
	results[2] = rt_mtx_unlock(&none);
	results[3] = rt_mtx_unlock(&mtx[0]);
	results[4] = rt_mtx_lock(&mtx[0]);
	results[5] = rt_mtx_lock(&mtx[0]);
	results[6] = rt_mtx_unlock(&mtx[0]);
	results[7] = rt_sem_wait_until(&sem, 0);
	results[8] = rt_sem_wait(NULL);
	results[9] = rt_mbx_receive_until(&mbx, &message, rt_get_time() + MS);
	results[10] = rt_mbx_receive_until(&mbx, NULL, 0);
	results[11] = rt_sem_wait_until(&sem, rt_get_time() + MS);
	note(1);
}

void test_sync_arguments(void)
{
	u32 message = 5;

	forget();
	EXPECT(rt_mtx_init(NULL), -EINVAL);
	EXPECT(rt_mtx_init(&mtx[0]), 0);
	EXPECT(rt_mtx_lock(&mtx[0]), -EPERM);
	EXPECT(rt_mtx_unlock(&mtx[0]), -EPERM);
	EXPECT(rt_sem_init(NULL, 0), -EINVAL);
	EXPECT(rt_sem_init(&sem, -1), -EINVAL);
	EXPECT(rt_sem_init(&sem, RT_SEM_MAX), 0);
	EXPECT(rt_sem_wait(&sem), -EPERM);
	EXPECT(rt_sem_post(&sem), -ENOSPC);
	EXPECT(rt_sem_post(NULL), -EINVAL);
	EXPECT(rt_sem_destroy(&sem), 0);
	EXPECT(rt_sem_destroy(&sem), -EINVAL);
	EXPECT(rt_sem_post(&sem), -EINVAL);
	EXPECT(rt_sem_init(&sem, 0), 0);
	EXPECT(rt_mbx_init(NULL, memory, 4, 4), -EINVAL);
	EXPECT(rt_mbx_init(&mbx, NULL, 4, 4), -EINVAL);
	EXPECT(rt_mbx_init(&mbx, memory, 0, 4), -EINVAL);
	EXPECT(rt_mbx_init(&mbx, memory, RT_MBX_MAX_BYTES + 1, 4), -EINVAL);
	EXPECT(rt_mbx_init(&mbx, memory, 4, 0), -EINVAL);
	EXPECT(rt_mbx_init(&mbx, memory, 4, 4), 0);
	EXPECT(rt_mbx_send_until(&mbx, NULL, 0), -EINVAL);
	EXPECT(rt_mbx_send_until(NULL, &message, 0), -EINVAL);
	EXPECT(rt_mbx_receive_until(&mbx, &message, 0), -ETIMEDOUT);
	EXPECT(rt_mbx_receive_until(&mbx, &message, RT_NO_DEADLINE), -EPERM);
	EXPECT(rt_task_init(&tasks[0], refused_in_task, 0, STACK, 1), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 1), true);
	EXPECT(results[0], -EINVAL);
	EXPECT(results[1], -EINVAL);
	EXPECT(results[2], -EINVAL);
	EXPECT(results[3], -EPERM);
	EXPECT(results[4], 0);
	EXPECT(results[5], -EDEADLK);
	EXPECT(results[6], 0);
	EXPECT(results[7], -ETIMEDOUT);
	EXPECT(results[8], -EINVAL);
	EXPECT(results[9], -ETIMEDOUT);
	EXPECT(results[10], -EINVAL);
	EXPECT(results[11], -ETIMEDOUT);
	EXPECT(rt_mtx_destroy(&mtx[0]), 0);
	EXPECT(rt_mtx_destroy(&mtx[0]), -EINVAL);
	EXPECT(rt_mbx_destroy(&mbx), 0);
	EXPECT(rt_mbx_send_until(&mbx, &message, 0), -EINVAL);
	delete_all();
}

/* ---- Pathfinder ---- */

/* The lowly one owns the mutex for 2 ms of its CPU time, whoever else is there. */
static void low(int data)
{
	rt_mtx_lock(&mtx[0]);
	note(data);
	busy_us(2000);
	note(data);
	rt_mtx_unlock(&mtx[0]);
	note(data);
}

static void high(int data)
{
	RTIME asked = rt_get_time();

	results[0] = rt_mtx_lock(&mtx[0]);
	moments[0] = rt_get_time() - asked;
	note(data);
	rt_mtx_unlock(&mtx[0]);
}

static void middle(int data)
{
	busy_us(20000);
	note(data);
}

/* low locks at 1 ms, high asks and middle comes at 2 ms: high waits 1 ms, not 21. */
/* With a @budget, the lowly one's is used up in its section: it finishes that on credit. */
static void inherit(RTIME budget)
{
	static void (*const fn[])(int) = { low, middle, high };
	static const int want[] = { 1, 1, 3, 2, 1 };
	/* What follows it has to wait for. */
	int notes = budget ? 4 : 5;
	RTIME start;

	forget();
	rt_mtx_init(&mtx[0]);
	for (int i = 0; i < 3; i++) {
		EXPECT(rt_task_init(&tasks[i], fn[i], i + 1, STACK, 30 - 10 * i), 0);
		EXPECT(rt_task_set_cpu(&tasks[i], 0), 0);
	}
	EXPECT(rt_task_set_budget(&tasks[0], budget, RT_BUDGET_THROTTLE), 0);
	start = rt_get_time();
	for (int i = 0; i < 3; i++)
		EXPECT(rt_task_make_periodic(&tasks[i], start + (i ? 2 : 1) * MS, 1000 * MS), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == notes), true);
	for (int i = 0; i < notes; i++)
		EXPECT(order[i], want[i]);
	EXPECT(results[0], 0);
	EXPECT(moments[0] > 900000 && moments[0] < 1100000, true);
	EXPECT(tasks[0].throttled, !!budget);
	delete_all();
	EXPECT(rt_mtx_destroy(&mtx[0]), 0);
}

void test_priority_inheritance(void)
{
	inherit(0);
	inherit(MS / 2);
}

static void dies_owning(int data)
{
	rt_mtx_lock(&mtx[0]);
	note(data);
	rt_task_suspend(rt_task_self());
}

static void inherits_from_dead(int data)
{
	results[0] = rt_mtx_lock(&mtx[0]);
	results[1] = rt_mtx_unlock(&mtx[0]);
	results[2] = rt_mtx_lock(&mtx[0]);
	note(data);
	results[3] = rt_mtx_lock(&mtx[1]);
	note(data);
}

void test_owner_dies(void)
{
	forget();
	rt_mtx_init(&mtx[0]);
	EXPECT(rt_task_init(&tasks[0], dies_owning, 1, STACK, 5), 0);
	EXPECT(rt_task_init(&tasks[1], inherits_from_dead, 2, STACK, 4), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 1), true);
	EXPECT(rt_task_wakeup(&tasks[1]), 0);
	EXPECT(UNTIL(tasks[1].pending), true);
	EXPECT(rt_task_delete(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 3), true);
	EXPECT(results[0], -EOWNERDEAD);
	EXPECT(results[1], 0);
	EXPECT(results[2], 0);
	EXPECT(results[3], -EINVAL);
	/* The second has ended by itself, owning. */
	UNTIL(!READ_ONCE(tasks[1].magic));
	EXPECT(mtx[0].owner == NULL, true);
	EXPECT(rt_mtx_destroy(&mtx[0]), 0);
	delete_all();
}

/* Deleted while it waits; destroyed while somebody waits. */
static void waits(int data)
{
	results[data] = rt_sem_wait(&sem);
	note(data);
}

void test_sync_deletion(void)
{
	forget();
	rt_sem_init(&sem, 0);
	for (int i = 0; i < 3; i++) {
		EXPECT(rt_task_init(&tasks[i], waits, i, STACK, 1 + i), 0);
		EXPECT(rt_task_wakeup(&tasks[i]), 0);
		EXPECT(UNTIL(tasks[i].pending), true);
	}
	EXPECT(rt_task_delete(&tasks[0]), 0);
	EXPECT(rt_sem_post(&sem), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 1), true);
	EXPECT(results[1], 0);
	EXPECT(rt_sem_destroy(&sem), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 2), true);
	EXPECT(results[2], -EIDRM);
	delete_all();
}

/* ---- messages ---- */

#define MESSAGES 500

static void producer(int data)
{
	for (u32 i = 0; i < MESSAGES; i++)
		results[0] = rt_mbx_send_until(&mbx, &i, RT_NO_DEADLINE);
	note(data);
}

static void consumer(int data)
{
	u32 got;

	for (u32 i = 0; i < MESSAGES; i++) {
		results[1] = rt_mbx_receive_until(&mbx, &got, RT_NO_DEADLINE);
		count += got == i;
	}
	note(data);
}

static void mailbox(int consumer_cpu)
{
	forget();
	rt_mbx_init(&mbx, memory, sizeof(u32), 3);
	EXPECT(rt_task_init(&tasks[0], producer, 1, STACK, 5), 0);
	EXPECT(rt_task_set_cpu(&tasks[0], 0), 0);
	EXPECT(rt_task_init(&tasks[1], consumer, 2, STACK, 4), 0);
	EXPECT(rt_task_set_cpu(&tasks[1], consumer_cpu), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(rt_task_wakeup(&tasks[1]), 0);
	EXPECT(UNTIL(tasks[0].state == 0 && tasks[1].state == 0), true);
	EXPECT(count, MESSAGES);
	EXPECT(results[0], 0);
	EXPECT(results[1], 0);
	delete_all();
	EXPECT(rt_mbx_destroy(&mbx), 0);
}

void test_mailbox(void)
{
	mailbox(0);
}

void test_remote_mailbox(void)
{
	for (int i = 0; i < 5; i++)
		mailbox(1);
}

/* Post from Linux, from an RT timer; wait in a task. */
static void counts_posts(int data)
{
	while (!rt_sem_wait(&sem))
		WRITE_ONCE(count, count + 1);
	note(data);
}

static void post_in_timer(struct rt_timer *timer)
{
	rt_sem_post(&sem);
	if (++results[5] < 100)
		rt_timer_start(timer, timer->expires + MS / 10);
}

void test_semaphore_from_anywhere(void)
{
	forget();
	rt_sem_init(&sem, 3);
	results[5] = 0;
	EXPECT(rt_task_init(&tasks[0], counts_posts, 1, STACK, 1), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(count) == 3), true);
	timers[0] = (struct rt_timer) { .fn = post_in_timer };
	EXPECT(rt_timer_start(&timers[0], rt_get_time() + MS), 0);
	for (int i = 0; i < 50; i++)
		EXPECT(rt_sem_post(&sem), 0);
	EXPECT(UNTIL(READ_ONCE(count) == 153), true);
	EXPECT(rt_sem_destroy(&sem), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 1), true);
	EXPECT(count, 153);
	delete_all();
}

/* ---- two CPUs ---- */

/* Both CPUs' tasks add to one number under one mutex; some waits are given up. */
static int shared;

static void adds(int data)
{
	for (int i = 0; i < 500; i++) {
		RTIME until = i % 5 ? RT_NO_DEADLINE : rt_get_time() + 2000;
		int seen;

		if (rt_mtx_lock_until(&mtx[0], until))
			continue;
		seen = READ_ONCE(shared);
		for (int spin = 0; spin < 20; spin++)
			cpu_relax();
		WRITE_ONCE(shared, seen + 1);
		results[data]++;
		rt_mtx_unlock(&mtx[0]);
	}
}

void test_remote_mutex(void)
{
	forget();
	shared = 0;
	memset(results, 0, sizeof(results));
	rt_mtx_init(&mtx[0]);
	for (int i = 0; i < 4; i++) {
		EXPECT(rt_task_init(&tasks[i], adds, i, STACK, 1 + i / 2), 0);
		EXPECT(rt_task_set_cpu(&tasks[i], i % 2), 0);
	}
	for (int i = 0; i < 4; i++)
		EXPECT(rt_task_wakeup(&tasks[i]), 0);
	EXPECT(UNTIL(!(tasks[0].state || tasks[1].state || tasks[2].state || tasks[3].state)), true);
	EXPECT(shared, results[0] + results[1] + results[2] + results[3]);
	EXPECT(shared >= 1600, true);
	delete_all();
	EXPECT(rt_mtx_destroy(&mtx[0]), 0);
}

/* As tasks come and go and wait, both CPUs at once. */
static void locks_and_dies(int data)
{
	rt_mtx_lock_until(&mtx[data % 2], rt_get_time() + MS / 2);
	rt_mtx_lock_until(&mtx[!(data % 2)], rt_get_time() + MS / 2);
	rt_sem_wait_until(&sem, rt_get_time() + MS);
	if (data & 4)
		rt_mtx_unlock(&mtx[0]);
}

void test_remote_sync_churn(void)
{
	forget();
	rt_mtx_init(&mtx[0]);
	rt_mtx_init(&mtx[1]);
	rt_sem_init(&sem, 0);
	for (int round = 0; round < 200; round++) {
		RT_TASK *t = &tasks[round % 8];

		rt_task_delete(t);
		EXPECT(rt_task_init(t, locks_and_dies, round, STACK, 1 + round % 3), 0);
		EXPECT(rt_task_set_cpu(t, round / 3 % 2), 0);
		EXPECT(rt_task_wakeup(t), 0);
		if (round % 3 == 0)
			rt_sem_post(&sem);
		if (round % 7 == 0)
			usleep_range(200, 400);
	}
	delete_all();
	EXPECT(mtx[0].owner == NULL && mtx[1].owner == NULL, true);
	EXPECT(!mtx[0].waiters.first && !mtx[1].waiters.first && !sem.waiters.first, true);
}
