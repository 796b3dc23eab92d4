// SPDX-License-Identifier: GPL-2.0-only
/* See queue.h. A binary heap: no slot is before its parent. */
#include "queue.h"

void tap_queue_init(struct tap_queue *queue)
{
	queue->count = 0;
	queue->reserved = 0;
	queue->most = 0;
	queue->sequence = 0;
}

static bool queued_before(const struct tap_queued *a, const struct tap_queued *b)
{
	return a->out.due_ns < b->out.due_ns ||
	       (a->out.due_ns == b->out.due_ns && a->sequence < b->sequence);
}

bool tap_queue_reserve(struct tap_queue *queue, u32 places)
{
	if (TAP_QUEUE_MAX - queue->count - queue->reserved < places)
		return false;
	queue->reserved += places;
	return true;
}

bool tap_queue_put(struct tap_queue *queue, const struct tap_out *out, bool reserved)
{
	struct tap_queued new = { .sequence = queue->sequence, .out = *out };
	u32 i;

	if (!reserved && !tap_queue_reserve(queue, 1))
		return false;
	queue->reserved--;
	queue->sequence++;
	for (i = queue->count++; i; i = (i - 1) / 2) {
		if (!queued_before(&new, &queue->slot[(i - 1) / 2]))
			break;
		queue->slot[i] = queue->slot[(i - 1) / 2];
	}
	queue->slot[i] = new;
	if (queue->count > queue->most)
		queue->most = queue->count;
	return true;
}

void tap_queue_take(struct tap_queue *queue, struct tap_out *out)
{
	const struct tap_queued *last;
	u32 i = 0;

	*out = queue->slot[0].out;
	last = &queue->slot[--queue->count];
	for (;;) {
		u32 child = 2 * i + 1;

		if (child >= queue->count)
			break;
		if (child + 1 < queue->count &&
		    queued_before(&queue->slot[child + 1], &queue->slot[child]))
			child++;
		if (!queued_before(&queue->slot[child], last))
			break;
		queue->slot[i] = queue->slot[child];
		i = child;
	}
	queue->slot[i] = *last;
}
