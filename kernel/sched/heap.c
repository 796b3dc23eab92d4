// SPDX-License-Identifier: GPL-2.0-only
/* See heap.h. */
#include "sched/heap.h"

void heap_init(struct heap *heap, struct heap_slot *slots, unsigned int capacity)
{
	*heap = (struct heap) { .slot = slots, .capacity = capacity };
}

static inline bool before(const struct heap_slot *a, const struct heap_slot *b)
{
	return a->key < b->key || (a->key == b->key && a->seq < b->seq);
}

static inline void put(struct heap *heap, unsigned int i, struct heap_slot slot)
{
	heap->slot[i] = slot;
	slot.node->place = i + 1;
}

/* Move the hole at @i towards the root until @slot fits in. */
static void sift_up(struct heap *heap, unsigned int i, struct heap_slot slot)
{
	while (i) {
		unsigned int parent = (i - 1) / 2;

		if (!before(&slot, &heap->slot[parent]))
			break;
		put(heap, i, heap->slot[parent]);
		i = parent;
	}
	put(heap, i, slot);
}

/* Move the hole at @i towards the leaves until @slot fits in. */
static void sift_down(struct heap *heap, unsigned int i, struct heap_slot slot)
{
	for (;;) {
		unsigned int child = 2 * i + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count && before(&heap->slot[child + 1], &heap->slot[child]))
			child++;
		if (!before(&heap->slot[child], &slot))
			break;
		put(heap, i, heap->slot[child]);
		i = child;
	}
	put(heap, i, slot);
}

int heap_insert(struct heap *heap, struct rt_node *node, u64 key)
{
	struct heap_slot slot = { .key = key, .node = node };

	if (heap->count == heap->capacity)
		return -ENOSPC;
	slot.seq = heap->seq++;
	sift_up(heap, heap->count++, slot);
	return 0;
}

void heap_move(struct heap *heap, struct rt_node *node, u64 place)
{
	unsigned int i = node->place - 1;
	struct heap_slot slot = heap->slot[i];

	slot.seq = place;
	sift_up(heap, i, slot);
}

void heap_remove(struct heap *heap, struct rt_node *node)
{
	unsigned int hole = node->place - 1;
	struct heap_slot last = heap->slot[--heap->count];

	node->place = 0;
	if (last.node == node)
		return;
	if (hole && before(&last, &heap->slot[(hole - 1) / 2]))
		sift_up(heap, hole, last);
	else
		sift_down(heap, hole, last);
}
