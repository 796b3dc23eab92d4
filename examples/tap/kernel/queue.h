/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is still to be sent, ordered by time; equal times leave in the order they came.
 *
 * Pure, no lock, fixed memory. A note's off has its place before its on goes in: so a note is
 * either refused whole or ends. Invariant: count + reserved <= TAP_QUEUE_MAX.
 */
#ifndef _TAP_QUEUE_H
#define _TAP_QUEUE_H

#include <rt/pure.h>

#define TAP_QUEUE_MAX 1024

/* One message to send. */
struct tap_out {
	u64 due_ns;		/* on the clock of the caller */
	s64 value;		/* as in the record it makes */
	u32 source;
	u16 index;
	u8 class;		/* enum tap_class */
	u8 bytes;
	u8 msg[3];
};

struct tap_queue {
	/* private: */
	u32 count;
	u32 reserved;
	u32 most;		/* the most that count has been */
	u64 sequence;
	struct tap_queued {
		u64 sequence;
		struct tap_out out;
	} slot[TAP_QUEUE_MAX];
};

/** tap_queue_init - empty. Context: any. */
void tap_queue_init(struct tap_queue *queue);

/** tap_queue_reserve - keep places for later; false if there are too few. Context: any, O(1). */
bool tap_queue_reserve(struct tap_queue *queue, u32 places);

/**
 * tap_queue_put - add a message; O(log n)
 * @queue: the queue
 * @out: copied
 * @reserved: it takes a place that was reserved
 *
 * Context: any.
 * Return: false if there was no place; never so with @reserved.
 */
bool tap_queue_put(struct tap_queue *queue, const struct tap_out *out, bool reserved);

/** tap_queue_first - the one that leaves first; NULL if empty. Context: any, O(1). */
static inline const struct tap_out *tap_queue_first(const struct tap_queue *queue)
{
	return queue->count ? &queue->slot[0].out : NULL;
}

/** tap_queue_take - remove the first of a queue that is not empty; O(log n). Context: any. */
void tap_queue_take(struct tap_queue *queue, struct tap_out *out);

#endif
