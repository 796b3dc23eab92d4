// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs do things to the same object, again and again: what a race would break.
 *
 *	insmod duel.ko what=cancel rounds=200
 *
 * Load it on CPU 0. It ends with -EIO, and the log says what was wrong in which round, if something
 * was. Each round has a schedule of its own (mark.h), and each wait a limit far above the length of a
 * CPU's turn (schedule.c). tests/vm/explore runs it.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#include <rt/post.h>
#include <rt/sync.h>
#include <rt/task.h>
#include <rt/time.h>
#include <rt/timer.h>

#include "../../../harness/mark.h"

#define STACK 4096
#define US 1000LL

static char *what = "cancel";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "cancel, delete, wakeup, suspend, semaphore, mutex, mailbox, post or poke");

static int rounds = 200;
module_param(rounds, int, 0444);

static RT_TASK tasks[2];
static struct rt_timer timer;
static int count, round_now;

#define UNTIL(limit_ms, condition)					\
({									\
	int left_ = (limit_ms) * 20;					\
									\
	while (!(condition) && --left_)					\
		usleep_range(50, 60);					\
	left_ > 0;							\
})

/* From here on it is the next round: true while there is one. */
static bool another_round(void)
{
	if (++round_now > rounds)
		return false;
	next_schedule();
	return true;
}

static int wrong(const char *how)
{
	pr_err("duel: %s: round %d: %s\n", what, round_now, how);
	return -EIO;
}

static int new_task(RT_TASK *task, void (*fn)(int), int cpu)
{
	return rt_task_init(task, fn, 0, STACK, 1) ?: rt_task_set_cpu(task, cpu);
}

static void note(int unused)
{
	for (;;) {
		WRITE_ONCE(count, READ_ONCE(count) + 1);
		rt_task_suspend(rt_task_self());
	}
}

static void busy(int unused)
{
	for (;;)
		WRITE_ONCE(count, READ_ONCE(count) + 1);
}

/* A timer that always starts anew: its function runs no more when its cancel has returned. */

static void again(struct rt_timer *t)
{
	WRITE_ONCE(count, READ_ONCE(count) + 1);
	rt_timer_start(t, rt_get_time() + 2 * US);
}

static long start_timer(void *t)
{
	return rt_timer_start(t, rt_get_time() + 2 * US);
}

static int cancel(void)
{
	timer = (struct rt_timer) { .fn = again };
	while (another_round()) {
		int then;

		work_on_cpu(1, start_timer, &timer);
		udelay(round_now % 50);
		rt_timer_cancel(&timer);
		then = READ_ONCE(count);
		udelay(20);
		if (READ_ONCE(count) != then || rt_timer_cancel(&timer))
			return wrong("the timer went on after it was cancelled");
	}
	return 0;
}

/* A running task's stack is freed, and used again, when its CPU has left it. */
static int delete(void)
{
	while (another_round()) {
		int then = READ_ONCE(count), err;

		err = new_task(&tasks[0], busy, 1);
		if (err)
			return err;
		rt_task_wakeup(&tasks[0]);
		if (!UNTIL(100, READ_ONCE(count) != then))
			return wrong("the task did not start");
		rt_task_delete(&tasks[0]);
	}
	return 0;
}

/* A task is deleted by one CPU and woken up by another: it stays dead. */

static void wake(struct rt_timer *t)
{
	rt_task_wakeup(&tasks[0]);
	rt_timer_start(t, rt_get_time() + 2 * US);
}

static int wakeup(void)
{
	int err = 0;

	while (!err && another_round()) {
		err = new_task(&tasks[0], note, 1);
		if (err)
			break;
		timer = (struct rt_timer) { .fn = wake };
		work_on_cpu(1, start_timer, &timer);
		udelay(round_now % 50);
		rt_task_delete(&tasks[0]);
		if (tasks[0].state || tasks[0].queued)
			err = wrong("a dead task was woken up");
		rt_timer_cancel(&timer);
	}
	return err;
}

/* A task is suspended by another CPU again and again: it stands still, and then goes on. */
static int suspend(void)
{
	int err = new_task(&tasks[0], busy, 1), then;

	if (err)
		return err;
	rt_task_wakeup(&tasks[0]);
	while (!err && another_round()) {
		then = READ_ONCE(count);
		if (!UNTIL(100, READ_ONCE(count) != then)) {
			err = wrong("the task does not run");
			break;
		}
		rt_task_suspend(&tasks[0]);
		udelay(round_now % 50);
		usleep_range(2000, 2100);	/* its CPU has had a turn */
		then = READ_ONCE(count);
		usleep_range(1000, 1100);
		if (READ_ONCE(count) != then)
			err = wrong("a suspended task runs");
		rt_task_wakeup(&tasks[0]);
	}
	rt_task_delete(&tasks[0]);
	return err;
}

/* ---- two tasks on two CPUs ---- */

static int pair(void (*fn)(int))
{
	int err = 0;

	for (int i = 0; i < 2 && !err; i++)
		err = rt_task_init(&tasks[i], fn, i, STACK, 1) ?: rt_task_set_cpu(&tasks[i], i) ?:
		      rt_task_wakeup(&tasks[i]);
	return err;
}

/* What a task has seen that must not be. */
static const char *fault;

static int watch(const char *how)
{
	int last = READ_ONCE(count), err = 0;

	while (!err && another_round()) {
		if (!UNTIL(100, READ_ONCE(count) != last))
			err = wrong(how);
		else if (READ_ONCE(fault))
			err = wrong(fault);
		last = READ_ONCE(count);
		usleep_range(900, 1000);
	}
	rt_task_delete(&tasks[0]);
	rt_task_delete(&tasks[1]);
	return err;
}

static struct rt_sem sems[2];

static void by_turns(int me)
{
	while (!rt_sem_wait(&sems[me])) {
		WRITE_ONCE(count, READ_ONCE(count) + 1);
		rt_sem_post(&sems[!me]);
	}
}

static int semaphore(void)
{
	int err;

	rt_sem_init(&sems[0], 1);
	rt_sem_init(&sems[1], 0);
	err = pair(by_turns) ?: watch("both tasks wait");
	rt_sem_destroy(&sems[0]);
	rt_sem_destroy(&sems[1]);
	return err;
}

static struct rt_mtx mtx;
static int inside;

/* Linux gets its CPU, and the other task the mutex, while this one sleeps. */
static void one_at_a_time(int me)
{
	while (!rt_mtx_lock(&mtx)) {
		if (xchg(&inside, 1))
			WRITE_ONCE(fault, "both had the mutex");
		WRITE_ONCE(count, READ_ONCE(count) + 1);
		xchg(&inside, 0);
		rt_mtx_unlock(&mtx);
		if (rt_task_sleep_until(rt_get_time() + (me + 2) * US))
			break;
	}
}

static int mutex(void)
{
	int err;

	rt_mtx_init(&mtx);
	err = pair(one_at_a_time) ?: watch("nobody gets the mutex");
	rt_mtx_destroy(&mtx);
	return err;
}

/* Messages come in order and once, though waits run out just when the other task comes. */

static struct rt_mbx mbx;
static u32 letters[2];

static bool soon(u32 turn, int *err, int (*move)(void *letter, RTIME until), void *letter)
{
	*err = move(letter, turn % 2 ? RT_NO_DEADLINE : rt_get_time() + (2 + turn % 4) * US);
	return !*err || *err == -ETIMEDOUT;
}

static int send(void *letter, RTIME until)
{
	return rt_mbx_send_until(&mbx, letter, until);
}

static int receive(void *letter, RTIME until)
{
	return rt_mbx_receive_until(&mbx, letter, until);
}

static void one_way(int receives)
{
	u32 next = 0, letter = 0;
	int err;

	for (u32 turn = 0; soon(turn, &err, receives ? receive : send, &letter); turn++) {
		if (!err && receives && letter != next)
			WRITE_ONCE(fault, "a message was lost, or came twice");
		if (!err && receives)
			WRITE_ONCE(count, READ_ONCE(count) + 1);
		next += !err;
		if (!receives)
			letter = next;
		/* Linux gets its CPU; who is ahead changes with time. */
		if (rt_task_sleep_until(rt_get_time() + (2 + (turn / 64 + receives) % 2) * US))
			break;
	}
}

static int mailbox(void)
{
	int err;

	rt_mbx_init(&mbx, letters, sizeof(letters[0]), ARRAY_SIZE(letters));
	err = pair(one_way) ?: watch("no message comes");
	rt_mbx_destroy(&mbx);
	return err;
}

/* ---- a post that both CPUs make ---- */

static struct rt_post post;
static struct rt_timer posters[2];
static int flags[2], seen[2];

static void posted(struct rt_post *unused)
{
	for (int i = 0; i < 2; i++)
		if (xchg(&flags[i], 0))
			WRITE_ONCE(seen[i], 1);
}

static void make_post(struct rt_timer *t)
{
	xchg(&flags[t - posters], 1);
	rt_post(&post);
}

static int posts(void)
{
	int err = 0;

	rt_post_init(&post, posted);
	for (int i = 0; i < 2; i++)
		posters[i] = (struct rt_timer) { .fn = make_post };
	while (!err && another_round()) {
		WRITE_ONCE(seen[0], 0);
		WRITE_ONCE(seen[1], 0);
		work_on_cpu(1, start_timer, &posters[1]);
		udelay(round_now % 20);
		start_timer(&posters[0]);
		if (!UNTIL(100, READ_ONCE(seen[0]) && READ_ONCE(seen[1])))
			err = wrong("a post was not run");
	}
	for (int i = 0; i < 2; i++)
		rt_timer_cancel(&posters[i]);
	rt_post_sync(&post);
	return err;
}

/* ---- two CPUs wake up tasks of a third ---- */

static struct completion poked;

static void poke_one(struct work_struct *work);
static DECLARE_WORK(work_one, poke_one);

static void poke_many(RT_TASK *task)
{
	for (int i = 0; i < 40; i++) {
		rt_task_wakeup(task);
		ndelay(200 + i * 7);
	}
}

static void poke_one(struct work_struct *work)
{
	poke_many(&tasks[1]);
	complete(&poked);
}

/* If the third gets stuck, Linux does, too: this is for a look by somebody else. */
static int poke(void)
{
	int err = new_task(&tasks[0], note, 2) ?: new_task(&tasks[1], note, 2), then;

	init_completion(&poked);
	while (!err && another_round()) {
		queue_work_on(1, system_highpri_wq, &work_one);
		udelay(round_now % 20);
		poke_many(&tasks[0]);
		if (!wait_for_completion_timeout(&poked, HZ))
			panic("duel: poke: round %d: a CPU does not answer\n", round_now);
		then = READ_ONCE(count);
		rt_task_wakeup(&tasks[0]);
		if (!UNTIL(100, READ_ONCE(count) != then))
			panic("duel: poke: round %d: the third CPU does not answer\n", round_now);
	}
	rt_task_delete(&tasks[0]);
	rt_task_delete(&tasks[1]);
	return err;
}

static int __init duel_init(void)
{
	static const struct { const char *name; int (*fn)(void); } duels[] = {
		{ "cancel", cancel }, { "delete", delete }, { "wakeup", wakeup },
		{ "suspend", suspend }, { "semaphore", semaphore }, { "mutex", mutex },
		{ "mailbox", mailbox }, { "post", posts }, { "poke", poke },
	};

	for (int i = 0; i < ARRAY_SIZE(duels); i++)
		if (!strcmp(what, duels[i].name))
			return duels[i].fn();
	return -EINVAL;
}

static void __exit duel_exit(void)
{
}

module_init(duel_init);
module_exit(duel_exit);
MODULE_DESCRIPTION("Several CPUs at the same object");
MODULE_LICENSE("GPL");
