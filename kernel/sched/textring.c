// SPDX-License-Identifier: GPL-2.0-only
/* See textring.h. */
#include "sched/textring.h"

#define LENGTH_BYTES 2

static void copy_in(struct textring *ring, u32 at, const void *from, u32 count)
{
	u32 place = at % TEXTRING_BYTES, first = TEXTRING_BYTES - place;

	if (first > count)
		first = count;
	memcpy(ring->data + place, from, first);
	memcpy(ring->data, (const u8 *)from + first, count - first);
}

static void copy_out(const struct textring *ring, u32 at, void *to, u32 count)
{
	u32 place = at % TEXTRING_BYTES, first = TEXTRING_BYTES - place;

	if (first > count)
		first = count;
	memcpy(to, ring->data + place, first);
	memcpy((u8 *)to + first, ring->data, count - first);
}

int textring_put(struct textring *ring, const char *text, unsigned int length)
{
	u8 prefix[LENGTH_BYTES] = { length & 0xff, length >> 8 };
	u32 head = ring->head;
	/* Pairs with the release in textring_get(): what it freed has been read. */
	u32 used = head - smp_load_acquire(&ring->tail);

	if (TEXTRING_BYTES - used < LENGTH_BYTES + length) {
		WRITE_ONCE(ring->lost, ring->lost + 1);
		return -ENOSPC;
	}
	copy_in(ring, head, prefix, LENGTH_BYTES);
	copy_in(ring, head + LENGTH_BYTES, text, length);
	/* Pairs with the acquire in textring_get(): the record is whole. */
	smp_store_release(&ring->head, head + LENGTH_BYTES + length);
	return 0;
}

bool textring_get(struct textring *ring, char *text, unsigned int size)
{
	u32 tail = ring->tail, length, count;
	u8 prefix[LENGTH_BYTES];

	/* Pairs with the release in textring_put(). */
	if (smp_load_acquire(&ring->head) == tail)
		return false;
	copy_out(ring, tail, prefix, LENGTH_BYTES);
	length = prefix[0] | prefix[1] << 8;
	count = length < size ? length : size - 1;
	copy_out(ring, tail + LENGTH_BYTES, text, count);
	text[count] = '\0';
	/* Pairs with the acquire in textring_put(). */
	smp_store_release(&ring->tail, tail + LENGTH_BYTES + length);
	return true;
}
