/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A binary heap of nodes that stay where they are: ready queues, timer queues.
 *
 * Pure logic; its user locks. Keys live in the array beside the pointers, so that a
 * sift touches the array only, until it writes the place of a node it moved.
 * Equal keys leave in the order they came in. The array never grows.
 */
#ifndef _TACTUS_HEAP_H
#define _TACTUS_HEAP_H

#include <rt/node.h>
#include <rt/pure.h>

struct heap_slot {
	u64 key;
	u64 seq;		/* of the insertion; 2^64 of them outlast any machine */
	struct rt_node *node;
};

/* Invariants: no slot is before its parent; slot[i].node->place == i + 1. */
struct heap {
	struct heap_slot *slot;
	unsigned int count;
	unsigned int capacity;
	u64 seq;
};

void heap_init(struct heap *heap, struct heap_slot *slots, unsigned int capacity);

/** heap_use - go on in other slots, no fewer than are used; O(n) */
void heap_use(struct heap *heap, struct heap_slot *slots, unsigned int capacity);

/** heap_raise - the node in slot @i may have to leave before its parents. Private. */
void heap_raise(struct heap *heap, unsigned int i);

/** heap_remove_among - as heap_remove(), of a node that is not in the last slot. Private. */
void heap_remove_among(struct heap *heap, struct rt_node *node);

/**
 * heap_insert - O(log n)
 * @heap: the heap
 * @node: in no heap
 * @key: smaller leaves first
 *
 * Inline, as heap_remove(): with one or two nodes, which is common, there is nothing to sift.
 *
 * Return: 0, -ENOSPC (full).
 */
static inline int heap_insert(struct heap *heap, struct rt_node *node, u64 key)
{
	unsigned int i = heap->count;

	if (unlikely(i == heap->capacity))
		return -ENOSPC;
	heap->count = i + 1;
	heap->slot[i] = (struct heap_slot) { .key = key, .seq = heap->seq++, .node = node };
	node->place = i + 1;
	/* Of equal keys it is the last. */
	if (i && key < heap->slot[(i - 1) / 2].key)
		heap_raise(heap, i);
	return 0;
}

/** heap_insert_first - the same into a heap that is empty, and has room */
static inline void heap_insert_first(struct heap *heap, struct rt_node *node, u64 key)
{
	heap->slot[0] = (struct heap_slot) { .key = key, .seq = heap->seq++, .node = node };
	heap->count = 1;
	node->place = 1;
}

/** heap_place - its place among equal keys; @node is in the heap */
static inline u64 heap_place(const struct heap *heap, const struct rt_node *node)
{
	return heap->slot[node->place - 1].seq;
}

/**
 * heap_move - put a node before equal keys that came later
 * @heap: the heap that @node is in
 * @node: the node
 * @place: what heap_place() said of it earlier
 */
void heap_move(struct heap *heap, struct rt_node *node, u64 place);

/**
 * heap_remove - take @node out, wherever it is; O(log n)
 * @heap: the heap that @node is in
 * @node: the node
 */
static inline void heap_remove(struct heap *heap, struct rt_node *node)
{
	unsigned int last = heap->count - 1;

	if (node->place - 1 == last) {
		heap->count = last;
		node->place = 0;
	} else if (last == 1) {
		/* The first of two. */
		heap->count = last;
		node->place = 0;
		heap->slot[0] = heap->slot[1];
		heap->slot[0].node->place = 1;
	} else {
		heap_remove_among(heap, node);
	}
}

/** heap_remove_first - take out the first of one or two nodes */
static inline void heap_remove_first(struct heap *heap)
{
	struct heap_slot *slot = heap->slot;

	slot[0].node->place = 0;
	if (--heap->count) {
		slot[0] = slot[1];
		slot[0].node->place = 1;
	}
}

static inline bool heap_queued(const struct rt_node *node)
{
	return node->place;
}

/** heap_first - the node with the smallest key; NULL if empty; O(1) */
static inline struct rt_node *heap_first(const struct heap *heap)
{
	return heap->count ? heap->slot[0].node : NULL;
}

/** heap_first_key - its key; the largest u64 if empty */
static inline u64 heap_first_key(const struct heap *heap)
{
	return heap->count ? heap->slot[0].key : ~0ULL;
}

#endif
