/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests share: how they say what was wrong, and where RT code leaves what it saw.
 */
#ifndef _TASK_TEST_H
#define _TASK_TEST_H

#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include <rt/context.h>
#include <rt/printk.h>
#include <rt/sched.h>
#include <rt/task.h>
#include <rt/timer.h>

#define MS 1000000LL
#define STACK 4096

/*
 * All tests: those that need one CPU, those that need two, and those that want a policy
 * that somebody must load first.
 */
#define TESTS(TEST, TEST2, UNDER) \
	TEST(init_arguments) \
	TEST(no_such_task) \
	TEST(period_arguments) \
	TEST(names) \
	TEST(context) \
	TEST(too_many_tasks) \
	TEST(exact_releases) \
	TEST(start_now) \
	TEST(start_in_the_past) \
	TEST(overrun) \
	TEST(makes_itself_periodic) \
	TEST(sleep) \
	TEST(sporadic) \
	TEST(clocks) \
	TEST(printk) \
	TEST(budget_count) \
	TEST(budget_throttle) \
	TEST(budget_stop) \
	TEST(watchdog) \
	TEST(priorities) \
	TEST(first_come_first_served) \
	TEST(preemption_keeps_the_place) \
	TEST(wakeup_starts) \
	TEST(wakeup_before_suspend) \
	TEST(suspend_periodic) \
	TEST(delete_by_state) \
	TEST(delete_from_rt) \
	TEST(delete_running_from_timer) \
	TEST(stack_protector) \
	TEST(stack_size) \
	TEST(timer_order) \
	TEST(timer_arguments) \
	TEST(timer_flood) \
	TEST(timer_limit) \
	TEST(policy_swap) \
	TEST(policy_refuses) \
	TEST(policy_swap_live) \
	TEST(policy_ejected) \
	TEST(policy_ejected_twice) \
	TEST(policy_too_slow) \
	TEST(sync_arguments) \
	TEST(priority_inheritance) \
	TEST(owner_dies) \
	TEST(sync_deletion) \
	TEST(mailbox) \
	TEST(semaphore_from_anywhere) \
	UNDER(textbook_edf) \
	UNDER(textbook_rm) \
	TEST2(remote) \
	TEST2(remote_running) \
	TEST2(remote_timer) \
	TEST2(remote_timer_cancel) \
	TEST2(remote_ping_pong) \
	TEST2(remote_mailbox) \
	TEST2(remote_mutex) \
	TEST2(remote_sync_churn) \
	TEST2(remote_churn)

#define DECLARE_TEST(name) void test_##name(void);
TESTS(DECLARE_TEST, DECLARE_TEST, DECLARE_TEST)
#undef DECLARE_TEST

extern const char *test_name;	/* of the test that runs */

void expect(const char *file, int line, const char *what, long long got, long long want);

/* In the test's process only; RT code notes what it saw and the process judges. */
#define EXPECT(got, want) expect(__FILE__, __LINE__, #got, (long long)(got), (long long)(want))

/* Wait, as a Linux process, until something holds; at most two seconds. */
#define UNTIL(cond)					\
	({						\
		int left_ = 2000;			\
							\
		while (!data_race(cond) && --left_)	\
			msleep(1);			\
		left_ > 0;				\
	})

/* What RT code leaves for the process to look at; forget() clears it. */
extern RT_TASK tasks[8];
extern int order[64];		/* who ran, in order */
extern int ran;
extern int results[16];
extern RTIME moments[1024];
extern int count;

void note(int who);
void forget(void);
void delete_all(void);

/* Codes of tasks; they note() their data. */
void once(int data);
void each_release(int data);
void each_wakeup(int data);
void for_ever(int data);

/* Wakes tasks[1] to tasks[data], and notes 0 before and after. */
void starter(int data);

/* Makes tasks[1] to tasks[n], for CPU 0, with their number as data. */
void init_on_one_cpu(int n, void (*fn)(int), const int *priority);

extern struct rt_timer timers[8];
void no_timer(struct rt_timer *timer);
void note_timer(struct rt_timer *timer);
void again_in_the_past(struct rt_timer *timer);

/* The least priority first. */
extern const struct rt_sched_ops backwards;

#endif
