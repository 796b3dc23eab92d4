// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arithmetic behind `tactus analyze`: the kernel's own admission tests, and the kernel's own
 * scheduling core and policies under a clock that jumps from event to event. Reads a set of
 * tasks, writes what it found, one fact a line.
 *
 *	share PER_CENT			of the CPU that is kept for Linux
 *	until NS			how long to run the set; 0: its hyperperiod, if that is short
 *	task COST PERIOD DEADLINE PRIORITY PHASE	ns; one line each
 *
 * All names below are by the tasks' numbers, from 0.
 */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define RT_POLICY_UNDER_TEST
#include <stdio.h>
#include <stdlib.h>

#include "sched/heap.c"
#include "sched/timerq.c"
#include "sched/core.c"
#include "sched/budget.c"
#include "sched/policy.c"
#include "policy/rm.c"
#include "policy/edf.c"
#include "sched/admission.c"

#define MAX_TASKS 256
#define STEPS 20000000L
#define MAX_EVENTS 200000
#define LONGEST_RUN_NS (1LL << 50)

static struct adm_task set[MAX_TASKS];
static RTIME phase[MAX_TASKS];
static int priority[MAX_TASKS], count;

static RT_TASK task[MAX_TASKS];
static RTIME left[MAX_TASKS];
static struct rt_rq rq;
static struct heap_slot ready_slots[CORE_READY_SLOTS], timer_slots[CORE_TIMER_SLOTS];

static u64 ppb(u64 share)
{
	return share / (ADM_ONE / 1000000000);
}

static s64 gcd(s64 a, s64 b)
{
	return b ? gcd(b, a % b) : a;
}

/* The least common multiple of the periods; 0 if it is beyond LONGEST_RUN_NS. */
static s64 hyperperiod(void)
{
	s64 all = 1;

	for (int i = 0; i < count; i++) {
		all /= gcd(all, set[i].period);
		if (all > LONGEST_RUN_NS / set[i].period)
			return 0;
		all *= set[i].period;
	}
	return all;
}

static void say_verdict(const char *policy, struct adm_verdict v)
{
	static const char *const names[] = {
		[ADM_FITS] = "fits", [ADM_UTILISATION] = "utilisation", [ADM_RESPONSE] = "response",
		[ADM_DEMAND] = "demand", [ADM_UNDECIDED] = "undecided",
	};
	bool parts = v.reason == ADM_FITS || v.reason == ADM_UTILISATION;

	printf("verdict %s %s %d %llu %llu\n", policy, names[v.reason], v.index,
	       (unsigned long long)(parts ? ppb(v.figure) : v.figure),
	       (unsigned long long)(parts ? ppb(v.limit) : v.limit));
}

static RTIME next_moment(void)
{
	return rq.timers.heap.count ? (RTIME)heap_first_key(&rq.timers.heap) : RTIME_MAX;
}

/* Run the set, each job at its full cost, and say who had the CPU from when to when. */
static void run(const struct rt_sched_ops *given, RTIME until)
{
	struct rt_sched_ops ops;
	struct rt_timer *timer;
	RTIME now = 0;
	int events = 0;

	if (core_complete_ops(&ops, given) || ops.init())
		exit(1);
	memset(task, 0, sizeof(task));
	core_init(&rq, 0, &ops, ready_slots, timer_slots);
	for (int i = 0; i < count; i++) {
		task[i].priority = priority[i];
		task[i].relative_deadline = set[i].deadline;
		left[i] = set[i].cost;
		core_add(&rq, &task[i]);
		core_make_periodic(&rq, &task[i], phase[i], set[i].period, -1);
	}
	while (now < until && events < MAX_EVENTS) {
		RTIME then;
		int i;

		while ((timer = timerq_due(&rq.timers, now)))
			core_release(&rq, container_of(timer, RT_TASK, timer));
		if (rq.need_resched)
			core_pick(&rq, now);
		then = next_moment();
		if (!rq.curr) {
			now = then;
			continue;
		}
		i = rq.curr - task;
		if (now + left[i] < then)
			then = now + left[i];
		if (then > until)
			then = until;
		printf("run %s %d %lld %lld\n", ops.name, i, now, then);
		events++;
		left[i] -= then - now;
		now = then;
		if (left[i])
			continue;
		if (now > task[i].deadline)
			printf("miss %s %d %lld %lld\n", ops.name, i, task[i].deadline, now);
		left[i] = set[i].cost;
		core_wait(&rq, now);
	}
	for (int i = 0; i < count; i++)
		printf("jobs %s %d %llu %llu\n", ops.name, i, task[i].releases, task[i].misses);
	printf("ran %s %lld\n", ops.name, now < until ? now : until);
}

static int read_input(u64 *share, RTIME *until)
{
	long long cost, period, deadline, start;
	double per_cent = 0;
	char line[256];
	int prio;

	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "share %lf", &per_cent) == 1 || sscanf(line, "until %lld", until) == 1)
			continue;
		if (count == MAX_TASKS || sscanf(line, "task %lld %lld %lld %d %lld", &cost, &period,
						 &deadline, &prio, &start) != 5 ||
		    cost < 1 || cost > RT_PERIOD_MAX_NS || period < 1 || period > RT_PERIOD_MAX_NS ||
		    deadline < 1 || deadline > RT_PERIOD_MAX_NS || start < 0 || start > RT_PERIOD_MAX_NS)
			return 2;
		set[count] = (struct adm_task) { cost, period, deadline, 0 };
		priority[count] = prio;
		phase[count++] = start;
	}
	*share = ADM_ONE - (u64)(ADM_ONE / 100 * per_cent);
	return count ? 0 : 2;
}

int main(void)
{
	u64 share = ADM_ONE;
	RTIME until = 0;
	long steps;
	int error = read_input(&share, &until);

	if (error)
		return error;
	for (int i = 0; i < count; i++) {
		task[i].priority = priority[i];
		set[i].rank = rm.rank(&task[i], set[i].period, set[i].deadline);
	}
	printf("utilisation %llu\n", (unsigned long long)ppb(adm_utilisation(set, count)));
	printf("liu_layland %llu\n", (unsigned long long)ppb(adm_liu_layland(count)));
	printf("hyperbolic %d\n", adm_hyperbolic(set, count));
	printf("hyperperiod %lld\n", (long long)hyperperiod());
	for (int i = 0; i < count; i++) {
		printf("share %d %llu\n", i, (unsigned long long)ppb(adm_share(&set[i])));
		steps = STEPS;
		/* Beyond a utilisation of 1 the least urgent may have none. */
		printf("response %d %llu\n", i, (unsigned long long)
		       adm_response(set, count, i, 10 * RT_PERIOD_MAX_NS, &steps));
	}
	say_verdict("rm", adm_fixed(set, count, share, STEPS));
	say_verdict("edf", adm_edf(set, count, share, STEPS));
	if (!until)
		until = hyperperiod();
	if (until) {
		run(&rm, until);
		run(&edf, until);
	}
	return 0;
}
