/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cases for the scheduling core and its policies, for the host and for KUnit: the includer
 * defines CHECK() and CHECK_EQ(), and includes the pure files and the policies.
 *
 * The conformance suite runs random task sets on the real core under a fake clock, tick
 * by tick, and a brute-force oracle beside it judges every tick: the task that runs must
 * be of the best rank among those that the oracle knows to be ready, a running task must
 * not lose the CPU to an equal, and Linux runs when nobody is ready, and then only.
 *
 * What supervises policies reads sim_ticks (sim_clock.h).
 */
#define SIM_TASKS 6
#define SIM_LINUX (-1)

static RT_TASK sim_task[SIM_TASKS];
static struct rt_rq sim_rq;
static struct heap_slot sim_ready[CORE_READY_SLOTS], sim_timers[CORE_TIMER_SLOTS];
static RTIME sim_now;

static u32 sim_seed;

static u32 sim_random(u32 below)
{
	sim_seed = sim_seed * 1664525 + 1013904223;
	return (u32)(((u64)sim_seed * below) >> 32);
}

static void sim_reset(const struct rt_sched_ops *ops)
{
	sim_now = 0;
	memset(sim_task, 0, sizeof(sim_task));
	core_init(&sim_rq, 0, ops, sim_ready, sim_timers);
}

static RT_TASK *sim_add(int i, int priority)
{
	sim_task[i].priority = priority;
	CHECK_EQ(core_add(&sim_rq, &sim_task[i]), 0);
	return &sim_task[i];
}

static RT_TASK *sim_add_periodic(int i, int priority, RTIME start, RTIME period)
{
	RT_TASK *task = sim_add(i, priority);

	CHECK_EQ(core_make_periodic(&sim_rq, task, start, period, sim_now), 0);
	return task;
}

/* To moment @now: what the timer interrupt does. */
static void sim_advance(RTIME now)
{
	struct rt_timer *timer;

	sim_now = now;
	while ((timer = core_release_due(&sim_rq, now)))
		if (timer->kind == TIMERQ_BUDGET)
			core_budget_due(&sim_rq, now);
		else if (timer->kind == TIMERQ_WATCH)
			core_watch_due(&sim_rq, now);
		else
			core_release(&sim_rq, container_of(timer, RT_TASK, timer));
}

/* By turns: both must choose alike. */
static RT_TASK *sim_pick(void)
{
	static bool released;

	if (!sim_rq.need_resched)
		return sim_rq.curr;
	released = !released;
	return released ? core_pick_released(&sim_rq, sim_now) : core_pick(&sim_rq, sim_now);
}

/* rt_task_wakeup(), by a Linux process or by RT code. */
static void sim_wakeup(RT_TASK *task, RTIME now, bool by_linux)
{
	if (core_wakeup(&sim_rq, task, now) == -EAGAIN)
		core_wake_stopped(&sim_rq, task, now, by_linux);
}

/* ---- conformance ---- */

struct oracle {
	RTIME offset, period, cost, deadline;
	RTIME left;			/* of the present job */
	RTIME ran;
	u64 done, overruns, misses;
};

typedef u64 (*sim_rank)(int i, const struct oracle *o);

static struct oracle oracle[SIM_TASKS];

static RTIME oracle_release(const struct oracle *o)
{
	return o->offset + o->done * o->period;
}

static u64 rank_priority(int i, const struct oracle *o)
{
	return sim_task[i].priority;
}

static u64 rank_period(int i, const struct oracle *o)
{
	return (u64)o->period * 100 + sim_task[i].priority;
}

static u64 rank_relative_deadline(int i, const struct oracle *o)
{
	return (u64)o->deadline * 100 + sim_task[i].priority;
}

static u64 rank_deadline(int i, const struct oracle *o)
{
	return oracle_release(o) + o->deadline;
}

/* Is @running right at this tick, given who ran just before? Then account for the tick. */
static void oracle_tick(int count, int running, int before, bool before_done, sim_rank rank)
{
	u64 best = ~0ULL;

	for (int i = 0; i < count; i++)
		if (oracle_release(&oracle[i]) <= sim_now && rank(i, &oracle[i]) < best)
			best = rank(i, &oracle[i]);
	if (best == ~0ULL) {
		CHECK_EQ(running, SIM_LINUX);
		return;
	}
	CHECK(running != SIM_LINUX);
	CHECK(oracle_release(&oracle[running]) <= sim_now);
	CHECK_EQ(rank(running, &oracle[running]), best);
	if (before != SIM_LINUX && !before_done && rank(before, &oracle[before]) == best)
		CHECK_EQ(running, before);
	oracle[running].left--;
	oracle[running].ran++;
}

/* The job that runs has used its cost: tell both, and compare what they count. */
static void sim_finish(int i)
{
	struct oracle *o = &oracle[i];
	RT_TASK *task = &sim_task[i];
	int result;

	CHECK_EQ(task->release, oracle_release(o));
	o->misses += sim_now > oracle_release(o) + o->deadline;
	o->done++;
	o->left = o->cost;
	o->overruns += oracle_release(o) < sim_now;
	result = core_wait(&sim_rq, sim_now);
	CHECK_EQ(result, oracle_release(o) < sim_now ? -ETIMEDOUT : 0);
	CHECK_EQ(task->releases, o->done + (oracle_release(o) <= sim_now));
	CHECK_EQ(task->overruns, o->overruns);
	CHECK_EQ(task->misses, o->misses);
	CHECK_EQ(task->max_exec, o->cost);
}

/* @other: a policy of the same rank, which takes turns with @ops; or NULL */
static void conform_one(const struct rt_sched_ops *ops, const struct rt_sched_ops *other,
			sim_rank rank, bool equal_ranks)
{
	int count = 1 + sim_random(SIM_TASKS), before = SIM_LINUX;
	bool before_done = false;

	sim_reset(ops);
	for (int i = 0; i < count; i++) {
		struct oracle *o = &oracle[i];

		*o = (struct oracle) {
			.offset = sim_random(10), .period = 1 + sim_random(20),
			.cost = 1 + sim_random(5),
		};
		o->deadline = sim_random(2) ? o->period : 1 + sim_random(30);
		o->left = o->cost;
		sim_task[i].relative_deadline = o->deadline;
		sim_add_periodic(i, equal_ranks ? 1 + (int)sim_random(2) : i + 1,
				 o->offset, o->period);
	}
	for (RTIME now = 0; now < 200; now++) {
		RT_TASK *task;
		int running;

		sim_advance(now);
		if (before != SIM_LINUX && before_done)
			sim_finish(before);
		if (other && sim_random(5) == 0)
			core_swap(&sim_rq, sim_rq.policy == ops ? other : ops);
		task = sim_pick();
		CHECK(!sim_rq.ejected);
		running = task ? task - sim_task : SIM_LINUX;
		oracle_tick(count, running, before, before_done, rank);
		before = running;
		before_done = running != SIM_LINUX && !oracle[running].left;
	}
	sim_rq.need_resched = true;
	sim_now = 200;
	sim_pick();
	for (int i = 0; i < count; i++)
		CHECK_EQ(sim_task[i].exec, oracle[i].ran);
}

static void conform(const struct rt_sched_ops *given, sim_rank rank)
{
	struct rt_sched_ops ops, twin;

	CHECK_EQ(core_complete_ops(&ops, given), 0);
	CHECK_EQ(ops.init(), 0);
	sim_seed = 1;
	for (int set = 0; set < 2000; set++)
		conform_one(&ops, NULL, rank, set % 2);
	/* The policy comes and goes while tasks run: nobody notices. */
	twin = ops;
	for (int set = 0; set < 500; set++)
		conform_one(&ops, &twin, rank, set % 2);
}

static void sched_case_conform_fixed_priority(void)
{
	conform(&core_fixed_priority, rank_priority);
}

/* A policy with a queue of its own: the first of the highest priority. */
static RT_TASK *sim_own_queue[SIM_TASKS];
static int sim_own_count;

static void sim_own_enqueue(struct rt_rq *rq, RT_TASK *task)
{
	CHECK(sim_own_count < SIM_TASKS);
	sim_own_queue[sim_own_count++] = task;
}

static int sim_own_place(const RT_TASK *task)
{
	int i = 0;

	while (i < sim_own_count && sim_own_queue[i] != task)
		i++;
	return i;
}

static void sim_own_dequeue(struct rt_rq *rq, RT_TASK *task)
{
	int i = sim_own_place(task);

	CHECK(i < sim_own_count);
	for (sim_own_count--; i < sim_own_count; i++)
		sim_own_queue[i] = sim_own_queue[i + 1];
}

static void sim_own_detach(struct rt_rq *rq, RT_TASK *task)
{
	CHECK_EQ(sim_own_place(task), sim_own_count);
}

static RT_TASK *sim_own_pick(struct rt_rq *rq)
{
	RT_TASK *best = NULL;

	for (int i = 0; i < sim_own_count; i++)
		if (!best || sim_own_queue[i]->priority < best->priority)
			best = sim_own_queue[i];
	return best;
}

static const struct rt_sched_ops sim_own = {
	.name = "own", .enqueue = sim_own_enqueue, .dequeue = sim_own_dequeue,
	.pick = sim_own_pick, .detach = sim_own_detach,
};

/* It takes turns with the built-in one, and has nothing left of a task that is not its own. */
static void sched_case_conform_own_queue(void)
{
	struct rt_sched_ops own;

	CHECK_EQ(core_complete_ops(&own, &sim_own), 0);
	sim_seed = 5;
	for (int set = 0; set < 2000; set++) {
		sim_own_count = 0;
		conform_one(&own, &core_fixed_priority, rank_priority, set % 2);
		core_swap(&sim_rq, &core_fixed_priority);
		CHECK_EQ(sim_own_count, 0);
	}
}

static void sched_case_conform_rm(void)
{
	conform(&rm, rank_period);
	order = "deadline";
	conform(&rm, rank_relative_deadline);
	order = "priority";
	conform(&rm, rank_priority);
	order = "chance";
	CHECK_EQ(rm.init(), -EINVAL);
	order = "period";
}

/* ---- the order of events ---- */

#define TRACE_SLOTS 1024

static struct event trace_slots[TRACE_SLOTS];
static bool trace_stopped;
static u64 trace_read;
static u64 waits_since[SIM_TASKS], waits;	/* the oracle's: who began to wait first */
static bool has_begun[SIM_TASKS];

static u64 sim_clock(void)
{
	return sim_now;
}

/* The next event must be this one, of now. */
static void trace_expect(enum event_kind kind, int i)
{
	struct event *event = &trace_slots[trace_read % TRACE_SLOTS];

	CHECK(trace_read < sim_rq.events.written);
	CHECK_EQ(event->kind, kind);
	CHECK_EQ(event->task, sim_task[i].id);
	CHECK_EQ(event->when, sim_now);
	trace_read++;
}

/* Those that are released now by the clock, in the order in which they began to wait. */
static void trace_releases(int count)
{
	u64 after = 0;

	for (;;) {
		int next = -1;

		for (int i = 0; i < count; i++)
			if (oracle_release(&oracle[i]) == sim_now && waits_since[i] > after &&
			    (next < 0 || waits_since[i] < waits_since[next]))
				next = i;
		if (next < 0)
			return;
		after = waits_since[next];
		waits_since[next] = 0;
		trace_expect(EVENT_RELEASE, next);
	}
}

static void trace_switch(int before, int running)
{
	if (before != SIM_LINUX && before != running && has_begun[before])
		trace_expect(EVENT_PREEMPT, before);
	if (running == SIM_LINUX || (running == before && has_begun[running]))
		return;
	trace_expect(has_begun[running] ? EVENT_RESUME : EVENT_START, running);
	has_begun[running] = true;
}

/* Which task runs is conform_one()'s to judge; here the oracle says what must have been noted of it. */
static void trace_one(const struct rt_sched_ops *ops)
{
	int count = 1 + sim_random(SIM_TASKS), before = SIM_LINUX;

	sim_reset(ops);
	sim_rq.events = (struct events) {
		.slot = trace_slots, .store = trace_slots, .mask = TRACE_SLOTS - 1,
		.clock = sim_clock, .stopped = &trace_stopped,
	};
	trace_read = waits = 0;
	sim_now = -1;
	for (int i = 0; i < count; i++) {
		oracle[i] = (struct oracle) {
			.offset = sim_random(10), .period = 1 + sim_random(20),
			.cost = 1 + sim_random(5),
		};
		oracle[i].left = oracle[i].cost;
		has_begun[i] = false;
		waits_since[i] = ++waits;
		sim_add_periodic(i, 1 + (int)sim_random(3), oracle[i].offset, oracle[i].period);
	}
	for (RTIME now = 0; now < 200; now++) {
		RT_TASK *task;
		int running;

		sim_advance(now);
		trace_releases(count);
		if (before != SIM_LINUX && !oracle[before].left) {
			struct oracle *o = &oracle[before];

			core_wait(&sim_rq, now);
			o->done++;
			o->left = o->cost;
			has_begun[before] = false;
			trace_expect(EVENT_COMPLETE, before);
			if (oracle_release(o) <= now)
				trace_expect(EVENT_RELEASE, before);
			else
				waits_since[before] = ++waits;
		}
		task = sim_pick();
		running = task ? task - sim_task : SIM_LINUX;
		trace_switch(before, running);
		if (task)
			oracle[running].left--;
		before = running;
		CHECK_EQ(trace_read, sim_rq.events.written);
	}
	CHECK(trace_read < TRACE_SLOTS);
}

static void sched_case_order_of_events(void)
{
	static const struct rt_sched_ops *const given[] = { &core_fixed_priority, &rm, &edf };
	struct events *events = &sim_rq.events;
	struct rt_sched_ops ops;
	RT_TASK *a;

	sim_seed = 4;
	for (int policy = 0; policy < 3; policy++) {
		CHECK_EQ(core_complete_ops(&ops, given[policy]), 0);
		for (int set = 0; set < 100; set++)
			trace_one(&ops);
	}
	/* A job that waits; and a ring that has gone round. */
	sim_reset(&core_fixed_priority);
	*events = (struct events) {
		.slot = trace_slots, .store = trace_slots, .mask = 3, .clock = sim_clock,
		.stopped = &trace_stopped,
	};
	trace_read = 0;
	a = sim_add(0, 1);
	CHECK_EQ(events_count(events), 0);
	core_wakeup(&sim_rq, a, 0);
	sim_pick();
	CHECK_EQ(events_count(events), 2);
	core_suspend(&sim_rq, a, false);
	sim_pick();
	core_wakeup(&sim_rq, a, 5);
	sim_pick();
	/* It has no period: each wake-up is a release. */
	CHECK_EQ(events->written, 5);
	CHECK_EQ(events_count(events), 4);
	CHECK_EQ(events_get(events, 0).kind, EVENT_START);
	CHECK_EQ(events_get(events, 1).kind, EVENT_BLOCK);
	CHECK_EQ(events_get(events, 2).kind, EVENT_RELEASE);
	CHECK_EQ(events_get(events, 3).kind, EVENT_START);
	/* One that is late, and alone, has its events, too. */
	core_make_periodic(&sim_rq, a, 0, 100, 0);
	sim_now = 150;
	CHECK_EQ(core_wait(&sim_rq, 150), -ETIMEDOUT);
	sim_pick();
	CHECK_EQ(events_get(events, 1).kind, EVENT_COMPLETE);
	CHECK_EQ(events_get(events, 2).kind, EVENT_RELEASE);
	CHECK_EQ(events_get(events, 3).kind, EVENT_START);
}

/* A job that starts too late stops the rings; one that starts in time does not. */
static void sched_case_late_stops_events(void)
{
	struct events *events = &sim_rq.events;
	RT_TASK *a;

	sim_reset(&core_fixed_priority);
	trace_stopped = false;
	*events = (struct events) {
		.slot = trace_slots, .store = trace_slots, .mask = 7, .clock = sim_clock,
		.late_ns = 3, .stopped = &trace_stopped,
	};
	a = sim_add_periodic(0, 1, 10, 100);
	sim_advance(10);
	sim_now = 13;
	sim_pick();
	CHECK(!trace_stopped);
	core_wait(&sim_rq, 20);
	sim_now = 20;
	sim_pick();
	sim_advance(110);
	sim_now = 114;
	sim_pick();
	CHECK(trace_stopped);
	CHECK_EQ(events->written, 6);
	CHECK_EQ(events_get(events, 4).kind, EVENT_START);
	CHECK_EQ(events_get(events, 4).arg, 110);
	CHECK_EQ(events_get(events, 5).kind, EVENT_LATE);
	CHECK_EQ(events_get(events, 5).arg, 4);
	CHECK_EQ(events_get(events, 5).task, a->id);
	/* What comes later is not noted, and what was noted can be read. */
	core_wait(&sim_rq, 120);
	CHECK(!events->slot);
	CHECK_EQ(events_count(events), 6);
	trace_stopped = false;
}

static void sched_case_conform_edf(void)
{
	conform(&edf, rank_deadline);
}

/* ---- the textbook ---- */

struct textbook {
	RTIME cost, period;
	u64 releases, misses;		/* worked out by hand (and by a program of ten lines) */
};

/* All start at 0; runs @until, a multiple of the hyperperiod, and compares the counts. */
static void textbook_run(const struct rt_sched_ops *given, const struct textbook *set, int count,
			 RTIME until)
{
	struct rt_sched_ops ops;
	int before = SIM_LINUX;

	CHECK_EQ(core_complete_ops(&ops, given), 0);
	CHECK_EQ(ops.init(), 0);
	sim_reset(&ops);
	for (int i = 0; i < count; i++) {
		oracle[i] = (struct oracle) {
			.period = set[i].period, .cost = set[i].cost, .left = set[i].cost,
			.deadline = set[i].period,
		};
		sim_add_periodic(i, i + 1, 0, set[i].period);
	}
	for (RTIME now = 0; now <= until; now++) {
		RT_TASK *task;

		if (now < until)
			sim_advance(now);
		sim_now = now;
		if (before != SIM_LINUX && !oracle[before].left)
			sim_finish(before);
		task = sim_pick();
		before = task ? task - sim_task : SIM_LINUX;
		if (task)
			oracle[before].left--;
	}
	for (int i = 0; i < count; i++) {
		CHECK_EQ(oracle[i].done, set[i].releases);
		CHECK_EQ(sim_task[i].misses, set[i].misses);
		CHECK_EQ(sim_task[i].overruns, set[i].misses);
	}
}

/* U = 34/35: more than rate monotonic can do; the slower task is late once a hyperperiod. */
static void sched_case_textbook_rm_misses_edf_meets(void)
{
	static const struct textbook under_rm[] = { { 2, 5, 70, 0 }, { 4, 7, 50, 10 } };
	static const struct textbook under_edf[] = { { 2, 5, 70, 0 }, { 4, 7, 50, 0 } };

	textbook_run(&rm, under_rm, 2, 350);
	textbook_run(&edf, under_edf, 2, 350);
}

/* U = 1: harmonic periods suit both; others EDF only. */
static void sched_case_textbook_full_load(void)
{
	static const struct textbook harmonic[] = { { 1, 2, 30, 0 }, { 1, 4, 15, 0 }, { 1, 4, 15, 0 } };
	static const struct textbook under_edf[] = { { 2, 4, 30, 0 }, { 3, 6, 20, 0 } };
	static const struct textbook under_rm[] = { { 2, 4, 30, 0 }, { 3, 6, 20, 10 } };

	textbook_run(&rm, harmonic, 3, 60);
	textbook_run(&edf, harmonic, 3, 60);
	textbook_run(&edf, under_edf, 2, 120);
	textbook_run(&rm, under_rm, 2, 120);
}

/* ---- the meaning of the calls ---- */

static void sched_case_first_come_first_served(void)
{
	RT_TASK *a, *b, *c;

	sim_reset(&core_fixed_priority);
	a = sim_add(0, 5);
	b = sim_add(1, 5);
	c = sim_add(2, 4);
	core_wakeup(&sim_rq, a, 0);
	CHECK(sim_pick() == a);
	core_wakeup(&sim_rq, b, 0);
	CHECK(!sim_rq.need_resched);
	CHECK(sim_pick() == a);
	/* Pre-empted by a more urgent one, a keeps its place before b. */
	core_wakeup(&sim_rq, c, 0);
	CHECK(sim_pick() == c);
	core_suspend(&sim_rq, c, true);
	CHECK(sim_pick() == a);
	/* Having stopped of its own accord it goes behind b. */
	core_suspend(&sim_rq, a, true);
	core_wakeup(&sim_rq, a, 0);
	CHECK(sim_pick() == b);
	core_suspend(&sim_rq, b, true);
	CHECK(sim_pick() == a);
	core_suspend(&sim_rq, a, true);
	CHECK(!sim_pick());
}

/* A task that overruns goes behind its equals. */
static void sched_case_overrun_yields_to_equals(void)
{
	RT_TASK *a, *b;

	sim_reset(&core_fixed_priority);
	a = sim_add_periodic(0, 1, 0, 10);
	CHECK(sim_pick() == a);
	b = sim_add_periodic(1, 1, 5, 10);
	sim_advance(25);
	CHECK(sim_pick() == a);
	CHECK_EQ(core_wait(&sim_rq, 25), -ETIMEDOUT);
	CHECK(sim_pick() == b);
	CHECK_EQ(a->release, 10);
	CHECK_EQ(a->overruns, 1);
	CHECK_EQ(a->misses, 1);
}

static void sched_case_start_in_the_past(void)
{
	RT_TASK *a;

	sim_reset(&core_fixed_priority);
	sim_now = 1000;
	a = sim_add_periodic(0, 1, 1000, 10);
	CHECK_EQ(a->state, CORE_READY);
	CHECK_EQ(a->release, 1000);
	sim_reset(&core_fixed_priority);
	sim_now = 1000;
	a = sim_add_periodic(0, 1, 993, 300);
	CHECK_EQ(a->release, 993);
	CHECK(sim_pick() == a);
	CHECK_EQ(core_wait(&sim_rq, 1001), 0);
	CHECK_EQ(a->next_release, 1293);
	CHECK_EQ(a->state, CORE_WAITING);
	sim_reset(&core_fixed_priority);
	sim_now = 1000;
	a = sim_add_periodic(0, 1, 3, 10);
	CHECK_EQ(a->release, 993);
	CHECK_EQ(a->releases, 1);
	CHECK_EQ(a->next_release, 1003);
	sim_reset(&core_fixed_priority);
	sim_now = 1000;
	a = sim_add_periodic(0, 1, 1001, 10);
	CHECK_EQ(a->releases, 0);
	CHECK_EQ(a->state, CORE_WAITING);
}

/* A running task that makes itself periodic is in its first job. */
static void sched_case_makes_itself_periodic(void)
{
	RT_TASK *a;

	sim_reset(&core_fixed_priority);
	a = sim_add(0, 1);
	core_wakeup(&sim_rq, a, 0);
	CHECK(sim_pick() == a);
	CHECK_EQ(core_wait(&sim_rq, 1), -EPERM);
	CHECK_EQ(core_make_periodic(&sim_rq, a, 100, 10, 102), 0);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->releases, 1);
	CHECK_EQ(a->release, 100);
	CHECK_EQ(core_wait(&sim_rq, 103), 0);
	sim_advance(110);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->releases, 2);
	/* A later start: the job goes on, the next release is the start. */
	CHECK_EQ(core_make_periodic(&sim_rq, a, 500, 20, 111), 0);
	CHECK(sim_pick() == a);
	CHECK_EQ(core_wait(&sim_rq, 112), 0);
	CHECK_EQ(sim_rq.timers.heap.count, 1);
	CHECK(!timerq_due(&sim_rq.timers, 499));
	CHECK(timerq_due(&sim_rq.timers, 500));
}

static void sched_case_periodic_arguments(void)
{
	CHECK_EQ(core_check_periodic(0, RT_PERIOD_MIN_NS), 0);
	CHECK_EQ(core_check_periodic(0, RT_PERIOD_MAX_NS), 0);
	CHECK_EQ(core_check_periodic(RTIME_MAX - 10000, 10000), 0);
	CHECK_EQ(core_check_periodic(0, 0), -EINVAL);
	CHECK_EQ(core_check_periodic(0, -1), -EINVAL);
	CHECK_EQ(core_check_periodic(0, RT_PERIOD_MIN_NS - 1), -EINVAL);
	CHECK_EQ(core_check_periodic(0, RT_PERIOD_MAX_NS + 1), -EINVAL);
	CHECK_EQ(core_check_periodic(0, RTIME_MAX), -EINVAL);
	CHECK_EQ(core_check_periodic(-1, 10000), -EINVAL);
	CHECK_EQ(core_check_periodic(RTIME_MAX - 9999, 10000), -EINVAL);
	CHECK_EQ(core_check_periodic(RTIME_MAX, 10000), -EINVAL);
}

static void sched_case_deadlines(void)
{
	RT_TASK *a, *b;

	sim_reset(&core_fixed_priority);
	a = sim_add(0, 1);
	CHECK_EQ(core_set_deadline(&sim_rq, a, -1), -EINVAL);
	CHECK_EQ(core_set_deadline(&sim_rq, a, RT_PERIOD_MAX_NS + 1), -EINVAL);
	CHECK_EQ(a->relative_deadline, 0);
	CHECK_EQ(core_set_deadline(&sim_rq, a, 30), 0);
	/* Without a period: after each wake-up. */
	core_wakeup(&sim_rq, a, 100);
	CHECK_EQ(a->deadline, 130);
	b = sim_add_periodic(1, 2, 200, 50);
	sim_advance(200);
	CHECK_EQ(b->deadline, 250);
	CHECK_EQ(core_set_deadline(&sim_rq, b, 20), 0);
	CHECK_EQ(b->deadline, 250);
	core_suspend(&sim_rq, a, true);
	CHECK(sim_pick() == b);
	CHECK_EQ(core_wait(&sim_rq, 230), 0);
	CHECK_EQ(b->misses, 0);
	sim_advance(250);
	CHECK_EQ(b->deadline, 270);
	CHECK(sim_pick() == b);
	CHECK_EQ(core_wait(&sim_rq, 271), 0);
	CHECK_EQ(b->misses, 1);
	CHECK_EQ(core_set_deadline(&sim_rq, a, 0), 0);
	core_wakeup(&sim_rq, a, 400);
	CHECK_EQ(a->deadline, RT_NO_DEADLINE);
}

static void sched_case_suspend_a_waiting_task(void)
{
	RT_TASK *a;

	sim_reset(&core_fixed_priority);
	a = sim_add_periodic(0, 1, 100, 10);
	core_suspend(&sim_rq, a, false);
	CHECK(!timerq_due(&sim_rq.timers, ~0ULL));
	core_suspend(&sim_rq, a, false);
	/* Woken up in time: nothing lost. */
	core_wakeup(&sim_rq, a, 50);
	sim_advance(100);
	CHECK_EQ(a->release, 100);
	CHECK(sim_pick() == a);
	CHECK_EQ(core_wait(&sim_rq, 101), 0);
	/* Woken up too late: at once, for the last moment; the others are skipped. */
	core_suspend(&sim_rq, a, false);
	sim_advance(145);
	CHECK(!sim_pick());
	core_wakeup(&sim_rq, a, 145);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->release, 140);
	CHECK_EQ(a->skipped, 3);
	CHECK_EQ(a->releases, 2);
	CHECK_EQ(core_wait(&sim_rq, 146), 0);
	CHECK_EQ(a->next_release, 150);
	/* Woken up at a release moment exactly: that one is not lost. */
	core_suspend(&sim_rq, a, false);
	core_wakeup(&sim_rq, a, 170);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->release, 170);
	CHECK_EQ(a->skipped, 5);
	CHECK_EQ(a->overruns, 0);
}

static void sched_case_suspend_inside_a_job(void)
{
	RT_TASK *a;

	sim_reset(&core_fixed_priority);
	a = sim_add_periodic(0, 1, 100, 10);
	sim_advance(100);
	CHECK(sim_pick() == a);
	core_suspend(&sim_rq, a, false);
	CHECK(!sim_pick());
	core_wakeup(&sim_rq, a, 135);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->release, 100);
	CHECK_EQ(a->skipped, 3);
	CHECK_EQ(core_wait(&sim_rq, 136), 0);
	CHECK_EQ(a->next_release, 140);
	CHECK_EQ(a->overruns, 0);
	CHECK_EQ(a->misses, 1);
}

/* An interrupt that comes before its task is done with the one before is kept. */
static void sched_case_wakeup_before_suspend(void)
{
	RT_TASK *a;

	sim_reset(&core_fixed_priority);
	a = sim_add(0, 1);
	core_wakeup(&sim_rq, a, 10);
	CHECK_EQ(a->release, 10);
	CHECK(sim_pick() == a);
	core_wakeup(&sim_rq, a, 20);
	core_wakeup(&sim_rq, a, 30);
	/* Another's suspension does not use it up. */
	core_suspend(&sim_rq, a, false);
	CHECK(!sim_pick());
	core_wakeup(&sim_rq, a, 40);
	CHECK(sim_pick() == a);
	core_suspend(&sim_rq, a, true);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->release, 20);
	core_suspend(&sim_rq, a, true);
	CHECK(!sim_pick());
	core_wakeup(&sim_rq, a, 50);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->release, 50);
	CHECK_EQ(a->releases, 4);
}

static void sched_case_sleep_inside_a_job(void)
{
	RT_TASK *a, *b;

	sim_reset(&core_fixed_priority);
	a = sim_add_periodic(0, 1, 100, 50);
	b = sim_add(1, 2);
	core_wakeup(&sim_rq, b, 0);
	sim_advance(100);
	CHECK(sim_pick() == a);
	core_block(&sim_rq, 130);
	CHECK(sim_pick() == b);
	sim_advance(129);
	CHECK(sim_pick() == b);
	sim_advance(130);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->release, 100);
	CHECK_EQ(a->releases, 1);
	/* Suspended while it sleeps: it must be woken up as well, and the clock runs on. */
	core_block(&sim_rq, 140);
	core_suspend(&sim_rq, a, false);
	sim_advance(140);
	CHECK(sim_pick() == b);
	core_wakeup(&sim_rq, a, 141);
	CHECK(sim_pick() == a);
	core_block(&sim_rq, 170);
	core_suspend(&sim_rq, a, false);
	core_wakeup(&sim_rq, a, 160);
	CHECK(sim_pick() == b);
	CHECK_EQ(a->skipped, 1);
	/* A new period does not end the sleep. */
	CHECK_EQ(core_make_periodic(&sim_rq, a, 165, 20, 165), 0);
	CHECK(sim_pick() == b);
	sim_advance(170);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->release, 165);
	CHECK_EQ(core_wait(&sim_rq, 171), 0);
	CHECK_EQ(a->next_release, 185);
	/* Slept over releases: they are late, not lost. */
	sim_advance(185);
	CHECK(sim_pick() == a);
	core_block(&sim_rq, 230);
	sim_advance(230);
	CHECK(sim_pick() == a);
	CHECK_EQ(core_wait(&sim_rq, 231), -ETIMEDOUT);
	CHECK_EQ(a->release, 205);
	/* Without an end: until it is unblocked. */
	CHECK(sim_pick() == a);
	core_block(&sim_rq, RT_NO_DEADLINE);
	CHECK(!timerq_due(&sim_rq.timers, ~0ULL));
	CHECK(sim_pick() == b);
	core_unblock(&sim_rq, a);
	CHECK(sim_pick() == a);
	core_block(&sim_rq, 300);
	core_kill(&sim_rq, a);
	CHECK(!timerq_due(&sim_rq.timers, ~0ULL));
}

static void sched_case_budget_arguments(void)
{
	RT_TASK *a;

	sim_reset(&core_fixed_priority);
	a = sim_add(0, 1);
	CHECK_EQ(core_set_budget(a, -1, RT_BUDGET_STOP), -EINVAL);
	CHECK_EQ(core_set_budget(a, RT_PERIOD_MAX_NS + 1, RT_BUDGET_STOP), -EINVAL);
	CHECK_EQ(core_set_budget(a, 10, -1), -EINVAL);
	CHECK_EQ(core_set_budget(a, 10, RT_BUDGET_STOP + 1), -EINVAL);
	CHECK_EQ(a->budget, 0);
	CHECK_EQ(core_set_budget(a, 10, RT_BUDGET_STOP), 0);
	CHECK_EQ(core_set_budget(a, 0, RT_BUDGET_COUNT), 0);
}

/* A more urgent task's time is not on the account of the one it pre-empts. */
static void sched_case_budget_is_cpu_time(void)
{
	RT_TASK *a, *b;

	sim_reset(&core_fixed_priority);
	a = sim_add_periodic(0, 1, 5, 100);
	b = sim_add_periodic(1, 2, 0, 200);
	core_set_budget(b, 10, RT_BUDGET_STOP);
	sim_advance(0);
	CHECK(sim_pick() == b);
	sim_advance(5);
	CHECK(sim_pick() == a);
	sim_advance(35);
	CHECK_EQ(core_wait(&sim_rq, 35), 0);
	CHECK(sim_pick() == b);
	sim_advance(39);
	CHECK(sim_pick() == b);
	CHECK_EQ(b->budget_overruns, 0);
	sim_advance(40);
	CHECK_EQ(b->budget_overruns, 1);
	CHECK(sim_rq.stopped && core_next_stopped(&sim_rq) == b);
	CHECK(!sim_pick());
	CHECK_EQ(b->exec, 10);
	CHECK_EQ(a->exec, 30);
	/* Stopped: until somebody wakes it up. */
	sim_advance(110);
	CHECK(sim_pick() == a);
	CHECK_EQ(core_wait(&sim_rq, 111), 0);
	CHECK(!sim_pick());
	CHECK_EQ(strcmp(core_state_name(&sim_rq, b), "stopped"), 0);
	/* RT code cannot undo that, and Linux not before the next release moment. */
	sim_wakeup(b, 112, false);
	CHECK(!sim_pick());
	sim_wakeup(b, 113, true);
	CHECK(!sim_pick());
	CHECK_EQ(strcmp(core_state_name(&sim_rq, b), "throttled"), 0);
	sim_advance(200);
	CHECK_EQ(a->release, 205 - 100);
	CHECK(sim_pick() == b);
	CHECK_EQ(b->release, 0);
	/* Raised while it runs. */
	sim_reset(&core_fixed_priority);
	b = sim_add_periodic(1, 2, 0, 200);
	core_set_budget(b, 10, RT_BUDGET_STOP);
	CHECK(sim_pick() == b);
	sim_advance(5);
	core_set_budget(b, 20, RT_BUDGET_STOP);
	sim_advance(19);
	CHECK_EQ(b->budget_overruns, 0);
	sim_advance(20);
	CHECK_EQ(b->budget_overruns, 1);
}

static void sched_case_budget_counts(void)
{
	RT_TASK *a;

	sim_reset(&core_fixed_priority);
	a = sim_add_periodic(0, 1, 0, 100);
	core_set_budget(a, 10, RT_BUDGET_COUNT);
	for (RTIME job = 0; job < 5; job++) {
		sim_advance(job * 100);
		CHECK(sim_pick() == a);
		for (RTIME t = 1; t <= 30; t++)
			sim_advance(job * 100 + t);
		CHECK(sim_pick() == a);
		CHECK_EQ(core_wait(&sim_rq, sim_now), 0);
		CHECK(!sim_pick());
		CHECK_EQ(a->budget_overruns, job + 1);
	}
	CHECK_EQ(a->max_exec, 30);
	CHECK_EQ(a->exec, 150);
}

static void sched_case_budget_throttles(void)
{
	RT_TASK *a;

	sim_reset(&core_fixed_priority);
	a = sim_add_periodic(0, 1, 0, 100);
	core_set_budget(a, 10, RT_BUDGET_THROTTLE);
	sim_advance(0);
	CHECK(sim_pick() == a);
	/* A job of 25 ns takes three periods of its budget. */
	sim_advance(10);
	CHECK(!sim_pick());
	CHECK_EQ(strcmp(core_state_name(&sim_rq, a), "throttled"), 0);
	sim_advance(99);
	CHECK(!sim_pick());
	sim_advance(100);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->release, 0);
	sim_advance(110);
	CHECK(!sim_pick());
	sim_advance(200);
	CHECK(sim_pick() == a);
	sim_advance(205);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->exec, 20);
	CHECK_EQ(core_wait(&sim_rq, 205), -ETIMEDOUT);
	CHECK_EQ(a->exec, 25);
	CHECK_EQ(a->budget_overruns, 2);
	CHECK_EQ(a->release, 100);
	/* The next job, late, has what is left of the budget of 200 until 300 brings another. */
	CHECK(sim_pick() == a);
	sim_advance(209);
	CHECK(sim_pick() == a);
	sim_advance(210);
	CHECK(!sim_pick());
	sim_advance(300);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->release, 100);
	CHECK_EQ(core_wait(&sim_rq, 303), -ETIMEDOUT);
	CHECK_EQ(a->release, 200);
	sim_advance(310);
	CHECK(!sim_pick());
	core_kill(&sim_rq, a);
	/* Without a period there is no renewal. */
	sim_reset(&core_fixed_priority);
	a = sim_add(0, 1);
	core_set_budget(a, 10, RT_BUDGET_THROTTLE);
	core_wakeup(&sim_rq, a, 0);
	CHECK(sim_pick() == a);
	sim_advance(10);
	CHECK(!sim_pick());
	CHECK(sim_rq.stopped && core_next_stopped(&sim_rq) == a);
}

/* A task that never yields is stopped after watch_ns; what leaves Linux some time is not. */
static void sched_case_watchdog(void)
{
	RT_TASK *good, *hog, *greedy;

	sim_reset(&core_fixed_priority);
	sim_rq.watch_ns = 1000;
	good = sim_add_periodic(0, 1, 40, 50);
	for (RTIME now = 0; now < 5000; now++) {
		sim_advance(now);
		sim_pick();
		if (now % 50 == 39 && sim_rq.curr) {
			core_wait(&sim_rq, now);
			sim_pick();
		}
	}
	CHECK(!sim_rq.stopped);
	CHECK_EQ(good->releases, 100);
	if (sim_rq.curr)
		core_wait(&sim_rq, 5000);
	sim_pick();

	/* The one of least priority is the culprit, also while another is on the CPU. */
	hog = sim_add(1, 9);
	greedy = sim_add(2, 10);
	sim_advance(5000);
	core_wakeup(&sim_rq, hog, 5000);
	core_wakeup(&sim_rq, greedy, 5000);
	for (RTIME now = 5000; now < 7000 && !sim_rq.stopped; now++) {
		sim_advance(now);
		sim_pick();
		if (now % 50 == 10 && sim_rq.curr == good)
			core_wait(&sim_rq, now);
		sim_pick();
	}
	CHECK(sim_rq.curr == good);
	CHECK(sim_rq.stopped && core_next_stopped(&sim_rq) == hog);
	CHECK_EQ(sim_now, 6000);
	/* Another that takes its place has less time. */
	core_suspend(&sim_rq, good, false);
	CHECK(sim_pick() == greedy);
	sim_advance(6099);
	CHECK(!sim_rq.stopped);
	sim_advance(6100);
	CHECK(sim_rq.stopped && core_next_stopped(&sim_rq) == greedy);
	CHECK(!sim_pick());
	/* Nobody left to watch. */
	sim_advance(6200);
	CHECK_EQ(sim_rq.timers.heap.count, 0);
	/* Switched off. */
	sim_reset(&core_fixed_priority);
	hog = sim_add(1, 9);
	core_wakeup(&sim_rq, hog, 0);
	CHECK(sim_pick() == hog);
	CHECK_EQ(sim_rq.timers.heap.count, 0);
}

/*
 * Arrivals at random moments, jobs of random lengths. The oracle keeps one arrival, and knows when the
 * next release may be.
 */
static void sched_case_sporadic(void)
{
	RT_TASK *a;

	CHECK_EQ(core_check_sporadic(RT_PERIOD_MIN_NS - 1), -EINVAL);
	CHECK_EQ(core_check_sporadic(RT_PERIOD_MAX_NS + 1), -EINVAL);
	CHECK_EQ(core_check_sporadic(RT_PERIOD_MIN_NS), 0);
	sim_seed = 3;
	for (int set = 0; set < 500; set++) {
		RTIME interval = 5 + sim_random(20), allowed = 0, kept = -1, left = 0, release = -1;
		u64 releases = 0, skipped = 0, overruns = 0, misses = 0;
		u32 often = 2 + sim_random(20);

		sim_reset(&core_fixed_priority);
		a = sim_add(0, 1);
		CHECK_EQ(core_make_sporadic(&sim_rq, a, interval), 0);
		for (RTIME now = 0; now < 300; now++) {
			sim_advance(now);
			if (left && !--left) {
				CHECK_EQ(a->release, release);
				misses += now > release + interval;
				/* Kept during the job, released by its end. */
				if (kept >= 0 && (kept > allowed ? kept : allowed) < now)
					overruns++;
				CHECK_EQ(core_wait(&sim_rq, now), kept >= 0 &&
					 (kept > allowed ? kept : allowed) < now ? -ETIMEDOUT : 0);
				release = -1;
			}
			for (int pass = 0; pass < 2; pass++) {
				if (!left && kept >= 0 && allowed <= now) {
					release = kept > allowed ? kept : allowed;
					allowed = release + interval;
					kept = -1;
					left = 1 + sim_random(10);
					releases++;
				}
				/* What is due comes before an arrival of the same moment. */
				if (pass || sim_random(often))
					continue;
				core_wakeup(&sim_rq, a, now);
				skipped += kept >= 0;
				if (kept < 0)
					kept = now;
			}
			CHECK_EQ(sim_pick() == a, left > 0);
			CHECK_EQ(a->releases, releases);
			CHECK_EQ(a->skipped, skipped);
			CHECK_EQ(a->overruns, overruns);
			CHECK_EQ(a->misses, misses);
		}
	}
	/* Suspended, it is not released; an arrival lets it go on. */
	sim_reset(&core_fixed_priority);
	a = sim_add(0, 1);
	core_make_sporadic(&sim_rq, a, 10);
	core_suspend(&sim_rq, a, false);
	core_wakeup(&sim_rq, a, 5);
	CHECK(sim_pick() == a);
	core_suspend(&sim_rq, a, false);
	CHECK(!sim_pick());
	core_wakeup(&sim_rq, a, 7);
	CHECK(sim_pick() == a);
	CHECK_EQ(core_wait(&sim_rq, 8), 0);
	CHECK(!sim_pick());
	core_wakeup(&sim_rq, a, 9);	/* not before 15 */
	core_suspend(&sim_rq, a, false);
	sim_advance(20);
	CHECK(!sim_pick());
	core_wakeup(&sim_rq, a, 21);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->release, 21);
	/* Periodic again. */
	CHECK_EQ(core_make_periodic(&sim_rq, a, 30, 10, 22), 0);
	CHECK_EQ(core_wait(&sim_rq, 23), 0);
	sim_advance(30);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->release, 30);
	/* While it runs. */
	CHECK_EQ(core_make_sporadic(&sim_rq, a, 50), 0);
	CHECK(sim_pick() == a);
	CHECK_EQ(core_wait(&sim_rq, 40), 0);
	core_wakeup(&sim_rq, a, 41);
	CHECK(!sim_pick());
	sim_advance(79);
	CHECK(!sim_pick());
	sim_advance(80);
	CHECK(sim_pick() == a);
}

static void sched_case_suspended_before_start(void)
{
	RT_TASK *a, *b;

	sim_reset(&core_fixed_priority);
	a = sim_add(0, 1);
	core_suspend(&sim_rq, a, false);
	CHECK_EQ(core_make_periodic(&sim_rq, a, 100, 10, 105), 0);
	CHECK(!sim_pick());
	CHECK_EQ(sim_rq.timers.heap.count, 0);
	core_wakeup(&sim_rq, a, 112);
	CHECK(sim_pick() == a);
	CHECK_EQ(a->release, 110);
	b = sim_add(1, 2);
	core_suspend(&sim_rq, b, false);
	core_wakeup(&sim_rq, b, 120);
	CHECK_EQ(b->state, CORE_READY);
	CHECK_EQ(b->releases, 1);
}

static void sched_case_kill(void)
{
	RT_TASK *running, *ready, *waiting, *suspended;

	sim_reset(&core_fixed_priority);
	running = sim_add(0, 1);
	ready = sim_add(1, 2);
	waiting = sim_add_periodic(2, 3, 100, 10);
	suspended = sim_add(3, 4);
	sim_add(4, 5);
	core_wakeup(&sim_rq, running, 0);
	core_wakeup(&sim_rq, ready, 0);
	core_suspend(&sim_rq, suspended, false);
	CHECK(sim_pick() == running);
	for (int i = 0; i < 5; i++)
		core_kill(&sim_rq, &sim_task[i]);
	/* Linux sees it still runs; it comes here on its way to sleep. */
	CHECK_EQ(core_wait(&sim_rq, 1), 0);
	CHECK(sim_rq.need_resched);
	CHECK(!sim_pick());
	CHECK_EQ(sim_rq.timers.heap.count, 0);
	CHECK_EQ(waiting->state, CORE_DEAD);
	for (int i = 0; i < 5; i++)
		core_remove(&sim_rq, &sim_task[i]);
	CHECK_EQ(sim_rq.count, 0);
	CHECK(!sim_rq.tasks);
}

/* Few slots at first: whoever no longer fits moves all to the others, which keep order and places. */
static void sched_case_few_slots(void)
{
	static RT_TASK tasks[CORE_FEW + 2];
	static struct rt_timer users[CORE_FEW + 1];

	sim_reset(&core_fixed_priority);
	core_begin_small(&sim_rq);
	memset(tasks, 0, sizeof(tasks));
	memset(users, 0, sizeof(users));
	for (int i = 0; i < CORE_FEW; i++) {
		tasks[i].priority = CORE_FEW + 2 - i;
		CHECK_EQ(core_add(&sim_rq, &tasks[i]), 0);
		core_wakeup(&sim_rq, &tasks[i], 0);
		CHECK_EQ(timerq_add(&sim_rq.timers, &users[i], 1000 - i, 0), 0);
	}
	CHECK(sim_rq.ready.slot == sim_rq.few_ready);
	CHECK(sim_rq.timers.heap.slot == sim_rq.few_timers);
	/* The tasks' own timers still fit in. */
	CHECK(sim_rq.timers.heap.capacity >= sim_rq.timers.heap.count + CORE_FEW + 2);
	CHECK_EQ(timerq_add(&sim_rq.timers, &users[CORE_FEW], 1, 0), -ENOSPC);
	for (int i = CORE_FEW; i < CORE_FEW + 2; i++) {
		tasks[i].priority = CORE_FEW + 2 - i;
		CHECK_EQ(core_add(&sim_rq, &tasks[i]), 0);
		core_wakeup(&sim_rq, &tasks[i], 0);
	}
	CHECK(sim_rq.ready.slot == sim_ready && sim_rq.timers.heap.slot == sim_timers);
	CHECK(!core_grow(&sim_rq));
	CHECK_EQ(timerq_add(&sim_rq.timers, &users[CORE_FEW], 1, 0), 0);
	CHECK(timerq_due(&sim_rq.timers, 5000) == &users[CORE_FEW]);
	timerq_remove(&sim_rq.timers, &users[CORE_FEW]);
	for (int i = CORE_FEW - 1; i >= 0; i--) {
		CHECK(timerq_due(&sim_rq.timers, 5000) == &users[i]);
		timerq_remove(&sim_rq.timers, &users[i]);
	}
	for (int i = CORE_FEW + 1; i >= 0; i--) {
		CHECK(sim_pick() == &tasks[i]);
		core_suspend(&sim_rq, &tasks[i], true);
	}
	CHECK(!sim_pick());
}

static void sched_case_limit(void)
{
	sim_reset(&core_fixed_priority);
	sim_rq.count = RT_MAX_TASKS;
	CHECK_EQ(core_add(&sim_rq, &sim_task[0]), -ENOSPC);
	CHECK(!sim_rq.tasks);
}

/* ---- policies ---- */

static int sim_attached;

static void sim_attach(struct rt_rq *rq, RT_TASK *task)
{
	CHECK_EQ(task->policy_data[0], 0);
	task->policy_data[0] = 1;
	sim_attached++;
}

static void sim_detach(struct rt_rq *rq, RT_TASK *task)
{
	CHECK(!task->queued || rq->ready.count == 0);
	sim_attached--;
}

static void sim_enqueue_last_first(struct rt_rq *rq, RT_TASK *task)
{
	CHECK_EQ(task->policy_data[0], 1);
	rt_rq_add(rq, task, -(u64)task->priority);
}

static int sim_admit_slow(struct rt_rq *rq, const RT_TASK *task, RTIME period, RTIME deadline)
{
	return period && period < 50 ? -ENOSPC : 0;
}

static RT_TASK *sim_pick_lie;

static RT_TASK *sim_pick_wrong(struct rt_rq *rq)
{
	return sim_pick_lie;
}

static bool sim_pick_none;

static RT_TASK *sim_pick_or_not(struct rt_rq *rq)
{
	return sim_pick_none ? NULL : rt_rq_first(rq);
}

static void sim_enqueue_far(struct rt_rq *rq, RT_TASK *task)
{
	rt_rq_add(rq, task, (1ULL << 40) + task->priority);
}

/* Keys as large as those of deadlines. */
static const struct rt_sched_ops sim_deadlines = {
	.name = "deadlines", .enqueue = sim_enqueue_far, .dequeue = rt_rq_remove,
	.pick = sim_pick_or_not,
};

static const struct rt_sched_ops sim_backwards = {
	.name = "backwards", .attach = sim_attach, .detach = sim_detach,
	.enqueue = sim_enqueue_last_first, .admit = sim_admit_slow,
};

static const struct rt_sched_ops sim_liar = {
	.name = "liar", .enqueue = sim_enqueue_last_first, .attach = sim_attach,
	.dequeue = rt_rq_remove, .pick = sim_pick_wrong,
};

static void sched_case_swap_policy(void)
{
	struct rt_sched_ops backwards;
	RT_TASK *a, *b, *c, *d;

	CHECK_EQ(core_complete_ops(&backwards, &sim_backwards), 0);
	sim_reset(&core_fixed_priority);
	a = sim_add(0, 1);
	b = sim_add(1, 2);
	c = sim_add(2, 2);
	d = sim_add_periodic(3, 3, 100, 50);
	core_wakeup(&sim_rq, c, 0);
	core_wakeup(&sim_rq, b, 0);
	core_wakeup(&sim_rq, a, 0);
	CHECK(sim_pick() == a);
	core_swap(&sim_rq, &backwards);
	CHECK_EQ(sim_attached, 4);
	CHECK(sim_pick() == c);		/* came before b */
	core_suspend(&sim_rq, c, true);
	CHECK(sim_pick() == b);
	sim_advance(100);
	CHECK(sim_pick() == d);
	core_swap(&sim_rq, &core_fixed_priority);
	CHECK_EQ(sim_attached, 0);
	CHECK(sim_pick() == a);
	CHECK(!core_admits(&sim_rq, &backwards));
	CHECK_EQ(core_make_periodic(&sim_rq, d, 200, 49, 100), 0);
	CHECK(core_admits(&sim_rq, &backwards) == d);
}

static void sched_case_admission_refuses(void)
{
	struct rt_sched_ops backwards;
	RT_TASK *a;

	CHECK_EQ(core_complete_ops(&backwards, &sim_backwards), 0);
	sim_reset(&backwards);
	a = sim_add_periodic(0, 1, 100, 60);
	CHECK_EQ(core_make_periodic(&sim_rq, a, 10, 49, 0), -ENOSPC);
	CHECK_EQ(a->period, 60);
	CHECK_EQ(a->next_release, 100);
	CHECK(timerq_due(&sim_rq.timers, 100) == &a->timer);
	core_kill(&sim_rq, a);
	CHECK_EQ(sim_attached, 0);
}

static void sched_case_liar_is_ejected(void)
{
	struct rt_sched_ops liar;
	RT_TASK *a, *b;

	CHECK_EQ(core_complete_ops(&liar, &sim_liar), 0);
	for (int foreign = 0; foreign < 2; foreign++) {
		sim_reset(&liar);
		a = sim_add(0, 1);
		b = sim_add(1, 2);
		core_wakeup(&sim_rq, a, 0);
		if (foreign) {
			core_wakeup(&sim_rq, b, 0);
			b->cpu = 1;
		}
		sim_pick_lie = a;
		CHECK(sim_pick() == a);
		CHECK(!sim_rq.ejected);
		sim_pick_lie = b;
		sim_rq.need_resched = true;
		CHECK(sim_pick() == a);
		CHECK(sim_rq.ejected == &liar);
		CHECK(strstr(sim_rq.dump, " priority 1 "));
		CHECK(sim_rq.ops == &core_fixed_priority);
	}
	sim_attached = 0;
}

/* A task that is ready, and Linux is to run: whether pick says so or enqueue forgot it. */
static void sched_case_idle_policy_is_ejected(void)
{
	struct rt_sched_ops ops;
	RT_TASK *a, *b;

	CHECK_EQ(core_complete_ops(&ops, &sim_deadlines), 0);
	sim_reset(&ops);
	a = sim_add(0, 1);
	CHECK(!sim_pick());
	sim_rq.need_resched = true;
	CHECK(!sim_pick());
	CHECK(!sim_rq.ejected);		/* nobody is ready */
	core_wakeup(&sim_rq, a, 0);
	CHECK(sim_pick() == a);
	b = sim_add(1, 2);
	core_wakeup(&sim_rq, b, 0);
	sim_pick_none = true;
	core_suspend(&sim_rq, a, true);
	CHECK(sim_pick() == b);
	sim_pick_none = false;
	CHECK(sim_rq.ejected == &ops);
	CHECK_EQ(strcmp(sim_rq.eject_reason, "picked none though a task is ready"), 0);
	CHECK(strstr(sim_rq.dump, " priority 2 "));
	CHECK(sim_rq.ops == &core_fixed_priority);
}

static void sim_forget(struct rt_rq *rq, RT_TASK *task)
{
	if (task->priority == 1)
		rt_rq_add(rq, task, task->priority);
}

static const struct rt_sched_ops sim_forgetful = { .name = "forgetful", .enqueue = sim_forget };

/* The same of a policy that has enqueue alone: what stands in for the others counts, too. */
static void sched_case_forgetful_policy_is_ejected(void)
{
	struct rt_sched_ops ops;
	RT_TASK *a, *b;

	CHECK_EQ(core_complete_ops(&ops, &sim_forgetful), 0);
	sim_reset(&ops);
	a = sim_add(0, 1);
	b = sim_add(1, 2);
	for (int i = 0; i < 2; i++) {
		core_wakeup(&sim_rq, a, 0);
		CHECK(sim_pick() == a);
		core_suspend(&sim_rq, a, true);
		CHECK(!sim_pick());
		CHECK(!sim_rq.ejected);
	}
	core_wakeup(&sim_rq, b, 0);
	CHECK(sim_pick() == b);
	CHECK(sim_rq.ejected == &ops);
	CHECK_EQ(strcmp(sim_rq.eject_reason, "picked none though a task is ready"), 0);
}

/* How long each operation of sim_slow takes, and how often it was called. */
static u64 sim_took[CORE_POLICY_OPS];
static int sim_calls[CORE_POLICY_OPS];

static void sim_take(enum core_policy_op op)
{
	sim_calls[op]++;
	sim_ticks += sim_took[op];
}

#define SIM_SLOW(name, op)						\
static void sim_slow_##name(struct rt_rq *rq, RT_TASK *task)		\
{									\
	sim_take(op);							\
}

SIM_SLOW(attach, CORE_OP_ATTACH)
SIM_SLOW(detach, CORE_OP_DETACH)
SIM_SLOW(release, CORE_OP_RELEASE)

static void sim_slow_enqueue(struct rt_rq *rq, RT_TASK *task)
{
	sim_take(CORE_OP_ENQUEUE);
	rt_rq_add(rq, task, task->priority);
}

static void sim_slow_dequeue(struct rt_rq *rq, RT_TASK *task)
{
	sim_take(CORE_OP_DEQUEUE);
	rt_rq_remove(rq, task);
}

static RT_TASK *sim_slow_pick(struct rt_rq *rq)
{
	sim_take(CORE_OP_PICK);
	return rt_rq_first(rq);
}

static bool sim_slow_preempts(struct rt_rq *rq, const RT_TASK *task, const RT_TASK *curr)
{
	sim_take(CORE_OP_PREEMPTS);
	return true;
}

static int sim_slow_admit(struct rt_rq *rq, const RT_TASK *task, RTIME period, RTIME deadline)
{
	sim_take(CORE_OP_ADMIT);
	return 0;
}

static int sim_dumps;

static int sim_slow_dump(struct rt_rq *rq, char *buf, int size)
{
	sim_dumps++;
	sim_ticks += 5000;
	return 0;
}

static const struct rt_sched_ops sim_slow = {
	.name = "slow", .attach = sim_slow_attach, .detach = sim_slow_detach,
	.release = sim_slow_release, .enqueue = sim_slow_enqueue, .dequeue = sim_slow_dequeue,
	.pick = sim_slow_pick, .preempts = sim_slow_preempts, .admit = sim_slow_admit,
	.dump = sim_slow_dump,
};

/* Two tasks whose jobs pre-empt each other, until the policy is thrown out, or for long. */
static void sim_run_slow(const struct rt_sched_ops *ops)
{
	memset(sim_calls, 0, sizeof(sim_calls));
	sim_dumps = 0;
	sim_reset(&core_fixed_priority);
	sim_rq.policy_ticks = 1000;
	core_swap(&sim_rq, ops);
	for (int i = 0; i < 4; i++)
		sim_add_periodic(i, 1 + i, 10 * i, 40);
	for (RTIME now = 0; now < 4000 && !sim_rq.ejected; now++) {
		sim_advance(now);
		if (sim_rq.curr && now % 13 == 12)
			core_wait(&sim_rq, now);
		sim_pick();
	}
}

/* Each operation that takes too long three times in a row has its policy thrown out, by name. */
static void sched_case_slow_policy_is_ejected(void)
{
	struct rt_sched_ops ops;
	RT_TASK *a;

	CHECK_EQ(core_complete_ops(&ops, &sim_slow), 0);
	for (int op = 0; op < CORE_POLICY_OPS; op++) {
		sim_took[op] = 1000;
		sim_run_slow(&ops);
		CHECK(!sim_rq.ejected);
		CHECK_EQ(op, sim_calls[op] > 3 ? op : CORE_OP_DETACH);
		sim_took[op] = 1001;
		sim_run_slow(&ops);
		if (op == CORE_OP_DETACH) {
			/* Of tasks that die; and the policy goes anyway when all its tasks do. */
			for (int i = 0; i < 4; i++)
				core_kill(&sim_rq, &sim_task[i]);
			sim_pick();
		}
		CHECK(sim_rq.ejected == &ops);
		CHECK(sim_rq.eject_reason == slow_words[op]);
		CHECK(sim_calls[op] >= 3 && sim_calls[op] <= 5);
		CHECK_EQ(sim_dumps, 0);		/* its own would be slow, too */
		sim_took[op] = 0;
	}
	/* Before it takes over, it is asked about each task: a slow answer is a refusal. */
	sim_run_slow(&ops);
	CHECK(!core_admits(&sim_rq, &ops));
	sim_took[CORE_OP_ADMIT] = 1001;
	CHECK(core_admits(&sim_rq, &ops));
	sim_took[CORE_OP_ADMIT] = 0;
	/* Thrown out for another reason, it may be slow to say what it knows. */
	CHECK_EQ(core_complete_ops(&ops, &sim_deadlines), 0);
	ops.dump = sim_slow_dump;
	sim_run_slow(&ops);
	a = sim_rq.tasks;
	core_wakeup(&sim_rq, a, 5000);
	sim_pick_none = sim_rq.need_resched = true;
	core_suspend(&sim_rq, a, false);
	core_wakeup(&sim_rq, a, 5001);
	sim_pick();
	sim_pick_none = false;
	CHECK(sim_rq.ejected == &ops);
	CHECK_EQ(sim_dumps, 1);
	CHECK_EQ(sim_rq.dump_ticks, 5000);
	/* One that is exchanged before anybody has picked is noted all the same. */
	CHECK_EQ(core_complete_ops(&ops, &sim_slow), 0);
	sim_run_slow(&ops);
	sim_took[CORE_OP_ENQUEUE] = 1001;
	for (int i = 0; i < 4; i++) {
		core_suspend(&sim_rq, &sim_task[i], false);
		core_wakeup(&sim_rq, &sim_task[i], 5000);
	}
	for (int i = 0; i < 4; i++) {
		core_suspend(&sim_rq, &sim_task[i], false);
		core_wakeup(&sim_rq, &sim_task[i], 9000);
	}
	sim_took[CORE_OP_ENQUEUE] = 0;
	CHECK(sim_rq.verdict && !sim_rq.ejected);
	core_swap(&sim_rq, &core_fixed_priority);
	CHECK(sim_rq.ejected == &ops && !sim_rq.verdict);
}

/* A policy that runs always the same, while others wait, has so and so long. */
static void sched_case_starving_policy_is_ejected(void)
{
	struct rt_sched_ops liar;
	RT_TASK *a, *b;

	CHECK_EQ(core_complete_ops(&liar, &sim_liar), 0);
	for (int starving = 0; starving < 2; starving++) {
		sim_reset(&core_fixed_priority);
		sim_rq.stall_ticks = 1000;
		core_swap(&sim_rq, &liar);
		a = sim_add(0, 1);
		b = sim_add(1, 2);
		core_wakeup(&sim_rq, a, 0);
		core_wakeup(&sim_rq, b, 0);
		sim_pick_lie = a;
		for (RTIME now = 0; now < 5000; now += 100) {
			sim_ticks = 1000000 + now;
			sim_advance(now);
			if (!starving && now % 900 == 0)
				sim_pick_lie = sim_pick_lie == a ? b : a;
			sim_rq.need_resched = true;
			sim_pick();
			if (sim_rq.ejected)
				break;
		}
		CHECK_EQ(!!sim_rq.ejected, starving);
		if (starving) {
			CHECK(sim_now >= 1000 && sim_now <= 2000);
			CHECK(strstr(sim_rq.eject_reason, "waiting for too long"));
		}
	}
	sim_attached = 0;
}

static void sched_case_bad_policies(void)
{
	struct rt_sched_ops full, bad;

	CHECK_EQ(core_complete_ops(&full, NULL), -EINVAL);
	bad = sim_backwards;
	bad.name = NULL;
	CHECK_EQ(core_complete_ops(&full, &bad), -EINVAL);
	bad.name = "";
	CHECK_EQ(core_complete_ops(&full, &bad), -EINVAL);
	bad.name = "two words";
	CHECK_EQ(core_complete_ops(&full, &bad), -EINVAL);
	bad.name = "a_name_that_is_too_long";
	CHECK_EQ(core_complete_ops(&full, &bad), -EINVAL);
	bad = sim_backwards;
	bad.enqueue = NULL;
	CHECK_EQ(core_complete_ops(&full, &bad), -EINVAL);
	bad = sim_backwards;
	bad.analysis = RT_ANALYSIS_FIXED;
	CHECK_EQ(core_complete_ops(&full, &bad), -EINVAL);
	bad = sim_backwards;
	bad.dequeue = rt_rq_remove;
	CHECK_EQ(core_complete_ops(&full, &bad), -EINVAL);
	bad = sim_liar;
	bad.dequeue = NULL;
	CHECK_EQ(core_complete_ops(&full, &bad), -EINVAL);
	CHECK_EQ(core_complete_ops(&full, &sim_backwards), 0);
	CHECK(full.init && full.exit && full.release && full.pick && full.dequeue &&
	      full.preempts && full.dump);
	CHECK_EQ(full.init(), 0);
}

/* Every case, for whoever runs them. */
#define SCHED_CASES(do)					\
	do(sched_case_conform_fixed_priority)		\
	do(sched_case_conform_own_queue)		\
	do(sched_case_conform_rm)			\
	do(sched_case_conform_edf)			\
	do(sched_case_order_of_events)			\
	do(sched_case_late_stops_events)		\
	do(sched_case_textbook_rm_misses_edf_meets)	\
	do(sched_case_textbook_full_load)		\
	do(sched_case_deadlines)			\
	do(sched_case_first_come_first_served)		\
	do(sched_case_overrun_yields_to_equals)		\
	do(sched_case_start_in_the_past)		\
	do(sched_case_makes_itself_periodic)		\
	do(sched_case_periodic_arguments)		\
	do(sched_case_suspend_a_waiting_task)		\
	do(sched_case_suspend_inside_a_job)		\
	do(sched_case_wakeup_before_suspend)		\
	do(sched_case_sleep_inside_a_job)		\
	do(sched_case_budget_arguments)			\
	do(sched_case_budget_is_cpu_time)		\
	do(sched_case_budget_counts)			\
	do(sched_case_budget_throttles)			\
	do(sched_case_watchdog)				\
	do(sched_case_sporadic)				\
	do(sched_case_suspended_before_start)		\
	do(sched_case_kill)				\
	do(sched_case_few_slots)			\
	do(sched_case_limit)				\
	do(sched_case_swap_policy)			\
	do(sched_case_admission_refuses)		\
	do(sched_case_liar_is_ejected)			\
	do(sched_case_idle_policy_is_ejected)		\
	do(sched_case_forgetful_policy_is_ejected)	\
	do(sched_case_slow_policy_is_ejected)		\
	do(sched_case_starving_policy_is_ejected)	\
	do(sched_case_bad_policies)
