// SPDX-License-Identifier: GPL-2.0
/*
 * The ring with one end at a time: every operation against a model that keeps all
 * bytes ever put, with every size, offset and phase of the free-running indices.
 */
#include "check.h"
#include "../../rtfifo/ring.c"

struct rig {
	struct ring_index ix;
	struct ring_buf *buf;
	struct ring ring;
	/* The model: byte k ever put is model_byte(k). */
	u64 put, got;
};

static u8 model_byte(u64 k)
{
	return (u8)(k * 151 + (k >> 8) * 7);
}

/* Exactly as long as it says, so that ASan sees the first byte beyond. */
static struct ring_buf *buf_new(u32 size, u32 least)
{
	struct ring_buf *b = calloc(1, sizeof(*b));
	u32 bytes = least;

	while (bytes < size)
		bytes *= 2;
	b->data = malloc(bytes);
	b->cap = bytes;
	b->mask = bytes - 1;
	b->size = size;
	return b;
}

static void buf_del(struct ring_buf *b)
{
	free(b->data);
	free(b);
}

static void rig_open(struct rig *g, u32 size, u32 start)
{
	memset(g, 0, sizeof(*g));
	g->buf = buf_new(size, 1);
	ring_init(&g->ring, &g->ix, g->buf);
	g->ix.head = g->ix.tail = g->ring.prod_from = start;
}

static void rig_close(struct rig *g)
{
	buf_del(g->buf);
}

static u32 used(struct rig *g)
{
	return (u32)(g->put - g->got);
}

static void rig_check(struct rig *g)
{
	CHECK_EQ(ring_used(&g->ring), used(g));
	CHECK_EQ(ring_free(&g->ring), g->buf->size - used(g));
}

static void rig_put(struct rig *g, u32 n)
{
	u8 *src = malloc(n ? n : 1);	/* again for ASan */
	u32 i;

	for (i = 0; i < n; i++)
		src[i] = model_byte(g->put + i);
	if (n <= g->buf->size - used(g)) {
		CHECK_EQ(ring_put(&g->ring, src, n), n);
		g->put += n;
	} else {
		u64 refused = g->ring.refused;

		CHECK_EQ(ring_put(&g->ring, src, n), -ENOSPC);
		CHECK_EQ(g->ring.refused, refused + 1);
	}
	free(src);
	rig_check(g);
}

static void rig_put_overwrite(struct rig *g, u32 n)
{
	u32 size = g->buf->size, room = size - used(g), i;
	u64 lost = g->ring.lost;
	u8 *src;

	if (n > size) {
		rig_put(g, n);
		return;
	}
	src = malloc(n ? n : 1);
	for (i = 0; i < n; i++)
		src[i] = model_byte(g->put + i);
	CHECK_EQ(ring_put_overwrite(&g->ring, src, n), n);
	g->put += n;
	if (n > room)
		g->got += n - room;
	CHECK_EQ(g->ring.lost - lost, n > room ? n - room : 0);
	free(src);
	rig_check(g);
}

static void rig_get(struct rig *g, u32 n, bool peek)
{
	u8 *dst = malloc(n ? n : 1);
	u32 i;

	memset(dst, 0xee, n);
	if (n <= used(g)) {
		CHECK_EQ(peek ? ring_peek(&g->ring, dst, n) : ring_get(&g->ring, dst, n), n);
		for (i = 0; i < n; i++)
			CHECK_EQ(dst[i], model_byte(g->got + i));
		if (!peek)
			g->got += n;
	} else {
		CHECK_EQ(peek ? ring_peek(&g->ring, dst, n) : ring_get(&g->ring, dst, n),
			 -EAGAIN);
		for (i = 0; i < n; i++)
			CHECK_EQ(dst[i], 0xee);
	}
	free(dst);
	rig_check(g);
}

/* The Linux end: in pieces, in place. */
static void rig_put_spans(struct rig *g, u32 n)
{
	u32 done = 0, part, i;
	u8 *at;

	while (done < n) {
		part = ring_span_free(&g->ring, done, &at);
		if (!part)
			break;
		if (part > n - done)
			part = n - done;
		for (i = 0; i < part; i++)
			at[i] = model_byte(g->put + done + i);
		done += part;
	}
	CHECK_EQ(done, n < g->buf->size - used(g) ? n : g->buf->size - used(g));
	CHECK_EQ(ring_used(&g->ring), used(g));		/* nothing is visible yet */
	ring_commit(&g->ring, done);
	g->put += done;
	rig_check(g);
}

static void rig_get_spans(struct rig *g, u32 n)
{
	u32 done = 0, part, i;
	u8 *at;

	while (done < n) {
		part = ring_span_used(&g->ring, g->ix.tail + done, &at);
		if (!part)
			break;
		if (part > n - done)
			part = n - done;
		for (i = 0; i < part; i++)
			CHECK_EQ(at[i], model_byte(g->got + done + i));
		done += part;
	}
	CHECK_EQ(done, n < used(g) ? n : used(g));
	ring_consume(&g->ring, done);
	g->got += done;
	rig_check(g);
}

static unsigned int syncs;

static void sync_count(void)
{
	syncs++;
}

static void rig_resize(struct rig *g, u32 size, bool rt_producer)
{
	struct ring_buf *new = buf_new(size, 1), *old = g->buf;
	u32 old_size = old->size;
	int ret;

	syncs = 0;
	ret = rt_producer ? ring_resize_rt_producer(&g->ring, new, sync_count) :
			    ring_resize_rt_consumer(&g->ring, new, sync_count);
	if (used(g) <= size) {
		CHECK_EQ(ret, 0);
		CHECK(syncs > 0);	/* or the old buffer may still be in use */
		CHECK(g->ring.buf == new);
		g->buf = new;
		memset(old->data, 0xee, old->mask + 1);
		buf_del(old);
	} else {
		CHECK_EQ(ret, -ENOSPC);
		CHECK(g->ring.buf == old);
		CHECK_EQ(old->size, old_size);
		buf_del(new);
	}
	rig_check(g);
}

static const u32 starts[] = { 0, 1, 0x7ffffffe, RING_INDEX_START, 0xfffffff0, 0xffffffff };
#define N_STARTS (sizeof(starts) / sizeof(starts[0]))

/* All small sizes, all fill levels, all lengths: nothing is special. */
static void test_exhaustive(void)
{
	u32 s, size, fill, n;

	for (s = 0; s < N_STARTS; s++)
		for (size = 1; size <= 17; size++)
			for (fill = 0; fill <= size; fill++)
				for (n = 0; n <= size + 2; n++) {
					struct rig g;

					rig_open(&g, size, starts[s]);
					rig_put(&g, fill);
					rig_put(&g, n);
					rig_get(&g, n, true);
					rig_get(&g, n, false);
					rig_put_spans(&g, n);
					rig_get_spans(&g, fill);
					rig_put_overwrite(&g, n);
					rig_get(&g, n / 2, false);
					CHECK_EQ(ring_flush(&g.ring), used(&g));
					g.got = g.put;
					rig_check(&g);
					rig_close(&g);
				}
}

static u32 seed = 12345;

static u32 rnd(u32 below)
{
	seed = seed * 1664525 + 1013904223;
	return (u32)(((u64)(seed >> 8) * below) >> 24);
}

/* Long random histories with resizes, through the wrap of the indices. */
static void test_random(void)
{
	u32 s, i;

	for (s = 0; s < N_STARTS; s++) {
		struct rig g;

		rig_open(&g, 100, starts[s]);
		for (i = 0; i < 100000; i++) {
			u32 n = rnd(4) ? rnd(20) : rnd(300);

			switch (rnd(10)) {
			case 0: case 1:
				rig_put(&g, n);
				break;
			case 2: case 3:
				rig_get(&g, n, false);
				break;
			case 4:
				rig_get(&g, n, true);
				break;
			case 5:
				rig_put_spans(&g, n);
				break;
			case 6:
				rig_get_spans(&g, n);
				break;
			case 7:
				if (!rnd(20))
					rig_resize(&g, 1 + rnd(300), rnd(2));
				break;
			case 8:
				rig_put_overwrite(&g, n);
				break;
			case 9:
				if (!rnd(50)) {
					ring_flush(&g.ring);
					g.got = g.put;
				}
				break;
			}
		}
		CHECK(g.put > 100000);
		CHECK(g.ring.refused > 100);
		CHECK(g.ring.high > 100 && g.ring.high <= 300);
		rig_close(&g);
	}
}

/*
 * A producer that puts at each moment at which a resize can be overtaken: from
 * inside its sync. What it put, into either buffer, must come out.
 */
static struct rig *mid_rig;
static u32 mid_bytes, mid_refused;

static void sync_put(void)
{
	u32 i;

	for (i = 0; i < mid_bytes; i++) {
		u8 byte = model_byte(mid_rig->put);

		if (ring_put(&mid_rig->ring, &byte, 1) == 1)
			mid_rig->put++;
		else
			mid_refused++;
	}
}

static void test_put_during_resize(void)
{
	u32 size, size2, fill;

	for (size = 1; size <= 20; size++)
		for (size2 = 1; size2 <= 20; size2++)
			for (fill = 0; fill <= size; fill++)
				for (mid_bytes = 0; mid_bytes < 12; mid_bytes++) {
					struct ring_buf *new = buf_new(size2, 1), *old;
					struct rig g;
					u32 before;
					int ret;

					rig_open(&g, size, RING_INDEX_START);
					rig_put(&g, fill);
					mid_rig = &g;
					mid_refused = 0;
					old = g.buf;
					before = used(&g);
					ret = ring_resize_rt_producer(&g.ring, new, sync_put);
					if (!ret) {
						g.buf = new;
						memset(old->data, 0xee, old->mask + 1);
						buf_del(old);
					} else {
						CHECK_EQ(ret, -ENOSPC);
						CHECK(size2 < size && before > size2);
						buf_del(new);
					}
					/* Refused only what neither size had room for. */
					if (mid_refused)
						CHECK(used(&g) >= (size < size2 ? size : size2));
					/* And on with the new one. */
					rig_put(&g, 1);
					rig_get(&g, used(&g), false);
					rig_put(&g, g.buf->size);
					rig_get(&g, g.buf->size, false);
					rig_close(&g);
				}
}

/* The same for a consumer that gets from inside the sync. */
static void sync_get(void)
{
	u32 i;

	for (i = 0; i < mid_bytes; i++) {
		u8 byte;

		if (ring_get(&mid_rig->ring, &byte, 1) == 1)
			CHECK_EQ(byte, model_byte(mid_rig->got++));
	}
}

static void test_get_during_resize(void)
{
	u32 size, size2, fill;

	for (size = 1; size <= 20; size++)
		for (size2 = 1; size2 <= 20; size2++)
			for (fill = 0; fill <= size; fill++)
				for (mid_bytes = 0; mid_bytes < 12; mid_bytes++) {
					struct ring_buf *new = buf_new(size2, 1), *old;
					struct rig g;

					rig_open(&g, size, RING_INDEX_START);
					rig_put(&g, fill);
					mid_rig = &g;
					old = g.buf;
					if (ring_resize_rt_consumer(&g.ring, new, sync_get)) {
						CHECK(fill > size2);
						buf_del(new);
					} else {
						g.buf = new;
						memset(old->data, 0xee, old->mask + 1);
						buf_del(old);
					}
					rig_check(&g);
					rig_get(&g, used(&g), false);
					rig_put(&g, g.buf->size);
					rig_get(&g, g.buf->size, false);
					rig_close(&g);
				}
}

/* Indices that misuse has broken: answers may be wrong, accesses may not. */
static void test_broken_indices(void)
{
	static const u32 gaps[] = { 65, 127, 128, 129, 1000, 0x80000000, 0xffffffff };
	u32 g_i, n;

	for (g_i = 0; g_i < sizeof(gaps) / sizeof(gaps[0]); g_i++) {
		u8 bytes[2048];
		u8 *at;
		struct rig g;

		rig_open(&g, 64, 1000);
		memset(g.buf->data, 0, 64);
		memset(bytes, 0, sizeof(bytes));
		g.ix.head = g.ix.tail + gaps[g_i];
		for (n = 0; n < 2048; n += 7) {
			CHECK(ring_put(&g.ring, bytes, n) <= 64);
			g.ix.tail = 1000;
			CHECK(ring_get(&g.ring, bytes, n) <= 64);
			g.ix.tail = 1000;
			CHECK(ring_span_used(&g.ring, g.ix.tail, &at) <= 64);
			CHECK(ring_put_overwrite(&g.ring, bytes, n) <= 64);
			g.ix.tail = 1000;
			g.ix.head = g.ix.tail + gaps[g_i];
			CHECK(ring_span_free(&g.ring, 0, &at) <= 64);
		}
		CHECK_EQ(ring_free(&g.ring), 0);
		rig_close(&g);
	}
}

int main(void)
{
	test_exhaustive();
	test_random();
	test_put_during_resize();
	test_get_during_resize();
	test_broken_indices();
	return 0;
}
