/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cases for budgets and the watchdog, for the host and for KUnit; to be included behind
 * sched_cases.h and sync_cases.h, whose simulated CPU they run on, and sched/admission.c.
 *
 * The oracle: in any window of k periods a task that its budget holds up gets k + 1 budgets at most;
 * and in a set that admission takes, a task that keeps its budget misses no deadline, whatever jobs
 * the others have, as long as nobody waits inside a job longer than was declared.
 */

/* How many random sets; `make unit-long` sets another number. */
#ifndef BUDGET_SETS
#define BUDGET_SETS 1000
#endif

#define BUDGET_TICKS 260

/* One task of a random set, as the oracle knows it. */
struct party {
	bool guilty;		/* jobs of any length */
	RTIME period, deadline, budget, offset;
	RTIME suspension;	/* of each job, at most */
	RTIME left, rest;	/* of the present job: to compute, and to wait */
	u64 done;
	u32 used[BUDGET_TICKS + 1];	/* of CPU time before each tick */
};

static struct party party[SIM_TASKS];

static RTIME budget_job(const struct party *p)
{
	return p->guilty ? 1 + sim_random(4 * p->budget) : 1 + sim_random(p->budget);
}

/* What jobs may do to the tests of admission. */
enum budget_kind {
	OVERRUN,	/* some need more than their budgets */
	RESTLESS,	/* and sleep, which nobody declared */
	DECLARED,	/* all keep their budgets, and sleep no longer than declared */
};

/* Parameters of @count tasks, some of them guilty. @return: does admission take them? */
static bool budget_make_set(int count, bool by_edf, enum budget_kind kind)
{
	static const u8 periods[] = { 4, 5, 6, 8, 9, 10, 12, 15, 20, 24, 30, 40 };
	struct adm_task set[SIM_TASKS];

	for (int i = 0; i < count; i++) {
		struct party *p = &party[i];

		*p = (struct party) { .period = periods[sim_random(sizeof(periods))] };
		p->guilty = kind != DECLARED && (!i || sim_random(2));
		p->budget = 1 + sim_random(p->period * 2 / (count + 1) + 1);
		p->deadline = p->period;
		if (sim_random(2))
			p->deadline = 1 + sim_random(kind == DECLARED ? p->period : 2 * p->period);
		if (kind == DECLARED && sim_random(2))
			p->suspension = 1 + sim_random(p->period / 3 + 1);
		p->offset = sim_random(12);
		set[i] = (struct adm_task) {
			p->budget + p->suspension, p->period, p->deadline,
			(u64)p->period * 100 + i,
		};
	}
	return (by_edf ? adm_edf(set, count, ADM_ONE, 1000000) :
		adm_fixed(set, count, ADM_ONE, 1000000)).reason == ADM_FITS;
}

/* A job is done, at @now: of one that keeps its budget in time. */
static void budget_finish(int i, RTIME now, bool innocent_in_time)
{
	struct party *p = &party[i];

	if (innocent_in_time && !p->guilty)
		CHECK(now <= p->offset + (RTIME)p->done * p->period + p->deadline);
	p->done++;
	p->left = budget_job(p);
	p->rest = p->suspension;
	core_wait(&sim_rq, now);
}

/* Of all windows of one, two, three and ten periods. */
static void budget_check_windows(int i)
{
	static const u8 lengths[] = { 1, 2, 3, 10 };
	const struct party *p = &party[i];
	RTIME lasts = max(p->deadline, p->period), extra = (lasts + p->period - 1) / p->period;

	for (int k = 0; k < (int)sizeof(lengths); k++)
		for (RTIME from = 0, to; (to = from + lengths[k] * p->period) <= BUDGET_TICKS; from++)
			CHECK((RTIME)(p->used[to] - p->used[from]) <= (lengths[k] + extra) * p->budget);
}

/* The job that runs may have a rest. */
static void budget_rest(enum budget_kind kind, RTIME now)
{
	RT_TASK *task = sim_pick();
	struct party *p;
	RTIME rest;

	if (kind == OVERRUN || !task || sim_random(kind == RESTLESS ? 10 : 3))
		return;
	p = &party[task - sim_task];
	rest = 1 + sim_random(2 * (u32)task->period);
	if (kind == DECLARED && rest > p->rest)
		rest = p->rest;
	p->rest -= kind == DECLARED ? rest : 0;
	if (rest)
		core_block(&sim_rq, now + rest);
}

static void budget_run_set(const struct rt_sched_ops *ops, int count, enum budget_kind kind)
{
	static const u8 innocent_actions[] = {
		RT_BUDGET_COUNT, RT_BUDGET_THROTTLE, RT_BUDGET_STOP,
	};

	sim_reset(ops);
	for (int i = 0; i < count; i++) {
		struct party *p = &party[i];
		int action = p->guilty ? RT_BUDGET_THROTTLE + (int)sim_random(2) :
			innocent_actions[sim_random(3)];

		sim_task[i].relative_deadline = p->deadline;
		sim_add(i, i + 1);
		CHECK_EQ(core_set_budget(&sim_task[i], p->budget, action), 0);
		core_make_periodic(&sim_rq, &sim_task[i], p->offset, p->period, -1);
		p->left = budget_job(p);
		p->rest = p->suspension;
	}
	for (RTIME now = 0; now < BUDGET_TICKS; now++) {
		RT_TASK *task = sim_rq.curr;
		int i;

		sim_now = now;
		if (task && !party[task - sim_task].left)
			budget_finish(task - sim_task, now, kind != RESTLESS);
		sim_advance(now);
		/* Linux lets those go on that were stopped, sooner or later. */
		for (i = 0; i < count; i++)
			if (sim_task[i].stopped && !sim_random(8))
				sim_wakeup(&sim_task[i], now, true);
		budget_rest(kind, now);
		task = sim_pick();
		for (i = 0; i < count; i++)
			party[i].used[now + 1] = party[i].used[now] + (task == &sim_task[i]);
		if (task)
			party[task - sim_task].left--;
	}
	for (int i = 0; i < count; i++)
		if (sim_task[i].budget_action != RT_BUDGET_COUNT)
			budget_check_windows(i);
}

static void budget_case_against_the_oracle(void)
{
	static const struct rt_sched_ops *const given[] = { &rm, &edf };
	struct rt_sched_ops ops;

	for (int policy = 0; policy < 2; policy++) {
		int tried = 0;

		CHECK_EQ(core_complete_ops(&ops, given[policy]), 0);
		CHECK_EQ(ops.init(), 0);
		sim_seed = 11 + policy;
		for (int set = 0; set < BUDGET_SETS; tried++) {
			int count = 2 + sim_random(SIM_TASKS - 1);

			enum budget_kind kind = set % 4 < 2 ? OVERRUN : set % 4 == 2 ? RESTLESS :
				DECLARED;

			if (!budget_make_set(count, policy, kind))
				continue;
			budget_run_set(&ops, count, kind);
			set++;
		}
		CHECK(tried < 30 * BUDGET_SETS);
	}
}

/* ---- known scenarios ---- */

/* Jobs of @need, again and again; how much of the CPU until @until, and the longest stretch. */
static RTIME budget_share(RTIME first, RTIME need, RTIME until, RTIME *longest)
{
	RT_TASK *a;
	RTIME left = first, stretch = 0, total = 0;

	*longest = 0;
	sim_reset(&core_fixed_priority);
	a = sim_add_periodic(0, 1, 0, 100);
	core_set_budget(a, 10, RT_BUDGET_THROTTLE);
	for (RTIME now = 0; now < until; now++) {
		sim_advance(now);
		if (sim_rq.curr == a && left <= 0) {
			left = need;
			core_wait(&sim_rq, now);
		}
		if (sim_pick() != a) {
			stretch = 0;
			continue;
		}
		left--;
		total++;
		if (++stretch > *longest)
			*longest = stretch;
	}
	return total;
}

/* A throttled task of 10 % takes 10 %, whatever its jobs need, and never two budgets in one piece. */
static void budget_case_share(void)
{
	RTIME longest;

	for (RTIME need = 10; need < 60; need += 9) {
		RTIME total = budget_share(need, need, 100000, &longest);

		CHECK(total <= 10000 && total >= 10000 - 10);
		CHECK(longest <= 10);
	}
	/* One long job is no stock for those after it. */
	CHECK(budget_share(499, 9, 100000, &longest) <= 10000);
	CHECK(longest <= 10);
}

/* Under EDF an endless task with the deadline of its first job would be first for ever. */
static void budget_case_deadline_is_postponed(void)
{
	struct rt_sched_ops ops;
	RT_TASK *a, *b;
	RTIME left = 2;

	CHECK_EQ(core_complete_ops(&ops, &edf), 0);
	sim_reset(&ops);
	a = sim_add_periodic(0, 1, 0, 10);
	core_set_budget(a, 5, RT_BUDGET_THROTTLE);
	b = sim_add_periodic(1, 2, 0, 5);
	for (RTIME now = 0; now < 10000; now++) {
		sim_advance(now);
		if (sim_rq.curr == b && !left) {
			left = 2;
			core_wait(&sim_rq, now);
		}
		if (sim_pick() == b)
			left--;
	}
	CHECK_EQ(b->misses, 0);
	CHECK_EQ(b->releases, 2000);
	CHECK_EQ(a->deadline, 10010);
	CHECK_EQ(a->release, 0);
	CHECK(a->exec >= 4990 && a->exec <= 5000);
	/* It is late all the same, by its own deadline. */
	core_suspend(&sim_rq, b, false);
	sim_advance(10000);
	CHECK(sim_pick() == a);
	core_wait(&sim_rq, 10000);
	CHECK_EQ(a->misses, 1);
}

/* A deadline after the period: a job that was kept from the CPU has its budget until then. */
static void budget_case_lasts_until_the_deadline(void)
{
	RT_TASK *high, *low;

	sim_reset(&core_fixed_priority);
	high = sim_add_periodic(0, 1, 0, 1000);
	sim_task[1].relative_deadline = 250;
	low = sim_add_periodic(1, 2, 0, 100);
	core_set_budget(low, 10, RT_BUDGET_THROTTLE);
	sim_advance(0);
	CHECK(sim_pick() == high);
	sim_advance(150);
	core_wait(&sim_rq, 150);
	CHECK(sim_pick() == low);
	/* Its first job's and its second's; the third's begins at 200. */
	sim_advance(160);
	CHECK(sim_pick() == low);
	CHECK_EQ(core_wait(&sim_rq, 160), -ETIMEDOUT);
	CHECK(sim_pick() == low);
	sim_advance(169);
	CHECK(sim_pick() == low);
	sim_advance(170);
	CHECK(!sim_pick());
	CHECK_EQ(low->deadline, 200 + 250);
}

/* Stopped for its budget and woken up at once, again and again: a budget a period, a stop each. */
static void budget_case_stop_and_resume(void)
{
	RT_TASK *b;
	int stops = 0;

	sim_reset(&core_fixed_priority);
	b = sim_add_periodic(0, 2, 0, 200);
	core_set_budget(b, 10, RT_BUDGET_STOP);
	for (RTIME now = 0; now < 2000; now++) {
		sim_advance(now);
		sim_pick();
		if (!sim_rq.stopped)
			continue;
		CHECK(core_next_stopped(&sim_rq) == b);
		CHECK(!core_next_stopped(&sim_rq));
		stops++;
		sim_wakeup(b, now, true);
		sim_pick();
	}
	CHECK_EQ(stops, 10);
	CHECK_EQ(b->exec, 100);
	CHECK_EQ(b->max_exec, 10);
	/* Without a period each wake-up is a release. */
	sim_reset(&core_fixed_priority);
	b = sim_add(0, 2);
	core_set_budget(b, 10, RT_BUDGET_STOP);
	sim_wakeup(b, 0, true);
	CHECK(sim_pick() == b);
	sim_advance(10);
	CHECK(!sim_pick());
	sim_advance(20);
	sim_wakeup(b, 20, true);
	CHECK(sim_pick() == b);
	sim_advance(29);
	CHECK(sim_pick() == b);
	sim_advance(30);
	CHECK(!sim_pick());
	CHECK_EQ(b->releases, 2);
	CHECK_EQ(b->max_exec, 10);
}

/* Jobs late because one has slept: a task to be stopped is throttled for what is no job's fault. */
static void budget_case_stop_is_for_jobs(void)
{
	RT_TASK *a;

	sim_reset(&core_fixed_priority);
	a = sim_add_periodic(0, 1, 0, 100);
	core_set_budget(a, 10, RT_BUDGET_STOP);
	CHECK(sim_pick() == a);
	core_block(&sim_rq, 250);
	CHECK(!sim_pick());
	sim_advance(250);
	CHECK(sim_pick() == a);
	CHECK_EQ(core_wait(&sim_rq, 256), -ETIMEDOUT);
	CHECK(sim_pick() == a);
	sim_advance(260);
	CHECK(!sim_pick());
	CHECK(!a->stopped && a->throttled);
	sim_advance(300);
	CHECK(sim_pick() == a);
	sim_advance(306);
	CHECK(!sim_pick());
	CHECK(a->stopped);
	CHECK_EQ(a->job_exec, 10);
}

/* Who owns a mutex goes on, and pays afterwards. */
static void budget_case_owner_has_credit(void)
{
	RT_TASK *low, *high;

	for (int kind = 0; kind < 3; kind++) {
		sync_reset();
		low = sim_add_periodic(0, 30, 0, 10000);
		core_set_budget(low, 100, kind ? RT_BUDGET_STOP : RT_BUDGET_THROTTLE);
		sim_advance(0);
		CHECK(sim_pick() == low);
		sim_advance(95);
		CHECK_EQ(sync_lock(low, &sync_mtx[0]), 0);
		high = sim_add_periodic(1, 10, 96, 1000);
		sim_advance(96);
		CHECK_EQ(sync_lock(high, &sync_mtx[0]), SYNC_WAIT);
		CHECK(sim_pick() == low);
		/* Beyond its budget, and beyond the next one. */
		for (RTIME now = 97; now < 345; now++) {
			sim_advance(now);
			CHECK(sim_pick() == low);
		}
		CHECK(low->budget_overruns >= 1);
		sim_advance(345);
		if (kind == 2) {
			sync_mtx_destroy(&sync_mtx[0]);
			CHECK_EQ(high->wait_result, -EIDRM);
		} else {
			CHECK_EQ(sync_mtx_unlock(&sync_mtx[0], low), 0);
		}
		CHECK(sim_pick() == high);
		if (!kind)
			CHECK_EQ(strcmp(core_state_name(&sim_rq, low), "throttled"), 0);
		core_wait(&sim_rq, 346);
		sim_advance(346);
		CHECK(sim_pick() != low || kind);
		sim_advance(347);
		CHECK(!sim_pick());
		CHECK_EQ(low->stopped, kind != 0);
		if (kind)
			continue;
		/* 345 so far: three budgets and half of the fourth, which begins at 30000. */
		core_suspend(&sim_rq, high, false);
		sim_advance(29999);
		CHECK(!sim_pick());
		CHECK_EQ(low->exec, 345);
		sim_advance(30000);
		CHECK(sim_pick() == low);
		sim_advance(30054);
		CHECK(sim_pick() == low);
		sim_advance(30055);
		CHECK(!sim_pick());
	}
}

/* ---- the watchdog ---- */

/*
 * A periodic task of 60 % and an endless one of less priority that begins at any moment of its
 * period: it is the second that keeps Linux from the CPU.
 */
static void budget_case_watchdog_finds_the_culprit(void)
{
	static const RTIME watches[] = { 10000, 9474, 9420, 9947, 1037 };

	for (int w = 0; w < 5; w++)
		for (int phase = 0; phase < 100; phase++) {
			RT_TASK *good, *hog;
			RTIME left = 60;

			sim_reset(&core_fixed_priority);
			sim_rq.watch_ns = watches[w];
			good = sim_add_periodic(0, 1, 0, 100);
			hog = sim_add(1, 9);
			for (RTIME now = 0; now < 30000 && !sim_rq.stopped; now++) {
				sim_advance(now);
				if (now == 1000 + phase)
					sim_wakeup(hog, now, true);
				if (sim_rq.curr == good && !left) {
					left = 60;
					core_wait(&sim_rq, now);
				}
				if (sim_pick() == good)
					left--;
			}
			CHECK(sim_rq.stopped && core_next_stopped(&sim_rq) == hog);
			CHECK(!good->stopped);
		}
}

/* Jobs that are late one behind the other are one stretch; who waits behind them is innocent. */
static void budget_case_watchdog_sees_chains(void)
{
	RT_TASK *chain, *meek;
	RTIME left = 12;

	sim_reset(&core_fixed_priority);
	sim_rq.watch_ns = 1000;
	meek = sim_add(1, 9);
	sim_wakeup(meek, 0, true);
	CHECK(sim_pick() == meek);
	sim_advance(20);
	chain = sim_add_periodic(0, 1, 20, 10);
	for (RTIME now = 20; now < 5000 && !sim_rq.stopped; now++) {
		sim_advance(now);
		if (sim_rq.curr == chain && !left) {
			left = 12;
			core_wait(&sim_rq, now);
		}
		if (sim_pick() == chain)
			left--;
	}
	CHECK(sim_rq.stopped && core_next_stopped(&sim_rq) == chain);
	/* One that its budget holds up is not to blame as long as there is another. */
	sim_reset(&core_fixed_priority);
	sim_rq.watch_ns = 1000;
	chain = sim_add_periodic(0, 1, 0, 2000);
	core_set_budget(chain, 1500, RT_BUDGET_THROTTLE);
	CHECK(sim_pick() == chain);
	meek = sim_add(1, 9);
	sim_advance(700);
	core_suspend(&sim_rq, chain, false);
	sim_wakeup(meek, 700, true);
	CHECK(sim_pick() == meek);
	sim_advance(800);
	sim_wakeup(chain, 800, true);
	CHECK(sim_pick() == chain);
	sim_advance(1000);
	CHECK(sim_rq.stopped && core_next_stopped(&sim_rq) == meek);
}

/* Whatever its interrupt does, a stopped task stays so until a Linux process has its say. */
static void budget_case_watchdog_beats_interrupts(void)
{
	for (int sporadic = 0; sporadic < 2; sporadic++) {
		RTIME linux_got = 0;
		int stops = 0;
		RT_TASK *a;

		sim_reset(&core_fixed_priority);
		sim_rq.watch_ns = 1000;
		a = sim_add(0, 1);
		if (sporadic)
			core_make_sporadic(&sim_rq, a, 5);
		sim_wakeup(a, 0, false);
		for (RTIME now = 0; now < 100000; now++) {
			sim_advance(now);
			if (now % 7 == 0)
				sim_wakeup(a, now, false);
			while (core_next_stopped(&sim_rq))
				stops++;
			linux_got += !sim_pick();
		}
		CHECK_EQ(stops, 1);
		CHECK(linux_got >= 99000);
		CHECK_EQ(strcmp(core_state_name(&sim_rq, a), "stopped"), 0);
		/* Suspended in addition, it needs one wake-up for both; what was kept is not lost. */
		core_suspend(&sim_rq, a, false);
		sim_wakeup(a, sim_now, false);
		CHECK(!sim_pick());
		sim_wakeup(a, sim_now, true);
		CHECK(sim_pick() == a);
		CHECK(a->token);
	}
}

/* An owner gets as much time again, since others may be waiting for what it owns. */
static void budget_case_watchdog_and_owners(void)
{
	RT_TASK *owner;

	sync_reset();
	sim_rq.watch_ns = 1000;
	owner = sync_task(0, 1);
	CHECK_EQ(sync_lock(owner, &sync_mtx[0]), 0);
	for (RTIME now = 0; now < 2000; now++)
		sim_advance(now);
	CHECK(!owner->stopped);
	sim_advance(2000);
	CHECK(owner->stopped);
	/* Two stops in one pass: each is reported. A task that has had nothing is not to blame. */
	sim_reset(&core_fixed_priority);
	sim_rq.watch_ns = 1000;
	for (int i = 1; i < 3; i++) {
		sim_add(i, 1 + i);
		sim_wakeup(&sim_task[i], 0, true);
	}
	CHECK(sim_pick() == &sim_task[1]);
	sim_advance(900);
	sim_add(0, 1);
	core_set_budget(&sim_task[0], 100, RT_BUDGET_STOP);
	sim_wakeup(&sim_task[0], 900, true);
	CHECK(sim_pick() == &sim_task[0]);
	sim_advance(1000);
	CHECK(sim_task[0].stopped && sim_task[1].stopped && !sim_task[2].stopped);
	CHECK(core_next_stopped(&sim_rq) != NULL);
	CHECK(core_next_stopped(&sim_rq) != NULL);
	CHECK(!core_next_stopped(&sim_rq));
}

/*
 * The upper task sleeps before its work in every second job, and meets its deadline: two of its jobs
 * come close together, and the lower one is late. @return: how often.
 */
static u64 budget_sleeper(RTIME nap)
{
	RTIME high_left = 4, low_left = 5;
	RT_TASK *high, *low;
	bool slept = false;
	int job = 0;

	sim_reset(&core_fixed_priority);
	high = sim_add_periodic(0, 1, 0, 10);
	sim_task[1].relative_deadline = 10;
	low = sim_add_periodic(1, 2, 6, 12);
	for (RTIME now = 0; now < 5000; now++) {
		sim_advance(now);
		if (sim_rq.curr == high && !high_left) {
			high_left = 4;
			slept = false;
			job++;
			core_wait(&sim_rq, now);
			sim_pick();
		}
		if (sim_rq.curr == low && !low_left) {
			low_left = 5;
			core_wait(&sim_rq, now);
		}
		if (nap && sim_pick() == high && !slept && job % 2 == 0) {
			slept = true;
			core_block(&sim_rq, now + nap);
		}
		if (sim_pick() == high)
			high_left--;
		else if (sim_pick() == low)
			low_left--;
	}
	CHECK_EQ(high->misses, 0);
	return low->misses;
}

/* Jobs that wait are not what the tests of admission take them for, unless it is declared. */
static void budget_case_suspension_must_be_declared(void)
{
	struct adm_task set[] = { { 4, 10, 10, 1 }, { 5, 12, 10, 2 } };

	CHECK_EQ(adm_fixed(set, 2, ADM_ONE, 1000).reason, ADM_FITS);
	CHECK_EQ(budget_sleeper(0), 0);
	CHECK(budget_sleeper(6) > 100);
	set[0].cost += 6;
	CHECK_EQ(adm_fixed(set, 2, ADM_ONE, 1000).reason, ADM_UTILISATION);
}

/* ---- beside them ---- */

/* The interval holds however often it is set, and an arrival that waits for it is not lost. */
static void budget_case_sporadic_again(void)
{
	RT_TASK *a;

	sim_reset(&core_fixed_priority);
	a = sim_add(0, 1);
	core_make_sporadic(&sim_rq, a, 1000);
	for (RTIME now = 0; now < 1000; now += 10) {
		sim_advance(now);
		core_make_sporadic(&sim_rq, a, 1000);
		sim_wakeup(a, now, false);
		if (sim_pick()) {
			core_wait(&sim_rq, now + 5);
			sim_pick();
		}
	}
	CHECK_EQ(a->releases, 1);
	sim_advance(1000);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->release, 1000);
	/* In a job: so is one that came meanwhile. */
	sim_wakeup(a, 1001, false);
	core_make_sporadic(&sim_rq, a, 500);
	CHECK_EQ(core_wait(&sim_rq, 1002), 0);
	CHECK(!sim_pick());
	sim_advance(2000);
	CHECK(sim_pick() == a);
}

/* A sporadic task that has lived on later budgets waits until they are over. */
static void budget_case_sporadic_share(void)
{
	RTIME left = 35, total = 0, until = 100000;
	RT_TASK *a;

	sim_seed = 5;
	sim_reset(&core_fixed_priority);
	a = sim_add(0, 1);
	core_set_budget(a, 10, RT_BUDGET_THROTTLE);
	core_make_sporadic(&sim_rq, a, 100);
	for (RTIME now = 0; now < until; now++) {
		sim_advance(now);
		if (!sim_random(30))
			sim_wakeup(a, now, false);
		if (sim_rq.curr == a && !left) {
			left = 1 + sim_random(40);
			core_wait(&sim_rq, now);
		}
		if (sim_pick() != a)
			continue;
		left--;
		total++;
	}
	CHECK(total <= until / 10 + 10);
	CHECK(total > until / 20);
}

/* An owner that is as urgent as before keeps its place before equals that came later. */
static void budget_case_place_among_equals(void)
{
	RT_TASK *low, *equal, *high;

	sync_reset();
	low = sync_task(0, 30);
	CHECK_EQ(sync_lock(low, &sync_mtx[0]), 0);
	equal = sync_task(1, 30);
	high = sync_task(2, 10);
	CHECK(sim_pick() == high);
	CHECK_EQ(sync_mtx_lock(&sync_mtx[0], high), SYNC_WAIT);
	CHECK(sync_give_up(high, -ETIMEDOUT));
	core_suspend(&sim_rq, high, true);
	CHECK(sim_pick() == low);
	core_suspend(&sim_rq, low, true);
	CHECK(sim_pick() == equal);
}

/* Added again, to another CPU: the policy's data are new; and the longest job of any task counts. */
static void budget_case_small_matters(void)
{
	RT_TASK *a;

	sim_reset(&core_fixed_priority);
	a = sim_add(0, 1);
	a->policy_data[0] = 77;
	core_remove(&sim_rq, a);
	CHECK_EQ(core_add(&sim_rq, a), 0);
	CHECK_EQ(a->policy_data[0], 0);
	sim_wakeup(a, 0, true);
	CHECK(sim_pick() == a);
	core_suspend(&sim_rq, a, true);
	sim_now = 25;
	CHECK(!sim_pick());
	sim_wakeup(a, 30, true);
	CHECK_EQ(a->max_exec, 25);
}

/* A job that begins late, alone, has a budget of its own to the nanosecond. */
static void budget_case_alone_and_late(void)
{
	RT_TASK *task, *other;

	sim_reset(&core_fixed_priority);
	other = sim_add_periodic(0, 1, 100, 1000);
	task = sim_add(1, 2);
	CHECK_EQ(core_set_budget(task, 90, RT_BUDGET_COUNT), 0);
	core_make_periodic(&sim_rq, task, 100, 100, 0);
	sim_advance(100);
	CHECK(sim_pick() == other);
	sim_now = 215;
	core_wait(&sim_rq, 215);
	CHECK(sim_pick() == task);
	sim_now = 220;
	CHECK_EQ(core_wait(&sim_rq, 220), -ETIMEDOUT);
	CHECK(sim_pick() == task);
	CHECK_EQ(task->job_exec, 0);
	CHECK(!timerq_due(&sim_rq.timers, 309));
	CHECK(timerq_due(&sim_rq.timers, 310) == &sim_rq.budget_timer);
}

/* A release that the timer is early for pays for its job as any other; a moment to come does not. */
static void budget_case_gravity(void)
{
	RT_TASK *task;

	sim_reset(&core_fixed_priority);
	sim_rq.timers.gravity.job = 30;
	task = sim_add(0, 1);
	CHECK_EQ(core_set_budget(task, 40, RT_BUDGET_THROTTLE), 0);
	core_make_periodic(&sim_rq, task, 100, 100, 0);
	sim_advance(69);
	CHECK(!sim_pick());
	sim_advance(70);
	CHECK(sim_pick() == task && !task->throttled);
	sim_now = 110;
	core_budget_due(&sim_rq, 110);
	CHECK(task->throttled);
	CHECK(!sim_pick());
	/* The end of a throttling is no moment that anybody waits for the rest of. */
	CHECK(!timerq_due(&sim_rq.timers, 199));
	sim_advance(200);
	CHECK(sim_pick() == task);
}

#define BUDGET_CASES(do)				\
	do(budget_case_gravity)				\
	do(budget_case_alone_and_late)			\
	do(budget_case_against_the_oracle)		\
	do(budget_case_share)				\
	do(budget_case_deadline_is_postponed)		\
	do(budget_case_lasts_until_the_deadline)	\
	do(budget_case_stop_and_resume)			\
	do(budget_case_stop_is_for_jobs)		\
	do(budget_case_owner_has_credit)		\
	do(budget_case_watchdog_finds_the_culprit)	\
	do(budget_case_watchdog_sees_chains)		\
	do(budget_case_watchdog_beats_interrupts)	\
	do(budget_case_watchdog_and_owners)		\
	do(budget_case_suspension_must_be_declared)	\
	do(budget_case_sporadic_again)			\
	do(budget_case_sporadic_share)			\
	do(budget_case_place_among_equals)		\
	do(budget_case_small_matters)
