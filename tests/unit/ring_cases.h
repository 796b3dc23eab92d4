/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cases for the FIFOs' ring, for the host and for KUnit: one end at a time, every operation against
 * a model. The includer defines CHECK() and CHECK_EQ(), includes the pure file, and says:
 *
 *	ring_case_alloc(n)	@n bytes, not one more, so that a sanitizer sees the first one beyond
 *	ring_case_free(at)
 *	RING_CASE_SIZE		rings of 1 to this many bytes: all fill levels, all lengths
 *	RING_CASE_STEPS		length of a random history
 *	RING_CASE_RECORDS	rings of 1 to this many bytes, with each size of record
 *	RING_CASE_RECORD_STEPS	length of a random history of records
 */

struct ring_rig {
	struct ring_index ix;
	struct ring_buf *buf;
	struct ring ring;
	/* The model: byte k ever put is ring_model_byte(k). */
	u64 put, got;
};

static u8 ring_model_byte(u64 k)
{
	return (u8)(k * 151 + (k >> 8) * 7);
}

static struct ring_buf *ring_case_buf(u32 size)
{
	struct ring_buf *b = ring_case_alloc(sizeof(*b));
	u32 bytes = 1;

	while (bytes < size)
		bytes *= 2;
	b->data = ring_case_alloc(bytes);
	b->cap = bytes;
	b->mask = bytes - 1;
	b->size = size;
	return b;
}

static void ring_case_drop(struct ring_buf *b)
{
	ring_case_free(b->data);
	ring_case_free(b);
}

static void ring_rig_open(struct ring_rig *g, u32 size, u32 start)
{
	memset(g, 0, sizeof(*g));
	g->buf = ring_case_buf(size);
	ring_init(&g->ring, &g->ix, g->buf);
	g->ix.head = g->ix.tail = g->ring.prod_from = start;
}

static void ring_rig_close(struct ring_rig *g)
{
	ring_case_drop(g->buf);
}

static u32 ring_rig_used(struct ring_rig *g)
{
	return (u32)(g->put - g->got);
}

static void ring_rig_check(struct ring_rig *g)
{
	CHECK_EQ(ring_used(&g->ring), ring_rig_used(g));
	CHECK_EQ(ring_free(&g->ring), g->buf->size - ring_rig_used(g));
}

static void ring_rig_put(struct ring_rig *g, u32 n)
{
	u8 *src = ring_case_alloc(n ? n : 1);	/* again for ASan */
	u32 i;

	for (i = 0; i < n; i++)
		src[i] = ring_model_byte(g->put + i);
	if (n <= g->buf->size - ring_rig_used(g)) {
		CHECK_EQ(ring_put(&g->ring, src, n), n);
		g->put += n;
	} else {
		u64 refused = g->ring.refused;

		CHECK_EQ(ring_put(&g->ring, src, n), -ENOSPC);
		CHECK_EQ(g->ring.refused, refused + 1);
	}
	ring_case_free(src);
	ring_rig_check(g);
}

static void ring_rig_put_overwrite(struct ring_rig *g, u32 n)
{
	u32 size = g->buf->size, room = size - ring_rig_used(g), i;
	u64 lost = g->ring.lost;
	u8 *src;

	if (n > size) {
		ring_rig_put(g, n);
		return;
	}
	src = ring_case_alloc(n ? n : 1);
	for (i = 0; i < n; i++)
		src[i] = ring_model_byte(g->put + i);
	CHECK_EQ(ring_put_overwrite(&g->ring, src, n), n);
	g->put += n;
	if (n > room)
		g->got += n - room;
	CHECK_EQ(g->ring.lost - lost, n > room ? n - room : 0);
	ring_case_free(src);
	ring_rig_check(g);
}

static void ring_rig_get(struct ring_rig *g, u32 n, bool peek)
{
	u8 *dst = ring_case_alloc(n ? n : 1);
	u32 i;

	memset(dst, 0xee, n);
	if (n <= ring_rig_used(g)) {
		CHECK_EQ(peek ? ring_peek(&g->ring, dst, n) : ring_get(&g->ring, dst, n), n);
		for (i = 0; i < n; i++)
			CHECK_EQ(dst[i], ring_model_byte(g->got + i));
		if (!peek)
			g->got += n;
	} else {
		CHECK_EQ(peek ? ring_peek(&g->ring, dst, n) : ring_get(&g->ring, dst, n),
			 -EAGAIN);
		for (i = 0; i < n; i++)
			CHECK_EQ(dst[i], 0xee);
	}
	ring_case_free(dst);
	ring_rig_check(g);
}

/* The Linux end: in pieces, in place. */
static void ring_rig_put_spans(struct ring_rig *g, u32 n)
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
			at[i] = ring_model_byte(g->put + done + i);
		done += part;
	}
	CHECK_EQ(done, n < g->buf->size - ring_rig_used(g) ? n : g->buf->size - ring_rig_used(g));
	CHECK_EQ(ring_used(&g->ring), ring_rig_used(g));		/* nothing is visible yet */
	ring_commit(&g->ring, done);
	g->put += done;
	ring_rig_check(g);
}

static void ring_rig_get_spans(struct ring_rig *g, u32 n)
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
			CHECK_EQ(at[i], ring_model_byte(g->got + done + i));
		done += part;
	}
	CHECK_EQ(done, n < ring_rig_used(g) ? n : ring_rig_used(g));
	ring_consume(&g->ring, done);
	g->got += done;
	ring_rig_check(g);
}

static unsigned int ring_syncs;

static void ring_sync_count(void)
{
	ring_syncs++;
}

static void ring_rig_resize(struct ring_rig *g, u32 size, bool rt_producer)
{
	struct ring_buf *new = ring_case_buf(size), *old = g->buf;
	u32 old_size = old->size;
	int ret;

	ring_syncs = 0;
	ret = rt_producer ? ring_resize_rt_producer(&g->ring, new, ring_sync_count) :
			    ring_resize_rt_consumer(&g->ring, new, ring_sync_count);
	if (ring_rig_used(g) <= size) {
		CHECK_EQ(ret, 0);
		CHECK(ring_syncs > 0);	/* or the old buffer may still be in use */
		CHECK(g->ring.buf == new);
		g->buf = new;
		memset(old->data, 0xee, old->mask + 1);
		ring_case_drop(old);
	} else {
		CHECK_EQ(ret, -ENOSPC);
		CHECK(g->ring.buf == old);
		CHECK_EQ(old->size, old_size);
		ring_case_drop(new);
	}
	ring_rig_check(g);
}

/* Where the free-running indices begin: all phases of their wrap. */
static const u32 ring_starts[] = { 0, 1, 0x7ffffffe, RING_INDEX_START, 0xfffffff0, 0xffffffff };
#define RING_STARTS (sizeof(ring_starts) / sizeof(ring_starts[0]))

/* All small sizes, all fill levels, all lengths: nothing is special. */
static void ring_case_exhaustive(void)
{
	u32 s, size, fill, n;

	for (s = 0; s < RING_STARTS; s++)
		for (size = 1; size <= RING_CASE_SIZE; size++)
			for (fill = 0; fill <= size; fill++)
				for (n = 0; n <= size + 2; n++) {
					struct ring_rig g;

					ring_rig_open(&g, size, ring_starts[s]);
					ring_rig_put(&g, fill);
					ring_rig_put(&g, n);
					ring_rig_get(&g, n, true);
					ring_rig_get(&g, n, false);
					ring_rig_put_spans(&g, n);
					ring_rig_get_spans(&g, fill);
					ring_rig_put_overwrite(&g, n);
					ring_rig_get(&g, n / 2, false);
					CHECK_EQ(ring_flush(&g.ring), ring_rig_used(&g));
					g.got = g.put;
					ring_rig_check(&g);
					ring_rig_close(&g);
				}
}

static u32 ring_seed = 12345;

static u32 ring_random(u32 below)
{
	ring_seed = ring_seed * 1664525 + 1013904223;
	return (u32)(((u64)(ring_seed >> 8) * below) >> 24);
}

/* Long random histories with resizes, through the wrap of the indices. */
static void ring_case_random(void)
{
	u32 s, i;

	for (s = 0; s < RING_STARTS; s++) {
		struct ring_rig g;

		ring_rig_open(&g, 100, ring_starts[s]);
		for (i = 0; i < RING_CASE_STEPS; i++) {
			u32 n = ring_random(4) ? ring_random(20) : ring_random(300);

			switch (ring_random(10)) {
			case 0: case 1:
				ring_rig_put(&g, n);
				break;
			case 2: case 3:
				ring_rig_get(&g, n, false);
				break;
			case 4:
				ring_rig_get(&g, n, true);
				break;
			case 5:
				ring_rig_put_spans(&g, n);
				break;
			case 6:
				ring_rig_get_spans(&g, n);
				break;
			case 7:
				if (!ring_random(20))
					ring_rig_resize(&g, 1 + ring_random(300), ring_random(2));
				break;
			case 8:
				ring_rig_put_overwrite(&g, n);
				break;
			case 9:
				if (!ring_random(50)) {
					ring_flush(&g.ring);
					g.got = g.put;
				}
				break;
			}
		}
		CHECK(g.put > RING_CASE_STEPS);
		CHECK(g.ring.refused > 100);
		CHECK(g.ring.high > 100 && g.ring.high <= 300);
		ring_rig_close(&g);
	}
}

/*
 * A producer that puts at each moment at which a resize can be overtaken: from
 * inside its sync. What it put, into either buffer, must come out.
 */
static struct ring_rig *ring_mid_rig;
static u32 ring_mid_bytes, ring_mid_refused;

static void ring_sync_put(void)
{
	u32 i;

	for (i = 0; i < ring_mid_bytes; i++) {
		u8 byte = ring_model_byte(ring_mid_rig->put);

		if (ring_put(&ring_mid_rig->ring, &byte, 1) == 1)
			ring_mid_rig->put++;
		else
			ring_mid_refused++;
	}
}

static void ring_case_put_during_resize(void)
{
	u32 size, size2, fill;

	for (size = 1; size <= RING_CASE_SIZE; size++)
		for (size2 = 1; size2 <= RING_CASE_SIZE; size2++)
			for (fill = 0; fill <= size; fill++)
				for (ring_mid_bytes = 0; ring_mid_bytes < 12; ring_mid_bytes++) {
					struct ring_buf *new = ring_case_buf(size2), *old;
					struct ring_rig g;
					u32 before;
					int ret;

					ring_rig_open(&g, size, RING_INDEX_START);
					ring_rig_put(&g, fill);
					ring_mid_rig = &g;
					ring_mid_refused = 0;
					old = g.buf;
					before = ring_rig_used(&g);
					ret = ring_resize_rt_producer(&g.ring, new, ring_sync_put);
					if (!ret) {
						g.buf = new;
						memset(old->data, 0xee, old->mask + 1);
						ring_case_drop(old);
					} else {
						CHECK_EQ(ret, -ENOSPC);
						CHECK(size2 < size && before > size2);
						ring_case_drop(new);
					}
					/* Refused only what neither size had room for. */
					if (ring_mid_refused)
						CHECK(ring_rig_used(&g) >= (size < size2 ? size : size2));
					/* And on with the new one. */
					ring_rig_put(&g, 1);
					ring_rig_get(&g, ring_rig_used(&g), false);
					ring_rig_put(&g, g.buf->size);
					ring_rig_get(&g, g.buf->size, false);
					ring_rig_close(&g);
				}
}

/* The same for a consumer that gets from inside the sync. */
static void ring_sync_get(void)
{
	u32 i;

	for (i = 0; i < ring_mid_bytes; i++) {
		u8 byte;

		if (ring_get(&ring_mid_rig->ring, &byte, 1) == 1)
			CHECK_EQ(byte, ring_model_byte(ring_mid_rig->got++));
	}
}

static void ring_case_get_during_resize(void)
{
	u32 size, size2, fill;

	for (size = 1; size <= RING_CASE_SIZE; size++)
		for (size2 = 1; size2 <= RING_CASE_SIZE; size2++)
			for (fill = 0; fill <= size; fill++)
				for (ring_mid_bytes = 0; ring_mid_bytes < 12; ring_mid_bytes++) {
					struct ring_buf *new = ring_case_buf(size2), *old;
					struct ring_rig g;

					ring_rig_open(&g, size, RING_INDEX_START);
					ring_rig_put(&g, fill);
					ring_mid_rig = &g;
					old = g.buf;
					if (ring_resize_rt_consumer(&g.ring, new, ring_sync_get)) {
						CHECK(fill > size2);
						ring_case_drop(new);
					} else {
						g.buf = new;
						memset(old->data, 0xee, old->mask + 1);
						ring_case_drop(old);
					}
					ring_rig_check(&g);
					ring_rig_get(&g, ring_rig_used(&g), false);
					ring_rig_put(&g, g.buf->size);
					ring_rig_get(&g, g.buf->size, false);
					ring_rig_close(&g);
				}
}

/* Indices that misuse has broken: answers may be wrong, accesses may not. */
static void ring_case_broken_indices(void)
{
	static const u32 gaps[] = { 65, 127, 128, 129, 1000, 0x80000000, 0xffffffff };
	u32 g_i, n;

	for (g_i = 0; g_i < sizeof(gaps) / sizeof(gaps[0]); g_i++) {
		u8 *bytes = ring_case_alloc(2048);
		u8 *at;
		struct ring_rig g;

		ring_rig_open(&g, 64, 1000);
		memset(g.buf->data, 0, 64);
		memset(bytes, 0, 2048);
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
		ring_case_free(bytes);
		ring_rig_close(&g);
	}
}

static void ring_no_sync(void)
{
}

/* Record k is full of bytes k, so a torn one shows. */
static void ring_record_fill(u8 *to, u32 k, u32 record)
{
	memset(to, (u8)k, record);
}

static void ring_record_check(const u8 *from, u32 first, u32 n, u32 record)
{
	u32 i;

	for (i = 0; i < n * record; i++)
		CHECK_EQ(from[i], (u8)(first + i / record));
}

static void ring_record_run(u32 size, u32 record)
{
	u32 fit = size / record, next = 0, oldest = 0, step, n, i;
	struct ring_buf *buf = ring_case_buf(size);
	struct ring_index ix;
	struct ring ring;

	ring_init(&ring, &ix, buf);
	CHECK_EQ(ring_set_record(&ring, record, ring_no_sync), 0);
	for (step = 0; step < RING_CASE_RECORD_STEPS; step++) {
		u32 used = next - oldest;
		u8 *bytes = ring_case_alloc((fit + 2) * record);

		n = ring_random(fit + 2);
		for (i = 0; i < n; i++)
			ring_record_fill(bytes + i * record, next + i, record);
		switch (ring_random(6)) {
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
			ring_record_check(bytes, oldest, n, record);
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
			u32 bytes_new = record + ring_random(2 * size);
			struct ring_buf *other = ring_case_buf(bytes_new), *old = ring.buf;
			int ret = (ring_random(2) ? ring_resize_rt_producer : ring_resize_rt_consumer)
				(&ring, other, ring_no_sync);

			CHECK_EQ(ret, used * record <= bytes_new ? 0 : -ENOSPC);
			ring_case_drop(ret ? other : old);
			if (!ret)
				fit = bytes_new / record;
			break;
		}
		default:
			if (ring_random(8) == 0) {
				CHECK_EQ(ring_flush(&ring), used * record);
				oldest = next;
			}
		}
		CHECK_EQ(ring_used(&ring), (next - oldest) * record);
		ring_case_free(bytes);
	}
	ring_case_drop(ring.buf);
}

static void ring_case_bytes_and_records(void)
{
	struct ring_buf *buf = ring_case_buf(20);
	struct ring_index ix;
	struct ring ring;
	u8 bytes[32] = { 0 };

	ring_init(&ring, &ix, buf);
	CHECK_EQ(ring_put(&ring, bytes, 5), 5);
	CHECK_EQ(ring_set_record(&ring, 21, ring_no_sync), -EINVAL);
	CHECK_EQ(ring_set_record(&ring, 4, ring_no_sync), -EBUSY);
	CHECK_EQ(ring_put(&ring, bytes, 1), 1);		/* as it was */
	CHECK_EQ(ring_set_record(&ring, 3, ring_no_sync), 0);
	CHECK_EQ(ring_put(&ring, bytes, 1), -EINVAL);
	CHECK_EQ(ring_put(&ring, bytes, 3), 3);
	CHECK_EQ(ring_set_record(&ring, 2, ring_no_sync), -EBUSY);
	CHECK_EQ(ring_put(&ring, bytes, 2), -EINVAL);	/* still 3 */
	CHECK_EQ(ring_set_record(&ring, 0, ring_no_sync), 0);
	CHECK_EQ(ring_put(&ring, bytes, 1), 1);
	CHECK_EQ(ring_get(&ring, bytes, 10), 10);
	/* The short ways are open again. */
	CHECK(ring_put_short(&ring, bytes, 1));
	CHECK(ring_get_short(&ring, bytes, 1));
	ring_case_drop(buf);
}

/* Many sizes of ring and record. */
static void ring_case_records(void)
{
	u32 size, record;

	for (size = 1; size <= RING_CASE_RECORDS; size++)
		for (record = 1; record <= size; record++)
			ring_record_run(size, record);
}

/* What one end writes often is not on the line of what the other end does. */
static void ring_case_lines_are_apart(void)
{
	CHECK_EQ(offsetof(struct ring_index, head) / RING_LINE_BYTES,
		 offsetof(struct ring_index, want_free) / RING_LINE_BYTES);
	CHECK_EQ(offsetof(struct ring_index, tail) / RING_LINE_BYTES,
		 offsetof(struct ring_index, want_used) / RING_LINE_BYTES);
	CHECK(offsetof(struct ring_index, head) / RING_LINE_BYTES !=
	      offsetof(struct ring_index, tail) / RING_LINE_BYTES);
}

/* Around pages: the same as around small powers of two. */
static void ring_case_holds_exactly_its_size(void)
{
	static const u32 sizes[] = { 1, 2, 3, 63, 64, 65, 4000, 4095, 4096, 4097 };
	u32 i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct ring_rig g;

		ring_rig_open(&g, sizes[i], RING_INDEX_START);
		ring_rig_put(&g, sizes[i] + 1);
		ring_rig_get(&g, 1, false);
		ring_rig_put(&g, sizes[i]);
		ring_rig_put(&g, 1);
		ring_rig_get(&g, sizes[i] + 1, false);
		ring_rig_get(&g, sizes[i], false);
		CHECK_EQ(g.ring.refused, 2);
		CHECK_EQ(ring_used(&g.ring), 0);
		ring_rig_close(&g);
	}
}

#define RING_CASES(do)				\
	do(ring_case_lines_are_apart)		\
	do(ring_case_holds_exactly_its_size)	\
	do(ring_case_exhaustive)		\
	do(ring_case_random)			\
	do(ring_case_put_during_resize)		\
	do(ring_case_get_during_resize)		\
	do(ring_case_broken_indices)		\
	do(ring_case_records)			\
	do(ring_case_bytes_and_records)
