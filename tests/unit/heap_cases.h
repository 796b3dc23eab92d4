/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cases for the heap, for the host and for KUnit: the includer defines CHECK() and
 * CHECK_EQ(), and includes the pure files.
 */
#define HEAP_NODES 200

struct heap_item {
	struct rt_node node;
	u64 key;
	u64 order;		/* of insertion */
	bool in;
};

static struct heap_item heap_items[HEAP_NODES];
static struct heap_slot heap_slots[HEAP_NODES];

/* A fixed generator, so that a failure can be repeated. */
static u32 heap_seed;

static u32 heap_random(u32 below)
{
	heap_seed = heap_seed * 1664525 + 1013904223;
	return (u32)(((u64)heap_seed * below) >> 32);
}

static void heap_check_invariants(const struct heap *heap)
{
	for (unsigned int i = 0; i < heap->count; i++) {
		const struct heap_slot *slot = &heap->slot[i], *parent = &heap->slot[(i - 1) / 2];

		CHECK_EQ(slot->node->place, i + 1);
		if (i)
			CHECK(parent->key < slot->key ||
			      (parent->key == slot->key && parent->seq < slot->seq));
	}
}

/* The item that must leave next, found the slow way. */
static struct heap_item *heap_expected(void)
{
	struct heap_item *best = NULL;

	for (int i = 0; i < HEAP_NODES; i++) {
		struct heap_item *item = &heap_items[i];

		if (item->in && (!best || item->key < best->key ||
				 (item->key == best->key && item->order < best->order)))
			best = item;
	}
	return best;
}

static void heap_case_random(void)
{
	struct heap heap;
	u64 order = 0;

	heap_seed = 1;
	memset(heap_items, 0, sizeof(heap_items));
	heap_init(&heap, heap_slots, HEAP_NODES);
	for (int step = 0; step < 20000; step++) {
		struct heap_item *item = &heap_items[heap_random(HEAP_NODES)];
		struct heap_item *first;

		if (item->in) {
			heap_remove(&heap, &item->node);
			item->in = false;
			CHECK(!heap_queued(&item->node));
		} else {
			item->key = heap_random(step % 2 ? 8 : 100000);
			item->order = order++;
			item->in = true;
			CHECK_EQ(heap_insert(&heap, &item->node, item->key), 0);
		}
		first = heap_expected();
		CHECK(heap_first(&heap) == (first ? &first->node : NULL));
		CHECK_EQ(heap_first_key(&heap), first ? first->key : ~0ULL);
		if (step % 64 == 0)
			heap_check_invariants(&heap);
	}
}

static void heap_case_fifo_among_equals(void)
{
	struct heap heap;

	memset(heap_items, 0, sizeof(heap_items));
	heap_init(&heap, heap_slots, HEAP_NODES);
	for (int i = 0; i < HEAP_NODES; i++)
		CHECK_EQ(heap_insert(&heap, &heap_items[i].node, 7), 0);
	for (int i = 0; i < HEAP_NODES; i++) {
		CHECK(heap_first(&heap) == &heap_items[i].node);
		heap_remove(&heap, heap_first(&heap));
	}
	CHECK_EQ(heap.count, 0);
}

/* What is made for one or two nodes leaves the heap as the general functions would. */
static void heap_case_few(void)
{
	struct heap heap;

	memset(heap_items, 0, sizeof(heap_items));
	heap_init(&heap, heap_slots, HEAP_NODES);
	for (int round = 0; round < 3; round++) {
		struct rt_node *a = &heap_items[0].node, *b = &heap_items[1].node;

		heap_insert_first(&heap, a, 7);
		heap_check_invariants(&heap);
		CHECK_EQ(heap.count, 1);
		CHECK_EQ(heap_insert(&heap, b, 6 + round), 0);
		CHECK(heap_first(&heap) == (round ? a : b));
		heap_check_invariants(&heap);
		heap_remove_first(&heap);
		CHECK(heap_first(&heap) == (round ? b : a));
		CHECK_EQ(heap_first_key(&heap), round ? 6 + round : 7);
		CHECK(!heap_queued(round ? a : b));
		heap_check_invariants(&heap);
		heap_remove_first(&heap);
		CHECK_EQ(heap.count, 0);
		CHECK(!heap_queued(a) && !heap_queued(b));
	}
}

static void heap_case_full(void)
{
	struct heap heap;

	memset(heap_items, 0, sizeof(heap_items));
	heap_init(&heap, heap_slots, 3);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(heap_insert(&heap, &heap_items[i].node, 10 - i), 0);
	CHECK_EQ(heap_insert(&heap, &heap_items[3].node, 0), -ENOSPC);
	CHECK(!heap_queued(&heap_items[3].node));
	CHECK(heap_first(&heap) == &heap_items[2].node);
	heap_check_invariants(&heap);
}

/* Every case, for whoever runs them. */
#define HEAP_CASES(do)			\
	do(heap_case_random)		\
	do(heap_case_fifo_among_equals)	\
	do(heap_case_few)		\
	do(heap_case_full)
