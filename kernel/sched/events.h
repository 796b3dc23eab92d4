/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who was released, started, pre-empted: a ring of the last events of one CPU. Pure logic.
 *
 * Written and read under the lock of the CPU's rq. Off unless it has slots. When it is full the
 * oldest go.
 */
#ifndef _TACTUS_EVENTS_H
#define _TACTUS_EVENTS_H

#include <rt/pure.h>

enum event_kind {
	EVENT_RELEASE,		/* a job became ready */
	EVENT_START,		/* it has the CPU for the first time */
	EVENT_PREEMPT,		/* it lost the CPU to another, and is still ready */
	EVENT_BLOCK,		/* it lost the CPU because it waits, or was stopped */
	EVENT_RESUME,		/* it has the CPU again */
	EVENT_COMPLETE,		/* it is done */
};

struct event {
	u64 when;		/* ns */
	u32 task;		/* RT_TASK's id */
	u32 kind;
};

/*
 * struct events - the ring
 * @slot: as many as @mask + 1, a power of two; NULL: off
 * @written: since it was switched on
 * @clock: the time, ns
 */
struct events {
	struct event *slot;
	u32 mask;
	u64 written;
	u64 (*clock)(void);
};

/* Of a ring that is on. */
static inline void events_put(struct events *events, enum event_kind kind, u32 task, u64 when)
{
	events->slot[events->written++ & events->mask] = (struct event) {
		.when = when, .task = task, .kind = kind,
	};
}

static inline void events_note(struct events *events, enum event_kind kind, u32 task)
{
	if (unlikely(events->slot))
		events_put(events, kind, task, events->clock());
}

/** events_count - how many can be read */
static inline u64 events_count(const struct events *events)
{
	if (!events->slot)
		return 0;
	return events->written <= events->mask ? events->written : events->mask + 1ULL;
}

/** events_get - the @n-th oldest of those; @n is below events_count() */
static inline struct event events_get(const struct events *events, u64 n)
{
	return events->slot[(events->written - events_count(events) + n) & events->mask];
}

#endif
