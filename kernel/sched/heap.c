// SPDX-License-Identifier: GPL-2.0-only
/* See heap.h. */
#include "sched/heap.h"

void heap_init(struct heap *heap, struct heap_slot *slots, unsigned int capacity)
{
	*heap = (struct heap) { .slot = slots, .capacity = capacity };
}

void heap_use(struct heap *heap, struct heap_slot *slots, unsigned int capacity)
{
	memcpy(slots, heap->slot, heap->count * sizeof(*slots));
	heap->slot = slots;
	heap->capacity = capacity;
}

static __always_inline bool before(const struct heap_slot *a, const struct heap_slot *b)
{
	return a->key < b->key || (a->key == b->key && a->seq < b->seq);
}

static __always_inline void put(struct heap_slot *slots, unsigned int i, struct heap_slot slot)
{
	slots[i] = slot;
	slot.node->place = i + 1;
}

/*
 * The two sifts are inline in their callers, so that @slot is in registers and the array's
 * address, too: they are what a release among many tasks costs.
 */

/* Move the hole at @i towards the root until @slot fits in. */
static __always_inline void sift_up(struct heap_slot *slots, unsigned int i,
				    const struct heap_slot slot)
{
	struct heap_slot *hole = &slots[i];
	size_t place = i + 1;

	/* Places count from 1: so the parent's is half of one's own. */
	while (place > 1) {
		size_t half = place / 2;
		struct heap_slot *up = &slots[half - 1];

		if (!before(&slot, up))
			break;
		*hole = *up;
		hole->node->place = place;
		hole = up;
		place = half;
	}
	*hole = slot;
	hole->node->place = place;
}

/* Move the hole at @i towards the leaves, of @count, until @slot fits in. */
static __always_inline void sift_down(struct heap_slot *slots, unsigned int count, unsigned int i,
				      const struct heap_slot slot)
{
	unsigned int child;

	while ((child = 2 * i + 1) < count) {
		if (child + 1 < count && before(&slots[child + 1], &slots[child]))
			child++;
		if (!before(&slots[child], &slot))
			break;
		put(slots, i, slots[child]);
		i = child;
	}
	put(slots, i, slot);
}

rt_hot void heap_raise(struct heap *heap, unsigned int i)
{
	sift_up(heap->slot, i, heap->slot[i]);
}

void heap_move(struct heap *heap, struct rt_node *node, u64 place)
{
	unsigned int i = node->place - 1;

	heap->slot[i].seq = place;
	heap_raise(heap, i);
}

void heap_remove_among(struct heap *heap, struct rt_node *node)
{
	unsigned int hole = node->place - 1;
	const struct heap_slot last = heap->slot[--heap->count];

	node->place = 0;
	if (hole && before(&last, &heap->slot[(hole - 1) / 2]))
		sift_up(heap->slot, hole, last);
	else
		sift_down(heap->slot, heap->count, hole, last);
}
