// SPDX-License-Identifier: GPL-2.0
/*
 * Rings of records, one end at a time: random operations against a model that counts records, for
 * many sizes of ring and record; and the change from bytes to records and back.
 */
#include "check.h"
#include "../../rtfifo/ring.c"

static u32 seed = 1;

static u32 rnd(u32 below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static void no_sync(void)
{
}

static struct ring_buf *buf_new(u32 size)
{
	struct ring_buf *b = calloc(1, sizeof(*b));

	b->cap = 1;
	while (b->cap < size)
		b->cap *= 2;
	b->data = malloc(b->cap);
	b->mask = b->cap - 1;
	b->size = size;
	return b;
}

static void buf_del(struct ring_buf *b)
{
	free(b->data);
	free(b);
}

/* Record k is full of bytes k, so a torn one shows. */
static void fill(u8 *to, u32 k, u32 record)
{
	memset(to, (u8)k, record);
}

static void check_records(const u8 *from, u32 first, u32 n, u32 record)
{
	u32 i;

	for (i = 0; i < n * record; i++)
		CHECK_EQ(from[i], (u8)(first + i / record));
}

static void run(u32 size, u32 record)
{
	u32 fit = size / record, next = 0, oldest = 0, step, n, i;
	struct ring_buf *buf = buf_new(size);
	struct ring_index ix;
	struct ring ring;

	ring_init(&ring, &ix, buf);
	CHECK_EQ(ring_set_record(&ring, record, no_sync), 0);
	for (step = 0; step < 400; step++) {
		u32 used = next - oldest;
		u8 *bytes = malloc((fit + 2) * record);

		n = rnd(fit + 2);
		for (i = 0; i < n; i++)
			fill(bytes + i * record, next + i, record);
		switch (rnd(6)) {
		case 0:
			CHECK_EQ(ring_put(&ring, bytes, n * record),
				 n <= fit - used ? (int)(n * record) : -ENOSPC);
			if (n <= fit - used)
				next += n;
			break;
		case 1:
			CHECK_EQ(ring_put_overwrite(&ring, bytes, n * record),
				 n <= fit ? (int)(n * record) : -ENOSPC);
			if (n > fit)
				break;
			next += n;
			if (next - oldest > fit)
				oldest = next - fit;
			break;
		case 2:
			CHECK_EQ(ring_get(&ring, bytes, n * record),
				 n <= used ? (int)(n * record) : -EAGAIN);
			if (n > used)
				break;
			check_records(bytes, oldest, n, record);
			oldest += n;
			break;
		case 3:
			if (record == 1)
				break;
			/* Not whole: nothing moves, in any state. */
			CHECK_EQ(ring_put(&ring, bytes, n * record + 1), -EINVAL);
			CHECK_EQ(ring_put_overwrite(&ring, bytes, record - 1), -EINVAL);
			CHECK_EQ(ring_get(&ring, bytes, record - 1), -EINVAL);
			break;
		case 4: {
			/* A resize keeps records, if one still fits. */
			u32 bytes_new = record + rnd(2 * size);
			struct ring_buf *other = buf_new(bytes_new), *old = ring.buf;
			int ret = (rnd(2) ? ring_resize_rt_producer : ring_resize_rt_consumer)
				(&ring, other, no_sync);

			CHECK_EQ(ret, used * record <= bytes_new ? 0 : -ENOSPC);
			buf_del(ret ? other : old);
			if (!ret)
				fit = bytes_new / record;
			break;
		}
		default:
			if (rnd(8) == 0) {
				CHECK_EQ(ring_flush(&ring), used * record);
				oldest = next;
			}
		}
		CHECK_EQ(ring_used(&ring), (next - oldest) * record);
		free(bytes);
	}
	buf_del(ring.buf);
}

static void bytes_and_records(void)
{
	struct ring_buf *buf = buf_new(20);
	struct ring_index ix;
	struct ring ring;
	u8 bytes[32] = { 0 };

	ring_init(&ring, &ix, buf);
	CHECK_EQ(ring_put(&ring, bytes, 5), 5);
	CHECK_EQ(ring_set_record(&ring, 21, no_sync), -EINVAL);
	CHECK_EQ(ring_set_record(&ring, 4, no_sync), -EBUSY);
	CHECK_EQ(ring_put(&ring, bytes, 1), 1);		/* as it was */
	CHECK_EQ(ring_set_record(&ring, 3, no_sync), 0);
	CHECK_EQ(ring_put(&ring, bytes, 1), -EINVAL);
	CHECK_EQ(ring_put(&ring, bytes, 3), 3);
	CHECK_EQ(ring_set_record(&ring, 2, no_sync), -EBUSY);
	CHECK_EQ(ring_put(&ring, bytes, 2), -EINVAL);	/* still 3 */
	CHECK_EQ(ring_set_record(&ring, 0, no_sync), 0);
	CHECK_EQ(ring_put(&ring, bytes, 1), 1);
	CHECK_EQ(ring_get(&ring, bytes, 10), 10);
	/* The short ways are open again. */
	CHECK(ring_put_short(&ring, bytes, 1));
	CHECK(ring_get_short(&ring, bytes, 1));
	buf_del(buf);
}

int main(void)
{
	u32 size, record;

	for (size = 1; size <= 70; size++)
		for (record = 1; record <= size; record++)
			run(size, record);
	bytes_and_records();
	return 0;
}
