/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cases for mutexes, condition variables, events, semaphores and mailboxes, for the host and for KUnit; to be included
 * behind sched_cases.h, whose simulated CPU they run on.
 */
#define SYNC_MUTEXES 4

static struct rt_mtx sync_mtx[SYNC_MUTEXES];

void sync_unblock(RT_TASK *task)
{
	if (task->state == CORE_BLOCKED)
		core_unblock(&sim_rq, task);
}

void sync_requeue(RT_TASK *task)
{
	core_requeue(&sim_rq, task);
}

void sync_settle(RT_TASK *task)
{
	core_budget_settle(&sim_rq, task, sim_now);
}

static void sync_reset(void)
{
	sim_reset(&core_fixed_priority);
	memset(sync_mtx, 0, sizeof(sync_mtx));
}

/* A task that is ready; @priority. */
static RT_TASK *sync_task(int i, int priority)
{
	RT_TASK *task = sim_add(i, priority);

	core_wakeup(&sim_rq, task, sim_now);
	return task;
}

/* The running task, which must be @task, locks; it blocks if it has to. */
static int sync_lock(RT_TASK *task, struct rt_mtx *mtx)
{
	int result;

	CHECK(sim_pick() == task);
	result = sync_mtx_lock(mtx, task);
	if (result == SYNC_WAIT)
		core_block(&sim_rq, RT_NO_DEADLINE);
	return result;
}

/*
 * Mars Pathfinder, 1997: the urgent task waits for the mutex of the lowly one, which the
 * middle one kept from the CPU. With inheritance the middle one waits.
 */
static void sync_case_pathfinder(void)
{
	RT_TASK *low, *middle, *high;

	sync_reset();
	low = sync_task(0, 30);
	CHECK_EQ(sync_lock(low, &sync_mtx[0]), 0);
	high = sync_task(1, 10);
	CHECK_EQ(sync_lock(high, &sync_mtx[0]), SYNC_WAIT);
	middle = sync_task(2, 20);
	CHECK(sim_pick() == low);
	CHECK_EQ(low->inherited, 10);
	CHECK_EQ(sync_mtx_unlock(&sync_mtx[0], low), 0);
	CHECK(sim_pick() == high);
	CHECK_EQ(high->wait_result, 0);
	CHECK(sync_mtx[0].owner == high);
	CHECK_EQ(low->inherited, CORE_NOTHING_INHERITED);
	CHECK_EQ(sync_mtx_unlock(&sync_mtx[0], high), 0);
	core_suspend(&sim_rq, high, true);
	CHECK(sim_pick() == middle);
	core_suspend(&sim_rq, middle, true);
	CHECK(sim_pick() == low);
	CHECK_EQ(sync_mtx_unlock(&sync_mtx[0], low), -EPERM);
}

/* Urgency passes along a chain of owners, and goes back when the wait is given up. */
static void sync_case_chain(void)
{
	RT_TASK *a, *b, *c;

	sync_reset();
	a = sync_task(0, 30);
	CHECK_EQ(sync_lock(a, &sync_mtx[0]), 0);
	b = sync_task(1, 20);
	CHECK_EQ(sync_lock(b, &sync_mtx[1]), 0);
	CHECK_EQ(sync_lock(b, &sync_mtx[0]), SYNC_WAIT);
	CHECK_EQ(a->inherited, 20);
	c = sync_task(2, 10);
	CHECK_EQ(sync_lock(c, &sync_mtx[1]), SYNC_WAIT);
	CHECK_EQ(b->inherited, 10);
	CHECK_EQ(a->inherited, 10);
	/* a would wait for itself. */
	CHECK_EQ(sync_lock(a, &sync_mtx[1]), -EDEADLK);
	CHECK_EQ(sync_lock(a, &sync_mtx[0]), -EDEADLK);
	CHECK(sync_give_up(c, -ETIMEDOUT));
	CHECK(!sync_give_up(c, -ETIMEDOUT));
	sync_unblock(c);
	CHECK_EQ(c->wait_result, -ETIMEDOUT);
	CHECK_EQ(b->inherited, CORE_NOTHING_INHERITED);
	CHECK_EQ(a->inherited, 20);
	CHECK(sim_pick() == c);
	core_suspend(&sim_rq, c, true);
	CHECK(sim_pick() == a);
	CHECK_EQ(sync_mtx_unlock(&sync_mtx[0], a), 0);
	CHECK(sim_pick() == b);
}

/* Two mutexes, two waiters: what is inherited is the most urgent of what is left. */
static void sync_case_two_mutexes(void)
{
	RT_TASK *low, *middle, *high;

	sync_reset();
	low = sync_task(0, 30);
	CHECK_EQ(sync_lock(low, &sync_mtx[0]), 0);
	CHECK_EQ(sync_lock(low, &sync_mtx[1]), 0);
	middle = sync_task(1, 20);
	CHECK_EQ(sync_lock(middle, &sync_mtx[0]), SYNC_WAIT);
	high = sync_task(2, 10);
	CHECK_EQ(sync_lock(high, &sync_mtx[1]), SYNC_WAIT);
	CHECK_EQ(low->inherited, 10);
	CHECK_EQ(sync_mtx_unlock(&sync_mtx[1], low), 0);
	CHECK_EQ(low->inherited, 20);
	CHECK(sim_pick() == high);
	CHECK_EQ(sync_mtx_unlock(&sync_mtx[1], high), 0);
	core_suspend(&sim_rq, high, true);
	CHECK(sim_pick() == low);
	CHECK_EQ(sync_mtx_unlock(&sync_mtx[0], low), 0);
	CHECK(sim_pick() == middle);
}

static void sync_case_order_of_waiters(void)
{
	RT_TASK *owner, *waiter[4];
	static const int priority[] = { 5, 3, 5, 3 }, served[] = { 1, 3, 0, 2 };

	sync_reset();
	owner = sync_task(0, 9);
	CHECK_EQ(sync_lock(owner, &sync_mtx[0]), 0);
	for (int i = 0; i < 4; i++) {
		waiter[i] = sync_task(1 + i, priority[i]);
		core_suspend(&sim_rq, owner, false);
		CHECK_EQ(sync_lock(waiter[i], &sync_mtx[0]), SYNC_WAIT);
		core_wakeup(&sim_rq, owner, 0);
	}
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(sync_mtx_unlock(&sync_mtx[0], sync_mtx[0].owner), 0);
		CHECK(sync_mtx[0].owner == waiter[served[i]]);
	}
}

/* An owner that dies passes its mutexes on, and says so. */
static void sync_case_kill(void)
{
	RT_TASK *owner, *waiter, *other;

	sync_reset();
	owner = sync_task(0, 30);
	CHECK_EQ(sync_lock(owner, &sync_mtx[0]), 0);
	CHECK_EQ(sync_lock(owner, &sync_mtx[1]), 0);
	waiter = sync_task(1, 20);
	CHECK_EQ(sync_lock(waiter, &sync_mtx[0]), SYNC_WAIT);
	other = sync_task(2, 10);
	CHECK_EQ(sync_lock(other, &sync_mtx[0]), SYNC_WAIT);
	/* One that dies waiting is not waited for by its urgency. */
	sync_kill(other);
	core_kill(&sim_rq, other);
	CHECK_EQ(owner->inherited, 20);
	sync_kill(owner);
	core_kill(&sim_rq, owner);
	CHECK(sim_pick() == waiter);
	CHECK_EQ(waiter->wait_result, -EOWNERDEAD);
	CHECK(sync_mtx[0].owner == waiter);
	CHECK(!sync_mtx[1].owner);
	CHECK(!owner->owned);
	/* Nobody waited for the other: the next that locks it is told, and no further one. */
	CHECK_EQ(sync_lock(waiter, &sync_mtx[1]), -EOWNERDEAD);
	CHECK(sync_mtx[1].owner == waiter);
	CHECK_EQ(sync_mtx_unlock(&sync_mtx[1], waiter), 0);
	CHECK_EQ(sync_lock(waiter, &sync_mtx[1]), 0);
	CHECK_EQ(sync_lock(waiter, &sync_mtx[1]), -EDEADLK);
}

static void sync_case_destroy(void)
{
	RT_TASK *owner, *waiter, *urgent;

	sync_reset();
	owner = sync_task(0, 30);
	CHECK_EQ(sync_lock(owner, &sync_mtx[0]), 0);
	waiter = sync_task(1, 20);
	CHECK_EQ(sync_lock(waiter, &sync_mtx[1]), 0);
	CHECK_EQ(sync_lock(waiter, &sync_mtx[0]), SYNC_WAIT);
	urgent = sync_task(2, 10);
	CHECK_EQ(sync_lock(urgent, &sync_mtx[1]), SYNC_WAIT);
	CHECK_EQ(owner->inherited, 10);
	/* The one in the middle of the chain. */
	sync_mtx_destroy(&sync_mtx[1]);
	CHECK_EQ(urgent->wait_result, -EIDRM);
	CHECK_EQ(waiter->inherited, CORE_NOTHING_INHERITED);
	CHECK_EQ(owner->inherited, 20);
	CHECK(sim_pick() == urgent);
	sync_mtx_destroy(&sync_mtx[0]);
	CHECK_EQ(waiter->wait_result, -EIDRM);
	CHECK_EQ(owner->inherited, CORE_NOTHING_INHERITED);
	CHECK(!owner->owned);
	sync_mtx_destroy(&sync_mtx[0]);
}

/* Another policy, and everything that waits in the order of its keys, as the registry does it. */
static void sync_swap(const struct rt_sched_ops *ops)
{
	static unsigned int change;

	core_swap(&sim_rq, ops);
	for (RT_TASK *task = sim_rq.tasks; task;)
		task = core_rekey(&sim_rq, task, 2);
	change++;
	for (int i = 0; i < SIM_TASKS; i++)
		while (!sync_sort(&sim_task[i], change))
			;
	for (int i = 0; i < SIM_TASKS; i++)
		sync_inherit(&sim_task[i]);
}

/* The urgency under another policy is another. */
static void sync_case_policy_changes(void)
{
	struct rt_sched_ops backwards;
	RT_TASK *owner, *a, *b;

	CHECK_EQ(core_complete_ops(&backwards, &sim_backwards), 0);
	sync_reset();
	owner = sync_task(0, 30);
	CHECK_EQ(sync_lock(owner, &sync_mtx[0]), 0);
	a = sync_task(1, 20);
	CHECK_EQ(sync_lock(a, &sync_mtx[0]), SYNC_WAIT);
	b = sync_task(2, 10);
	CHECK_EQ(sync_lock(b, &sync_mtx[0]), SYNC_WAIT);
	CHECK(sync_mtx[0].waiters.first == b);
	sync_swap(&backwards);
	CHECK(sync_mtx[0].waiters.first == a);
	CHECK_EQ(owner->inherited, a->key);
	CHECK(a->key < b->key);
	CHECK(sim_pick() == owner);
	sim_attached = 0;
}

/*
 * A policy is thrown out: until somebody has worked out what tasks inherit under the next one, the
 * owner of a mutex goes before all others, and not behind them for its keys being large.
 */
static void sync_case_ejection_keeps_owners_going(void)
{
	struct rt_sched_ops deadlines;
	RT_TASK *owner, *urgent, *middle;

	CHECK_EQ(core_complete_ops(&deadlines, &sim_deadlines), 0);
	sync_reset();
	core_swap(&sim_rq, &deadlines);
	owner = sync_task(0, 30);
	CHECK_EQ(sync_lock(owner, &sync_mtx[0]), 0);
	urgent = sync_task(1, 10);
	CHECK_EQ(sync_lock(urgent, &sync_mtx[0]), SYNC_WAIT);
	CHECK_EQ(owner->inherited, urgent->key);
	middle = sync_task(2, 20);
	CHECK(sim_pick() == owner);
	sim_pick_none = true;
	sim_rq.need_resched = true;
	CHECK(sim_pick() == owner);
	sim_pick_none = false;
	CHECK_EQ(strcmp(sim_rq.ejected->name, "deadlines"), 0);
	CHECK(sim_rq.ops == &core_fixed_priority);
	sim_rq.ejected = NULL;
	sync_swap(&core_fixed_priority);
	CHECK_EQ(owner->inherited, 10);
	CHECK_EQ(sync_mtx_unlock(&sync_mtx[0], owner), 0);
	CHECK(sim_pick() == urgent);
	core_suspend(&sim_rq, urgent, true);
	CHECK(sim_pick() == middle);
}

/* To a policy with a queue of its own all that wait are equal, whatever keys they had before. */
static void sync_case_own_queue(void)
{
	struct rt_sched_ops own;
	RT_TASK *owner, *waiter[3];
	static const int priority[] = { 20, 5, 10 };

	CHECK_EQ(core_complete_ops(&own, &sim_own), 0);
	sync_reset();
	owner = sync_task(0, 30);
	CHECK_EQ(sync_lock(owner, &sync_mtx[0]), 0);
	waiter[0] = sync_task(1, priority[0]);
	CHECK_EQ(sync_lock(waiter[0], &sync_mtx[0]), SYNC_WAIT);
	sync_swap(&own);
	for (int i = 1; i < 3; i++) {
		waiter[i] = sync_task(1 + i, priority[i]);
		core_suspend(&sim_rq, owner, false);
		CHECK_EQ(sync_lock(waiter[i], &sync_mtx[0]), SYNC_WAIT);
		core_wakeup(&sim_rq, owner, 0);
	}
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(sync_mtx_unlock(&sync_mtx[0], sync_mtx[0].owner), 0);
		CHECK(sync_mtx[0].owner == waiter[i]);
	}
	CHECK(!sim_rq.verdict);
	sync_swap(&core_fixed_priority);
	CHECK_EQ(sim_own_count, 0);
}

/* However long the queue, and in whatever order: sorted, and equal ones as they were. */
static void sync_case_sort(void)
{
	struct rt_sem sem = { };
	static RT_TASK many[200];

	sim_seed = 11;
	for (int count = 1; count <= 200; count = count * 3 / 2 + 1) {
		int steps = 0, found = 0;

		memset(many, 0, sizeof(many));
		sem = (struct rt_sem) { };
		for (int i = 0; i < count; i++) {
			many[i].inherited = CORE_NOTHING_INHERITED;
			many[i].id = i;
			CHECK_EQ(sync_sem_wait(&sem, &many[i]), SYNC_WAIT);
		}
		for (int i = 0; i < count; i++)
			many[i].key = count % 2 ? count - i : (int)sim_random(count / 2 + 1);
		while (!sync_sort(&many[0], 1))
			steps++;
		CHECK(1 << steps <= 4 * count);
		CHECK_EQ(sem.waiters.sorted, 1);
		for (RT_TASK *task = sem.waiters.first; task; task = task->wait_next, found++)
			if (task->wait_next)
				CHECK(task->key < task->wait_next->key ||
				      (task->key == task->wait_next->key &&
				       task->id < task->wait_next->id));
		CHECK_EQ(found, count);
		/* For this change it is sorted, whatever has come since. */
		many[0].key = ~0ULL;
		CHECK(sync_sort(&many[0], 1));
		while (!sync_sort(&many[0], 2))
			;
	}
}

/* Giving the mutex up and waiting is one step: who inherited does not any more, the next owns it. */
static void sync_case_condition(void)
{
	struct rt_cnd cnd = { };
	RT_TASK *low, *high, *third;

	sync_reset();
	low = sync_task(0, 30);
	CHECK_EQ(sync_lock(low, &sync_mtx[0]), 0);
	high = sync_task(1, 10);
	CHECK_EQ(sync_lock(high, &sync_mtx[0]), SYNC_WAIT);
	CHECK(sim_pick() == low);
	CHECK_EQ(low->inherited, 10);
	CHECK_EQ(sync_cnd_wait(&cnd, &sync_mtx[1], low), -EPERM);
	CHECK_EQ(sync_cnd_wait(&cnd, &sync_mtx[0], low), SYNC_WAIT);
	core_block(&sim_rq, RT_NO_DEADLINE);
	CHECK_EQ(low->inherited, CORE_NOTHING_INHERITED);
	CHECK(sync_mtx[0].owner == high);
	CHECK(sim_pick() == high);
	CHECK_EQ(sync_cnd_wait(&cnd, &sync_mtx[0], high), SYNC_WAIT);
	core_block(&sim_rq, RT_NO_DEADLINE);
	CHECK(!sync_mtx[0].owner);
	CHECK(!sim_pick());
	third = sync_task(2, 20);
	CHECK(sim_pick() == third);
	/* The most urgent, though it came last. */
	sync_cnd_signal(&cnd);
	CHECK(sim_pick() == high);
	CHECK_EQ(high->wait_result, 0);
	core_suspend(&sim_rq, high, true);
	CHECK(sync_give_up(low, -ETIMEDOUT));
	sync_unblock(low);
	sync_cnd_signal(&cnd);		/* to nobody, and not kept */
	core_suspend(&sim_rq, third, true);
	CHECK(sim_pick() == low);
	CHECK_EQ(sync_lock(low, &sync_mtx[0]), 0);
	CHECK_EQ(sync_cnd_wait(&cnd, &sync_mtx[0], low), SYNC_WAIT);
	core_block(&sim_rq, RT_NO_DEADLINE);
	sync_cnd_broadcast(&cnd);
	CHECK(sim_pick() == low);
	CHECK_EQ(low->wait_result, 0);
	CHECK_EQ(sync_lock(low, &sync_mtx[0]), 0);
	CHECK_EQ(sync_cnd_wait(&cnd, &sync_mtx[0], low), SYNC_WAIT);
	core_block(&sim_rq, RT_NO_DEADLINE);
	sync_cnd_destroy(&cnd);
	CHECK_EQ(low->wait_result, -EIDRM);
}

/* The running task, which must be @task, waits for flags. */
static int sync_want(RT_TASK *task, struct rt_evt *evt, struct sync_flags *wish)
{
	int result;

	CHECK(sim_pick() == task);
	result = sync_evt_wait(evt, wish, task);
	if (result == SYNC_WAIT)
		core_block(&sim_rq, RT_NO_DEADLINE);
	return result;
}

static void sync_case_event(void)
{
	unsigned int got[3] = { };
	struct sync_flags all = { .flags = 3, .how = RT_EVT_ALL | RT_EVT_TAKE, .got = &got[0] };
	struct sync_flags any = { .flags = 6, .how = RT_EVT_ANY, .got = &got[1] };
	struct sync_flags late = { .flags = 1, .how = RT_EVT_ANY | RT_EVT_TAKE, .got = &got[2] };
	struct rt_evt evt = { .flags = 4 };
	RT_TASK *a, *b, *c;

	sync_reset();
	b = sync_task(1, 20);
	CHECK_EQ(sync_want(b, &evt, &any), 0);
	CHECK_EQ(got[1], 4);
	CHECK_EQ(evt.flags, 4);
	evt.flags = 0;
	c = sync_task(2, 5);
	CHECK_EQ(sync_want(c, &evt, &late), SYNC_WAIT);
	CHECK_EQ(sync_want(b, &evt, &any), SYNC_WAIT);
	a = sync_task(0, 10);
	CHECK_EQ(sync_want(a, &evt, &all), SYNC_WAIT);
	/* Taken by the most urgent: the other does not see it. */
	sync_evt_set(&evt, 1);
	CHECK_EQ(got[2], 1);
	CHECK_EQ(evt.flags, 0);
	CHECK(sim_pick() == c);
	core_suspend(&sim_rq, c, true);
	CHECK(!sim_pick());
	/* All at once, and taken: what is left is what nobody took. */
	sync_evt_set(&evt, 1);
	CHECK_EQ(got[0], 0);
	sync_evt_set(&evt, 10);
	CHECK_EQ(got[0], 3);
	CHECK_EQ(evt.flags, 8);
	CHECK(sim_pick() == a);
	core_suspend(&sim_rq, a, true);
	CHECK(!sim_pick());
	sync_evt_set(&evt, 4);
	CHECK(sim_pick() == b);
	CHECK_EQ(got[1], 4);
	evt.flags = 0;
	CHECK_EQ(sync_want(b, &evt, &any), SYNC_WAIT);
	sync_evt_destroy(&evt);
	CHECK_EQ(b->wait_result, -EIDRM);
}

static void sync_case_semaphore(void)
{
	struct rt_sem sem = { .count = 2 };
	RT_TASK *a, *b;

	sync_reset();
	a = sync_task(0, 20);
	CHECK(sim_pick() == a);
	CHECK_EQ(sync_sem_wait(&sem, a), 0);
	CHECK_EQ(sync_sem_wait(&sem, a), 0);
	CHECK_EQ(sync_sem_wait(&sem, a), SYNC_WAIT);
	core_block(&sim_rq, RT_NO_DEADLINE);
	b = sync_task(1, 10);
	CHECK(sim_pick() == b);
	CHECK_EQ(sync_sem_wait(&sem, b), SYNC_WAIT);
	core_block(&sim_rq, RT_NO_DEADLINE);
	CHECK(!sim_pick());
	CHECK_EQ(sync_sem_post(&sem), 0);
	CHECK(sim_pick() == b);
	CHECK_EQ(sync_sem_post(&sem), 0);
	CHECK_EQ(sync_sem_post(&sem), 0);
	CHECK_EQ(sem.count, 1);
	CHECK_EQ(sync_sem_wait(&sem, b), 0);
	CHECK_EQ(sync_sem_wait(&sem, b), SYNC_WAIT);
	core_block(&sim_rq, RT_NO_DEADLINE);
	sync_sem_destroy(&sem);
	CHECK(sim_pick() == b);
	CHECK_EQ(b->wait_result, -EIDRM);
	sem.count = RT_SEM_MAX;
	CHECK_EQ(sync_sem_post(&sem), -ENOSPC);
	CHECK_EQ(sem.count, RT_SEM_MAX);
}

static void sync_case_mailbox(void)
{
	static unsigned char memory[3 * 4];
	struct rt_mbx mbx = { .memory = memory, .bytes = 4, .room = 3 };
	u32 message, got = 0, put = 0, sent[2] = { 100, 101 };
	RT_TASK *a, *b;

	sync_reset();
	CHECK_EQ(sync_mbx_receive(&mbx, &message, NULL), -EAGAIN);
	/* Round and round, never more than there is room for. */
	for (int i = 0; i < 50; i++) {
		for (int k = i % 4; k; k--)
			if (!sync_mbx_send(&mbx, &put, NULL))
				put++;
		CHECK(put - got <= 3);
		for (int k = i % 3; k; k--)
			if (!sync_mbx_receive(&mbx, &message, NULL)) {
				CHECK_EQ(message, got);
				got++;
			}
	}
	while (put - got < 3) {
		CHECK_EQ(sync_mbx_send(&mbx, &put, NULL), 0);
		put++;
	}
	CHECK_EQ(sync_mbx_send(&mbx, &put, NULL), -EAGAIN);
	/* Full: senders wait, the more urgent goes first when there is room. */
	a = sync_task(0, 20);
	CHECK(sim_pick() == a);
	CHECK_EQ(sync_mbx_send(&mbx, &sent[0], a), SYNC_WAIT);
	core_block(&sim_rq, RT_NO_DEADLINE);
	b = sync_task(1, 10);
	CHECK(sim_pick() == b);
	CHECK_EQ(sync_mbx_send(&mbx, &sent[1], b), SYNC_WAIT);
	core_block(&sim_rq, RT_NO_DEADLINE);
	for (int k = 0; k < 3; k++) {
		CHECK_EQ(sync_mbx_receive(&mbx, &message, NULL), 0);
		CHECK_EQ(message, got++);
	}
	CHECK(sim_pick() == b);
	CHECK_EQ(sync_mbx_receive(&mbx, &message, b), 0);
	CHECK_EQ(message, 101);
	CHECK_EQ(sync_mbx_receive(&mbx, &message, b), 0);
	CHECK_EQ(message, 100);
	/* Empty: a receiver waits, and gets the message itself. */
	CHECK_EQ(sync_mbx_receive(&mbx, &message, b), SYNC_WAIT);
	core_block(&sim_rq, RT_NO_DEADLINE);
	CHECK(sim_pick() == a);
	CHECK_EQ(sync_mbx_send(&mbx, &sent[0], a), 0);
	CHECK_EQ(message, 100);
	CHECK_EQ(mbx.count, 0);
	CHECK(sim_pick() == b);
}

/* What @task should inherit, found the slow way: from all that wait for it along chains. */
static u64 sync_expected(const RT_TASK *task)
{
	u64 best = CORE_NOTHING_INHERITED;

	for (int i = 0; i < SIM_TASKS; i++) {
		const RT_TASK *t = &sim_task[i];

		while (t->waits_for && t != task)
			t = t->waits_for->owner;
		if (t == task && &sim_task[i] != task && sim_task[i].key < best)
			best = sim_task[i].key;
	}
	return best;
}

static void sync_check_all(void)
{
	u64 best = ~0ULL;

	for (int i = 0; i < SIM_TASKS; i++) {
		RT_TASK *task = &sim_task[i];

		CHECK_EQ(task->inherited, sync_expected(task));
		CHECK_EQ(!!task->waits_in, task->state == CORE_BLOCKED);
		if (task->waits_in && task->wait_next)
			CHECK(sync_urgency(task) <= sync_urgency(task->wait_next));
		if (task->queued && sync_urgency(task) < best)
			best = sync_urgency(task);
	}
	if (sim_pick())
		CHECK_EQ(sync_urgency(sim_pick()), best);
	else
		CHECK_EQ(best, ~0ULL);
}

/* Whatever tasks do to mutexes, everybody inherits what is due and the right one runs. */
static void sync_case_random(void)
{
	int locked = 0, waited = 0, deadlocks = 0, gave_up = 0;
	const struct rt_sched_ops *policy[2] = { &core_fixed_priority };
	struct rt_sched_ops backwards;

	CHECK_EQ(core_complete_ops(&backwards, &sim_backwards), 0);
	policy[1] = &backwards;
	sync_reset();
	sim_seed = 7;
	for (int i = 0; i < SIM_TASKS; i++)
		sync_task(i, 1 + i / 2 * 10);
	for (int step = 0; step < 20000; step++) {
		struct rt_mtx *mtx = &sync_mtx[sim_random(SYNC_MUTEXES)];
		RT_TASK *task = sim_pick(), *any = &sim_task[sim_random(SIM_TASKS)];

		if (sim_random(50) == 0)
			sync_swap(policy[sim_random(2)]);
		task = sim_pick();
		switch (sim_random(6)) {
		case 0 ... 2:
			if (task) {
				int result = sync_lock(task, mtx);

				locked += result == 0;
				waited += result == SYNC_WAIT;
				deadlocks += result == -EDEADLK;
			}
			break;
		case 3:
			if (task && task->owned)
				CHECK_EQ(sync_mtx_unlock(task->owned, task), 0);
			break;
		case 4:
			if (any->suspended)
				core_wakeup(&sim_rq, any, step);
			else
				core_suspend(&sim_rq, any, false);
			break;
		case 5:
			if (sim_random(3) == 0 && sync_give_up(any, -ETIMEDOUT)) {
				sync_unblock(any);
				gave_up++;
			}
			break;
		}
		sync_check_all();
	}
	CHECK(locked > 500 && waited > 500 && deadlocks > 100 && gave_up > 100);
	sim_attached = 0;
}

/* Every case, for whoever runs them. */
#define SYNC_CASES(do)			\
	do(sync_case_pathfinder)	\
	do(sync_case_chain)		\
	do(sync_case_two_mutexes)	\
	do(sync_case_order_of_waiters)	\
	do(sync_case_kill)		\
	do(sync_case_destroy)		\
	do(sync_case_policy_changes)	\
	do(sync_case_ejection_keeps_owners_going)	\
	do(sync_case_own_queue)		\
	do(sync_case_sort)		\
	do(sync_case_condition)		\
	do(sync_case_event)		\
	do(sync_case_semaphore)		\
	do(sync_case_mailbox)		\
	do(sync_case_random)
