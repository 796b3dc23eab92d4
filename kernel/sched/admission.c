// SPDX-License-Identifier: GPL-2.0-only
/* See admission.h. */
#include "sched/admission.h"

/* Intervals beyond this are not looked at: sums over all tasks stay below 2^63. */
#define LONGEST_NS (1LL << 50)

/* A cost or period is below 2^42, so that shifting a remainder by so much is safe. */
#define SHIFT 20
#define SHIFTS 3
#define MANY (2 * ADM_ONE)

static inline u64 ceil_div(u64 a, u64 b)
{
	return a / b + (a % b != 0);
}

/* Long division, SHIFT bits at a time. */
u64 adm_share(const struct adm_task *task)
{
	u64 whole = task->cost / task->period, rest = task->cost % task->period;

	if (whole >= 2)
		return MANY;
	for (int i = 0; i < SHIFTS; i++) {
		rest <<= SHIFT;
		whole = whole << SHIFT | rest / task->period;
		rest %= task->period;
	}
	return whole;
}

u64 adm_utilisation(const struct adm_task *tasks, int count)
{
	u64 sum = 0;

	for (int i = 0; i < count; i++) {
		sum += adm_share(&tasks[i]);
		if (sum >= MANY)
			return MANY;
	}
	return sum;
}

u64 adm_liu_layland(int count)
{
	/* Parts of 10^9. */
	static const u32 bounds[] = {
		1000000000, 1000000000, 828427124, 779763149, 756828460, 743491774, 734772289,
		728626595, 724061861, 720537653, 717734625, 715451963, 713557132, 711958848,
		710592534, 709411160, 708379522, 693147180,
	};
	const int last = sizeof(bounds) / sizeof(bounds[0]) - 1;

	return ADM_ONE / 1000000000 * bounds[count < last ? count : last];
}

#define HYPERBOLIC_BITS 30

bool adm_hyperbolic(const struct adm_task *tasks, int count)
{
	const u64 one = 1ULL << HYPERBOLIC_BITS;
	u64 product = one;

	for (int i = 0; i < count; i++) {
		u64 share = adm_share(&tasks[i]);

		if (share > ADM_ONE)
			return false;
		share = (share >> (60 - HYPERBOLIC_BITS)) + 1;
		product = (product * (one + share) + one - 1) >> HYPERBOLIC_BITS;
		if (product > 2 * one)
			return false;
	}
	return true;
}

struct adm_verdict adm_any(const struct adm_task *tasks, int count, u64 share)
{
	struct adm_verdict verdict = { ADM_FITS, -1, adm_utilisation(tasks, count), share };
	u64 most = 0;

	if (verdict.figure <= share)
		return verdict;
	verdict.reason = ADM_UTILISATION;
	for (int i = 0; i < count; i++)
		if (adm_share(&tasks[i]) >= most) {
			most = adm_share(&tasks[i]);
			verdict.index = i;
		}
	return verdict;
}

/* Does anybody block anybody? */
static bool is_blocking(const struct adm_task *task)
{
	return task->section || task->region;
}

static bool any_blocking(const struct adm_task *tasks, int count)
{
	for (int i = 0; i < count; i++)
		if (is_blocking(&tasks[i]))
			return true;
	return false;
}

/* @sections and @region become what @task adds to them: each section counts, and one region. */
static void add_blocking(const struct adm_task *task, u64 *sections, u64 *region)
{
	*sections += task->section;
	*region = max(*region, (u64)task->region);
}

/* How long those behind @index in rank block it. */
static u64 blocking(const struct adm_task *tasks, int count, int index)
{
	u64 sections = 0, region = 0;

	for (int i = 0; i < count; i++)
		if (tasks[i].rank > tasks[index].rank)
			add_blocking(&tasks[i], &sections, &region);
	return sections + region;
}

/*
 * EDF: how long those with deadlines beyond @interval block the others. Where one of them ends to
 * do so its cost is due, which is no less: so demand and blocking together grow with the interval.
 */
static u64 blocking_within(const struct adm_task *tasks, int count, u64 interval)
{
	u64 sections = 0, region = 0;

	for (int i = 0; i < count; i++)
		if (!tasks[i].cost || (u64)tasks[i].deadline > interval)
			add_blocking(&tasks[i], &sections, &region);
	return sections + region;
}

/*
 * What all tasks before @index in rank, but it itself, want within @interval from a common release.
 * They are among the first @count.
 */
static u64 interference(const struct adm_task *tasks, int count, int index, u64 interval)
{
	u64 sum = 0;

	for (int i = 0; i < count; i++)
		if (i != index && tasks[i].rank <= tasks[index].rank)
			sum += ceil_div(interval, tasks[i].period) * tasks[i].cost;
	return sum;
}

/*
 * adm_response(), with the @blocking that is given. @first: a lower bound of when the first job
 * ends, which is returned there; the iteration begins with it.
 */
static u64 response(const struct adm_task *tasks, int count, int index, u64 blocking, u64 limit,
		    u64 *first, long *steps)
{
	const struct adm_task *task = &tasks[index];
	u64 finish = *first - min(*first, (u64)task->cost), longest = 0;

	/* Job after job of the busy period that begins with a release of everybody. */
	for (u64 job = 0;; job++) {
		u64 own = blocking + (job + 1) * task->cost, began = job * task->period, before;

		finish += task->cost;
		do {
			if (finish - began > limit)
				return finish - began;
			*steps -= count;
			if (*steps < 0 || finish > LONGEST_NS)
				return 0;
			before = finish;
			finish = own + interference(tasks, count, index, before);
		} while (finish != before);
		if (!job)
			*first = finish;
		if (finish - began > longest)
			longest = finish - began;
		if (finish <= began + task->period)
			return longest;
	}
}

u64 adm_response(const struct adm_task *tasks, int count, int index, u64 limit, long *steps)
{
	u64 first = 0;

	return response(tasks, count, index, blocking(tasks, count, index), limit, &first, steps);
}

/* By rank, the most urgent first? */
static bool is_sorted(const struct adm_task *tasks, int count)
{
	for (int i = 1; i < count; i++)
		if (tasks[i].rank < tasks[i - 1].rank)
			return false;
	return true;
}

/* Sorted ones: are they ranked by their periods, with deadlines not before these? */
static bool is_rate_monotonic(const struct adm_task *tasks, int count)
{
	for (int i = 0; i < count; i++) {
		if (tasks[i].deadline < tasks[i].period)
			return false;
		if (i && (tasks[i].period < tasks[i - 1].period ||
			  (tasks[i].rank == tasks[i - 1].rank &&
			   tasks[i].period != tasks[i - 1].period)))
			return false;
	}
	return true;
}

/* The end of those with the rank of @index, in a sorted set. */
static int end_of_rank(const struct adm_task *tasks, int count, int index)
{
	for (int i = index + 1; i < count; i++)
		if (tasks[i].rank != tasks[index].rank)
			return i;
	return count;
}

struct adm_verdict adm_fixed(const struct adm_task *tasks, int count, u64 share, long steps)
{
	struct adm_verdict verdict = adm_any(tasks, count, share);
	bool sorted = is_sorted(tasks, count), blocked = any_blocking(tasks, count);
	int others = count;
	u64 first = 0;

	if (verdict.reason != ADM_FITS)
		return verdict;
	if (sorted && !blocked && is_rate_monotonic(tasks, count) && adm_hyperbolic(tasks, count))
		return verdict;
	for (int i = 0; i < count; i++) {
		u64 longest;

		if (!tasks[i].cost)
			continue;
		/*
		 * The first job ends at least its cost later than that of the task before (Sjodin &
		 * Hansson, RTSS 1998), if that one's rank is before its own. It may be blocked
		 * less.
		 */
		if (sorted && !blocked && i && tasks[i].rank != tasks[i - 1].rank)
			first += tasks[i].cost;
		else
			first = 0;
		if (sorted && (!i || i >= others))
			others = end_of_rank(tasks, count, i);
		longest = response(tasks, others, i, blocked ? blocking(tasks, count, i) : 0,
				   tasks[i].deadline, &first, &steps);
		if (longest && longest <= (u64)tasks[i].deadline)
			continue;
		return (struct adm_verdict) {
			longest ? ADM_RESPONSE : ADM_UNDECIDED, i, longest, tasks[i].deadline,
		};
	}
	return verdict;
}

/* What must be done by @end if all were released at 0. */
static u64 demand(const struct adm_task *tasks, int count, u64 end)
{
	u64 sum = 0;

	for (int i = 0; i < count; i++)
		if (end >= (u64)tasks[i].deadline)
			sum += ((end - tasks[i].deadline) / tasks[i].period + 1) * tasks[i].cost;
	return sum;
}

/* The last deadline before @end, and whose; 0 if there is none. */
static u64 last_deadline(const struct adm_task *tasks, int count, u64 end, int *whose)
{
	u64 last = 0;

	for (int i = 0; i < count; i++) {
		u64 first = tasks[i].deadline, at;

		if (end <= first || !tasks[i].cost)
			continue;
		at = first + (end - 1 - first) / tasks[i].period * tasks[i].period;
		if (at > last) {
			last = at;
			*whose = i;
		}
	}
	return last;
}

/* How long the CPU is busy after a release of everybody, and @blocking; 0: undecided. */
static u64 busy_period(const struct adm_task *tasks, int count, u64 blocking, long *steps)
{
	u64 busy = blocking, before;

	for (int i = 0; i < count; i++)
		busy += tasks[i].cost;
	do {
		*steps -= count;
		if (*steps < 0 || busy > LONGEST_NS)
			return 0;
		before = busy;
		busy = blocking;
		for (int i = 0; i < count; i++)
			busy += ceil_div(before, tasks[i].period) * tasks[i].cost;
	} while (busy != before);
	return busy;
}

/* The interval beyond which nobody blocks. */
static u64 end_of_blocking(const struct adm_task *tasks, int count)
{
	u64 end = 0;

	for (int i = 0; i < count; i++)
		if (is_blocking(&tasks[i]))
			end = max(end, (u64)(tasks[i].cost ? tasks[i].deadline : LONGEST_NS));
	return end;
}

struct adm_verdict adm_edf(const struct adm_task *tasks, int count, u64 share, long steps)
{
	struct adm_verdict verdict = adm_any(tasks, count, share);
	bool implicit = true;
	bool blocked = any_blocking(tasks, count);
	u64 end, wanted;
	int whose = -1;

	for (int i = 0; i < count; i++)
		implicit = implicit && tasks[i].deadline >= tasks[i].period;
	if (verdict.reason != ADM_FITS || (implicit && !blocked))
		return verdict;

	/* Where nobody blocks any more, utilisation decides if no deadline is before its period. */
	if (implicit)
		end = end_of_blocking(tasks, count);
	else
		end = busy_period(tasks, count, blocking_within(tasks, count, 0), &steps);
	if (!end)
		return (struct adm_verdict) { ADM_UNDECIDED, -1, 0, 0 };
	/*
	 * If the demand at a deadline is less than it, every deadline between the two is met:
	 * so the walk may jump there.
	 */
	end = last_deadline(tasks, count, end + 1, &whose);
	while (end) {
		steps -= 2 * count;
		if (steps < 0)
			return (struct adm_verdict) { ADM_UNDECIDED, -1, 0, 0 };
		wanted = demand(tasks, count, end);
		if (blocked)
			wanted += blocking_within(tasks, count, end);
		if (wanted > end)
			return (struct adm_verdict) { ADM_DEMAND, whose, wanted, end };
		end = last_deadline(tasks, count, wanted < end ? wanted + 1 : end, &whose);
	}
	return verdict;
}
