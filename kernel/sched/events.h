/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who was released, started, pre-empted: a ring of the last events of one CPU. Pure logic.
 *
 * Written and read under the lock of the CPU's rq. Off unless it has slots. When it is full the
 * oldest go. All rings stop at once when a job has started too late.
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
	EVENT_TIMER,		/* the one-shot event; of the running task, or EVENT_LINUX */
	EVENT_LATE,		/* a job has started too late: the last event */
	EVENT_DEMOTE,		/* a program's task is a thread of Linux's again */
	EVENT_IRQ,		/* a line's RT handler begins; of whom it interrupts, as above */
	EVENT_IRQ_END,		/* it is done */
};

#define EVENT_LINUX (~0U)

/*
 * @arg: of a release, start or completion: the moment of the release, ns; of a timer that
 *	interrupts Linux's kernel: where; of LATE: by how much, ns; of a demotion: at which
 *	instruction; of an IRQ or its end: the number of the line
 * @reason, @number: of a demotion: RT_END_*; its system call or vector, 65535 for any above
 */
struct event {
	u64 when;		/* ns */
	u64 arg;
	u32 task;		/* RT_TASK's id */
	u8 kind;
	u8 reason;
	u16 number;
};

/*
 * struct events - the ring
 * @slot: where it is written: @store, or NULL: off
 * @store: as many as @mask + 1, a power of two; NULL: none
 * @written: since it was switched on
 * @clock: the time, ns
 * @late_ns: a start so long after its release stops all rings; 0: none does
 * @stopped: they have been stopped; common to all CPUs
 */
struct events {
	struct event *store;
	u32 mask;
	u64 written;
	u64 (*clock)(void);
	u64 late_ns;
	bool *stopped;
	/* Last: see struct rt_rq. */
	struct event *slot;
};

/* Of a ring that is on: it goes off, if all were stopped. */
static inline bool events_go_on(struct events *events)
{
	if (likely(!READ_ONCE(*events->stopped)))
		return true;
	events->slot = NULL;
	return false;
}

/* Of a ring that goes on. */
static inline void events_write(struct events *events, enum event_kind kind, u32 task, u64 arg,
				u64 when)
{
	struct event *event = &events->slot[events->written++ & events->mask];

	event->when = when;
	event->arg = arg;
	event->task = task;
	event->kind = kind;
	event->reason = 0;
	event->number = 0;
}

/* Of a ring that is on. */
static inline void events_put(struct events *events, enum event_kind kind, u32 task, u64 arg,
			      u64 when)
{
	if (events_go_on(events))
		events_write(events, kind, task, arg, when);
}

static inline void events_note(struct events *events, enum event_kind kind, u32 task, u64 arg)
{
	if (unlikely(events->slot))
		events_put(events, kind, task, arg, events->clock());
}

/* @task's demotion, at the instruction @ip. */
static inline void events_demote(struct events *events, u32 task, u8 reason, u64 number, u64 ip)
{
	u64 written = events->written;
	struct event *event;

	events_note(events, EVENT_DEMOTE, task, ip);
	if (events->written == written)
		return;
	event = &events->slot[written & events->mask];
	event->reason = reason;
	event->number = number < 0xffff ? number : 0xffff;
}

/* A job that was released at @release starts: too late? Of a ring that goes on, at its START. */
static inline void events_judge(struct events *events, u32 task, u64 release, u64 when)
{
	if (likely(!events->late_ns) || (s64)(when - release) <= (s64)events->late_ns)
		return;
	events_write(events, EVENT_LATE, task, when - release, when);
	WRITE_ONCE(*events->stopped, true);
}

/** events_count - how many can be read */
static inline u64 events_count(const struct events *events)
{
	if (!events->store)
		return 0;
	return events->written <= events->mask ? events->written : events->mask + 1ULL;
}

/** events_get - the @n-th oldest of those; @n is below events_count() */
static inline struct event events_get(const struct events *events, u64 n)
{
	return events->store[(events->written - events_count(events) + n) & events->mask];
}

#endif
