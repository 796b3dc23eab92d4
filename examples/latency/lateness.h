/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics of release lateness: one writer (the job), any number of readers.
 *
 * Release k is due at start + k * period, k = 0, 1, ...; the n-th job belongs to
 * release n, so a release that is skipped makes every later job one period late
 * and shows as expected > releases. Nothing is resynchronised: a skipped release
 * is a failure and has to stay visible.
 *
 * Invariants, while no lateness_record() is in progress:
 * - the bins add up to @releases;
 * - min_ns <= sum_ns / releases <= max_ns if there was a release.
 *
 * A reader copies the whole struct and compares @sequence before and after, which
 * is odd while the writer is at work. The writer never waits. Pure: no kernel in it.
 */
#ifndef _LATENESS_H
#define _LATENESS_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/string.h>
#include <linux/compiler.h>
#include <asm/barrier.h>
#else
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
typedef uint64_t u64;
typedef int64_t s64;
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif

/* Fine bins for RT figures, coarse ones so that a 20 ms delay still has a place. */
#define LATENESS_FINE_NS	10
#define LATENESS_FINE_END_NS	20000
#define LATENESS_COARSE_NS	20000
#define LATENESS_COARSE_END_NS	40000000
#define LATENESS_FINE_BINS	(LATENESS_FINE_END_NS / LATENESS_FINE_NS)
#define LATENESS_COARSE_BINS	\
	((LATENESS_COARSE_END_NS - LATENESS_FINE_END_NS) / LATENESS_COARSE_NS)
/* The last bin takes what is later than all others; early releases go into the first. */
#define LATENESS_BINS		(LATENESS_FINE_BINS + LATENESS_COARSE_BINS + 1)

struct lateness {
	u64 sequence;
	s64 start_ns;
	s64 period_ns;
	u64 releases;
	u64 expected;	/* due up to the last job's moment, that job's release included */
	u64 overruns;	/* jobs that began when the next one was due already */
	s64 min_ns;
	s64 max_ns;
	u64 worst;	/* number of the release that was max_ns late, the first such */
	s64 sum_ns;
	u64 bins[LATENESS_BINS];
};

/* The lower edge of a bin, ns. Context: any. */
static inline s64 lateness_bin_ns(unsigned int bin)
{
	if (bin < LATENESS_FINE_BINS)
		return (s64)bin * LATENESS_FINE_NS;
	return LATENESS_FINE_END_NS + (s64)(bin - LATENESS_FINE_BINS) * LATENESS_COARSE_NS;
}

/* The bin of a lateness. Context: any. */
static inline unsigned int lateness_bin(s64 late_ns)
{
	if (late_ns < 0)
		return 0;
	if (late_ns < LATENESS_FINE_END_NS)
		return (unsigned int)late_ns / LATENESS_FINE_NS;
	if (late_ns < LATENESS_COARSE_END_NS)
		return LATENESS_FINE_BINS +
			((unsigned int)late_ns - LATENESS_FINE_END_NS) / LATENESS_COARSE_NS;
	return LATENESS_BINS - 1;
}

/* Forget everything; release 0 is due at @start_ns. Context: any, no writer at work. */
static inline void lateness_init(struct lateness *l, s64 start_ns, s64 period_ns)
{
	memset(l, 0, sizeof(*l));
	l->start_ns = start_ns;
	l->period_ns = period_ns;
}

/* When the next job not recorded yet is due. Context: the writer. */
static inline s64 lateness_next_due(const struct lateness *l)
{
	return l->start_ns + (s64)l->releases * l->period_ns;
}

/* The next job began at @now_ns. Context: the writer. */
static inline void lateness_record(struct lateness *l, s64 now_ns)
{
	s64 late_ns = now_ns - lateness_next_due(l);
	s64 due = now_ns < l->start_ns ? 0 : (now_ns - l->start_ns) / l->period_ns + 1;

	WRITE_ONCE(l->sequence, l->sequence + 1);
	smp_wmb(); /* odd sequence before the data; pairs with lateness_copy() */
	if (!l->releases || late_ns < l->min_ns)
		l->min_ns = late_ns;
	if (!l->releases || late_ns > l->max_ns) {
		l->max_ns = late_ns;
		l->worst = l->releases;
	}
	l->sum_ns += late_ns;
	l->overruns += late_ns >= l->period_ns;
	l->bins[lateness_bin(late_ns)]++;
	l->releases++;
	/* A job that began a little early has its own release counted all the same. */
	l->expected = (u64)due > l->releases ? (u64)due : l->releases;
	smp_wmb(); /* data before the even sequence; pairs with lateness_copy() */
	WRITE_ONCE(l->sequence, l->sequence + 1);
}

/* Copy a consistent state; false if the writer was at work all the time. Context: any. */
static inline bool lateness_copy(struct lateness *to, const struct lateness *from)
{
	for (int tries = 0; tries < 100; tries++) {
		u64 before = READ_ONCE(from->sequence);

		smp_rmb(); /* sequence before the data; pairs with lateness_record() */
		memcpy(to, from, sizeof(*to));
		smp_rmb(); /* data before the sequence; pairs with lateness_record() */
		if (!(before & 1) && before == READ_ONCE(from->sequence))
			return true;
	}
	return false;
}

#endif
