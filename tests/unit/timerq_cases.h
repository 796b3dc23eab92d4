/* SPDX-License-Identifier: GPL-2.0-only */
/* Cases for the timer queue, for the host and for KUnit; see heap_cases.h. */
#define TIMERQ_USERS 4
#define TIMERQ_SLOTS 6

static struct heap_slot timerq_slots[TIMERQ_SLOTS];

static void timerq_case_order_and_due(void)
{
	struct rt_timer a = {}, b = {}, c = {};
	struct timerq queue;

	timerq_init(&queue, timerq_slots, TIMERQ_SLOTS, TIMERQ_USERS);
	CHECK(!timerq_due(&queue, ~0ULL));
	CHECK_EQ(timerq_add(&queue, &a, 300, 0), 0);
	CHECK_EQ(timerq_add(&queue, &b, 100, 0), 0);
	CHECK_EQ(timerq_add(&queue, &c, 100, 0), 0);
	CHECK_EQ(a.expires, 300);
	CHECK(!timerq_due(&queue, 99));
	CHECK(timerq_due(&queue, 100) == &b);
	timerq_remove(&queue, &b);
	CHECK(timerq_due(&queue, 100) == &c);
	timerq_remove(&queue, &c);
	CHECK(!timerq_due(&queue, 299));
	CHECK(timerq_due(&queue, 1000) == &a);
	timerq_remove(&queue, &a);
	CHECK_EQ(queue.users, 0);
}

/* The device is set when the first moment changes, and at no other time. */
static void timerq_case_arming(void)
{
	struct rt_timer a = {}, b = {}, c = {};
	struct timerq queue;

	timerq_init(&queue, timerq_slots, TIMERQ_SLOTS, TIMERQ_USERS);
	CHECK(!timerq_stale(&queue));
	CHECK(!timerq_early(&queue));
	timerq_add(&queue, &a, 200, 0);
	CHECK(timerq_early(&queue));
	CHECK(timerq_stale(&queue));
	CHECK_EQ(queue.armed, 200);
	CHECK(!timerq_stale(&queue));
	timerq_add(&queue, &b, 300, 0);
	CHECK(!timerq_early(&queue));
	CHECK(!timerq_stale(&queue));
	timerq_add(&queue, &c, 100, 0);
	CHECK(timerq_early(&queue));
	CHECK(timerq_stale(&queue));
	CHECK_EQ(queue.armed, 100);
	timerq_remove(&queue, &c);
	CHECK(!timerq_early(&queue));
	CHECK(timerq_stale(&queue));
	CHECK_EQ(queue.armed, 200);
	CHECK_EQ(timerq_fired(&queue), 200);
	CHECK(!timerq_stale(&queue));
	timerq_remove(&queue, &a);
	CHECK(timerq_stale(&queue));
	CHECK_EQ(queue.armed, 300);
	timerq_remove(&queue, &b);
	CHECK(timerq_stale(&queue));
	CHECK_EQ(queue.armed, TIMERQ_NEVER);
}

/* A queue whose array is gone, or too small: refused, and not counted. */
static void timerq_case_no_array(void)
{
	struct rt_timer user[2] = {};
	struct timerq queue;

	timerq_init(&queue, timerq_slots, 1, 2);
	CHECK_EQ(timerq_add(&queue, &user[0], 10, 0), 0);
	CHECK_EQ(timerq_add(&queue, &user[1], 10, 0), -ENOSPC);
	CHECK_EQ(queue.users, 1);
	timerq_init(&queue, NULL, 0, 2);
	CHECK_EQ(timerq_add(&queue, &user[1], 10, 0), -ENOSPC);
	CHECK_EQ(queue.users, 0);
}

/* However many timers users queue, tasks have room for theirs. */
static void timerq_case_full(void)
{
	struct rt_timer users[TIMERQ_USERS + 1] = {}, release[2] = {};
	struct timerq queue;

	timerq_init(&queue, timerq_slots, TIMERQ_SLOTS, TIMERQ_USERS);
	for (int i = 0; i < TIMERQ_USERS; i++)
		CHECK_EQ(timerq_add(&queue, &users[i], 10 + i, 0), 0);
	CHECK_EQ(timerq_add(&queue, &users[TIMERQ_USERS], 1, 0), -ENOSPC);
	CHECK(!heap_queued(&users[TIMERQ_USERS].node));
	timerq_add_release(&queue, &release[0], 5);
	timerq_add_release(&queue, &release[1], 50);
	CHECK_EQ(queue.heap.count, TIMERQ_SLOTS);
	CHECK(timerq_due(&queue, 5) == &release[0]);
	timerq_remove_release(&queue, &release[0]);
	timerq_remove_release(&queue, &release[0]);
	CHECK_EQ(queue.heap.count, TIMERQ_SLOTS - 1);
	timerq_remove(&queue, &users[0]);
	CHECK_EQ(timerq_add(&queue, &users[TIMERQ_USERS], 1, 0), 0);
}

/* A function that starts its timer for the past gets it last, and not in the same pass. */
static void timerq_case_started_in_the_past(void)
{
	struct rt_timer hasty = {}, a = {}, b = {};
	struct timerq queue;
	u64 mark;

	timerq_init(&queue, timerq_slots, TIMERQ_SLOTS, TIMERQ_USERS);
	timerq_add(&queue, &hasty, 50, 10);
	timerq_add(&queue, &a, 60, 10);
	timerq_add(&queue, &b, 200, 10);
	mark = timerq_mark(&queue);
	CHECK(!timerq_fresh(&queue, mark));
	CHECK(timerq_due(&queue, 100) == &hasty);
	timerq_remove(&queue, &hasty);
	timerq_add(&queue, &hasty, 1, 100);
	CHECK_EQ(hasty.expires, 1);
	CHECK(timerq_due(&queue, 100) == &a);
	timerq_remove(&queue, &a);
	CHECK(!timerq_due(&queue, 100));
	CHECK(timerq_fresh(&queue, mark));
	CHECK(!timerq_fresh(&queue, timerq_mark(&queue)));
	CHECK(timerq_due(&queue, 101) == &hasty);
	timerq_remove(&queue, &hasty);
	CHECK(!timerq_fresh(&queue, mark));	/* b was there before */
}

/* Sooner by what the way takes at least, but never before what is due already. */
static void timerq_case_gravity(void)
{
	struct rt_timer user = {}, job = {}, plain = {};
	struct timerq queue;

	timerq_init(&queue, timerq_slots, TIMERQ_SLOTS, TIMERQ_USERS);
	queue.gravity = (struct timerq_gravity) { .timer = 30, .job = 60 };
	timerq_add(&queue, &user, 100, 0);
	timerq_add_job(&queue, &job, 100);
	timerq_add_release(&queue, &plain, 100);
	CHECK_EQ(user.expires, 100);
	CHECK_EQ(job.expires, 100);
	CHECK(!timerq_due(&queue, 39));
	CHECK(timerq_due(&queue, 40) == &job);
	timerq_remove_release(&queue, &job);
	CHECK(!timerq_due(&queue, 69));
	CHECK(timerq_due(&queue, 70) == &user);
	timerq_remove(&queue, &user);
	CHECK(!timerq_due(&queue, 99));
	CHECK(timerq_due(&queue, 100) == &plain);
	timerq_remove_release(&queue, &plain);
	/* Started within its gravity. */
	timerq_add(&queue, &user, 100, 80);
	CHECK(!timerq_due(&queue, 80));
	CHECK(timerq_due(&queue, 81) == &user);
	timerq_add_job(&queue, &job, 59);
	CHECK(timerq_due(&queue, 0) == &job);
}

/* Every case, for whoever runs them. */
#define TIMERQ_CASES(do)		\
	do(timerq_case_gravity)		\
	do(timerq_case_order_and_due)	\
	do(timerq_case_arming)		\
	do(timerq_case_no_array)	\
	do(timerq_case_full)		\
	do(timerq_case_started_in_the_past)
