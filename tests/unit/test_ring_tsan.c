// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring with both ends going at full speed, and resizes in the middle: no data
 * race (ThreadSanitizer says), every byte in order, none missing.
 *
 * Indices start just before they wrap. The RT end is a thread that marks its
 * operations by a sequence number, odd while it is inside of one, as the kernel's
 * RT end is marked by switched-off interrupts; sync() waits for it to move on.
 */
#include <pthread.h>
#include <sched.h>
#include "check.h"
#include "../../rtfifo/ring.c"

#define TOTAL_BYTES 600000u

static struct ring ring;
static struct ring_index ix;
static unsigned long rt_ops;	/* odd: inside an operation */
static bool rt_done;

static void rt_enter(void)
{
	__atomic_fetch_add(&rt_ops, 1, __ATOMIC_SEQ_CST);
}

static void rt_leave(void)
{
	__atomic_fetch_add(&rt_ops, 1, __ATOMIC_SEQ_CST);
}

/* Every operation that began before is over. */
static void rt_sync(void)
{
	unsigned long at = __atomic_fetch_add(&rt_ops, 0, __ATOMIC_SEQ_CST);

	while (at & 1 && __atomic_load_n(&rt_ops, __ATOMIC_ACQUIRE) == at)
		sched_yield();
}

static u8 stream_byte(u32 k)
{
	return (u8)(k ^ k >> 8 ^ k >> 16);
}

static u32 next(u32 *seed, u32 below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (u32)(((u64)(*seed >> 8) * below) >> 24);
}

static struct ring_buf *buf_new(u32 size)
{
	struct ring_buf *b = calloc(1, sizeof(*b));
	u32 bytes = 1;

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

static void *rt_producer(void *unused)
{
	u32 k = 0, seed = 1;
	u8 bytes[64];

	while (k < TOTAL_BYTES) {
		u32 n = 1 + next(&seed, 40), i;
		int ret;

		if (n > TOTAL_BYTES - k)
			n = TOTAL_BYTES - k;
		for (i = 0; i < n; i++)
			bytes[i] = stream_byte(k + i);
		rt_enter();
		ret = ring_put(&ring, bytes, n);
		rt_leave();
		if (ret > 0)
			k += n;
		else
			sched_yield();
	}
	__atomic_store_n(&rt_done, true, __ATOMIC_RELEASE);
	return unused;
}

static void *rt_consumer(void *unused)
{
	u32 k = 0, seed = 2;
	u8 bytes[64];

	while (k < TOTAL_BYTES) {
		u32 n = 1 + next(&seed, 40), i;
		int ret;

		if (n > TOTAL_BYTES - k)
			n = TOTAL_BYTES - k;
		rt_enter();
		ret = ring_get(&ring, bytes, n);
		rt_leave();
		if (ret <= 0) {
			sched_yield();
			continue;
		}
		for (i = 0; i < n; i++)
			CHECK_EQ(bytes[i], stream_byte(k + i));
		k += n;
	}
	__atomic_store_n(&rt_done, true, __ATOMIC_RELEASE);
	return unused;
}

static void resize(u32 size, bool producer_is_rt, unsigned int *done)
{
	struct ring_buf *old = ring.buf, *new = buf_new(size);
	int ret = producer_is_rt ? ring_resize_rt_producer(&ring, new, rt_sync) :
				   ring_resize_rt_consumer(&ring, new, rt_sync);

	if (ret) {
		CHECK_EQ(ret, -ENOSPC);
		buf_del(new);
	} else {
		buf_del(old);		/* TSan and the allocator see who still uses it */
		(*done)++;
	}
}

static void start(u32 at)
{
	struct ring_buf *buf = buf_new(128);

	ring_init(&ring, &ix, buf);
	ix.head = ix.tail = ring.prod_from = at;
	rt_done = false;
}

/* RT puts, Linux reads in place and resizes now and then. */
static void test_rt_to_linux(u32 at)
{
	unsigned int resized = 0;
	u32 k = 0, seed = 3;
	pthread_t thread;

	start(at);
	pthread_create(&thread, NULL, rt_producer, NULL);
	while (k < TOTAL_BYTES) {
		u32 n, i;
		u8 *p;

		n = ring_span_used(&ring, ix.tail, &p);
		if (!n)
			sched_yield();
		if (n && next(&seed, 2))
			n = 1 + next(&seed, n);
		for (i = 0; i < n; i++)
			CHECK_EQ(p[i], stream_byte(k + i));
		ring_consume(&ring, n);
		k += n;
		if (!next(&seed, 50))
			resize(50 + next(&seed, 500), true, &resized);
	}
	pthread_join(thread, NULL);
	CHECK(rt_done && !ring_used(&ring));
	CHECK(resized > 50);
	buf_del(ring.buf);
}

/* Linux writes in place and resizes now and then, RT gets. */
static void test_linux_to_rt(u32 at)
{
	unsigned int resized = 0;
	u32 k = 0, seed = 4;
	pthread_t thread;

	start(at);
	pthread_create(&thread, NULL, rt_consumer, NULL);
	while (k < TOTAL_BYTES) {
		u32 n, i;
		u8 *p;

		n = ring_span_free(&ring, 0, &p);
		if (!n)
			sched_yield();
		if (n && next(&seed, 2))
			n = 1 + next(&seed, n);
		if (n > TOTAL_BYTES - k)
			n = TOTAL_BYTES - k;
		for (i = 0; i < n; i++)
			p[i] = stream_byte(k + i);
		ring_commit(&ring, n);
		k += n;
		if (!next(&seed, 50))
			resize(50 + next(&seed, 500), false, &resized);
	}
	pthread_join(thread, NULL);
	CHECK(rt_done && !ring_used(&ring));
	CHECK(resized > 50);
	buf_del(ring.buf);
}

int main(void)
{
	test_rt_to_linux(RING_INDEX_START);
	test_rt_to_linux(0u - TOTAL_BYTES / 2);
	test_linux_to_rt(RING_INDEX_START);
	test_linux_to_rt(0u - TOTAL_BYTES / 2);
	return 0;
}
