/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Will this set of tasks meet its deadlines? The known tests, for one CPU. Pure logic, in
 * integers; nothing here overflows within the limits of <rt/task.h>.
 *
 * A task needs @cost at most in each job, is released every @period or less often, and has
 * @deadline after a release. Costs of switching and release jitter are not in the models: budgets
 * have to include them.
 *
 * Less urgent tasks block it, too. Under priority inheritance each of them does so once, for its
 * longest section (Sha, Rajkumar, Lehoczky, 1990). Of regions that nothing pre-empts, one does
 * (George, Rivierre, Spuri, Preemptive and non-preemptive real-time uniprocessor scheduling,
 * INRIA 2966, 1996). The tests are sufficient then, and no longer exact.
 */
#ifndef _TACTUS_ADMISSION_H
#define _TACTUS_ADMISSION_H

#include <rt/pure.h>

/* Utilisations are fixed-point: this is 1. */
#define ADM_ONE (1ULL << 60)

/**
 * struct adm_task - one task of the set
 * @cost: ns a job, above 0, up to RT_PERIOD_MAX_NS
 * @period: ns, above 0, up to RT_PERIOD_MAX_NS
 * @deadline: ns after a release, above 0, up to RT_PERIOD_MAX_NS; may be longer than @period
 * @rank: fixed priorities only: smaller is more urgent
 * @section: ns a job keeps mutexes at most, without a break
 * @region: ns a job runs at most without being pre-empted
 *
 * Neither is more than @cost. But with a @cost of 0 the task is no more than a source of blocking,
 * up to RT_PERIOD_MAX_NS, which under EDF blocks everybody; its @deadline is not tested.
 */
struct adm_task {
	s64 cost, period, deadline;
	u64 rank;
	s64 section, region;
};

enum adm_reason {
	ADM_FITS,
	ADM_UTILISATION,	/* all together want more than there is */
	ADM_RESPONSE,		/* fixed priorities: a response time is beyond its deadline */
	ADM_DEMAND,		/* EDF: what is due within an interval is longer than that */
	ADM_UNDECIDED,		/* not within the steps that were granted */
};

/*
 * struct adm_verdict - what a test found
 * @reason: ADM_FITS, or why not
 * @index: the task that would be late (ADM_RESPONSE), or whose deadline ends the interval
 *	(ADM_DEMAND); of ADM_UTILISATION the one with the greatest share; else -1
 * @figure, @limit: ns: the response time and the deadline, or the demand and the interval; of
 *	ADM_UTILISATION parts of ADM_ONE. @figure is what was found when the limit was passed
 */
struct adm_verdict {
	enum adm_reason reason;
	int index;
	u64 figure, limit;
};

/** adm_share - @task's utilisation, parts of ADM_ONE, rounded down; at most 2 * ADM_ONE */
u64 adm_share(const struct adm_task *task);

/** adm_utilisation - of all, likewise; saturates at 2 * ADM_ONE */
u64 adm_utilisation(const struct adm_task *tasks, int count);

/*
 * adm_liu_layland - n (2^(1/n) - 1), parts of ADM_ONE, rounded down (JACM 20(1), 1973)
 *
 * A set with deadlines not before its periods and no greater utilisation is met by rate monotonic.
 * Beyond 16 tasks the limit, ln 2, stands for all.
 */
u64 adm_liu_layland(int count);

/*
 * adm_hyperbolic - is the product of (1 + utilisation) at most 2?
 *
 * Then rate monotonic meets the set, likewise; sharper (Bini, Buttazzo, Buttazzo, 2001). Errors
 * of rounding make it refuse.
 */
bool adm_hyperbolic(const struct adm_task *tasks, int count);

/*
 * adm_response - the longest response time of a task under fixed priorities
 * @tasks, @count: the set; equal ranks count as more urgent ones
 * @index: of the task
 * @limit: give up beyond, ns
 * @steps: how many are granted; what is left is returned here
 *
 * Exact without blocking, for deadlines beyond the period, too (Joseph & Pandya, 1986; Lehoczky,
 * 1990).
 *
 * Return: ns; a figure above @limit if it is longer than that; 0 if undecided.
 */
u64 adm_response(const struct adm_task *tasks, int count, int index, u64 limit, long *steps);

/*
 * adm_fixed - do fixed priorities meet the set? Exact without blocking.
 * @share: of the CPU that is there, parts of ADM_ONE
 * @steps: how many are granted
 *
 * Much quicker if @tasks are sorted by rank.
 */
struct adm_verdict adm_fixed(const struct adm_task *tasks, int count, u64 share, long steps);

/*
 * adm_edf - does earliest deadline first meet the set? Exact without blocking.
 *
 * By utilisation if no deadline is before its period, else by the processor demand (Baruah,
 * Rosier, Howell, 1990), walked backwards (Zhang & Burns, 2009). Within an interval those tasks
 * block whose deadlines are longer than it (Baruah, Resource sharing in EDF-scheduled systems,
 * RTSS 2006). Arguments as above.
 */
struct adm_verdict adm_edf(const struct adm_task *tasks, int count, u64 share, long steps);

/** adm_any - utilisation alone: what no policy can do without. Arguments as above. */
struct adm_verdict adm_any(const struct adm_task *tasks, int count, u64 share);

#endif
