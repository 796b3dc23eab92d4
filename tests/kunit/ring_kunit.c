// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the FIFOs' ring in the kernel's own memory model: the host's cases, and both ends at once
 * with real barriers, real vmalloc, and an RT end that is a thread with interrupts off while it is
 * inside of an operation, waited for by interrupting every CPU, as rtfifo does.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>
#include "tests/kunit/cases.h"
#include "rtfifo/ring.c"

/* Fewer than on the host: kernels with checkers are slow, above all in an emulator. */
#define RING_CASE_SIZE 7
#define RING_CASE_STEPS 5000
#define RING_CASE_RECORDS 16
#define RING_CASE_RECORD_STEPS 50
#define ring_case_alloc(n) kmalloc(n, GFP_KERNEL | __GFP_NOFAIL)
#define ring_case_free kfree
#include "tests/unit/ring_cases.h"

#define STREAM_BYTES 300000u

static u8 stream_byte(u32 k)
{
	return (u8)(k ^ k >> 8 ^ k >> 16);
}

static struct ring_buf *buf_new(u32 size)
{
	struct ring_buf *b = kzalloc(sizeof(*b), GFP_KERNEL);
	u32 bytes = max_t(u32, roundup_pow_of_two(size), PAGE_SIZE);

	if (!b)
		return NULL;
	b->data = vmalloc_user(bytes);
	b->cap = bytes;
	b->mask = bytes - 1;
	b->size = size;
	return b;
}

static void buf_del(struct ring_buf *b)
{
	vfree(b->data);
	kfree(b);
}

struct rig {
	struct ring ring;
	struct ring_index ix;
	struct completion done;
	u32 wrong;		/* bytes out of order, as seen by the RT end */
};

static struct rig *rig_new(struct kunit *test, u32 size)
{
	struct rig *g = kunit_kzalloc(test, sizeof(*g), GFP_KERNEL);
	struct ring_buf *buf = buf_new(size);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, g);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
	ring_init(&g->ring, &g->ix, buf);
	init_completion(&g->done);
	return g;
}

static void answer(void *unused)
{
}

static void sync_cpus(void)
{
	on_each_cpu(answer, NULL, 1);
}

static int rt_producer(void *data)
{
	struct rig *g = data;
	struct rnd_state rnd;
	u8 bytes[64];
	u32 k = 0;

	prandom_seed_state(&rnd, 1);
	while (k < STREAM_BYTES) {
		u32 n = min_t(u32, 1 + prandom_u32_state(&rnd) % 64, STREAM_BYTES - k);
		unsigned long flags;
		int ret;

		for (u32 i = 0; i < n; i++)
			bytes[i] = stream_byte(k + i);
		local_irq_save(flags);
		ret = ring_put(&g->ring, bytes, n);
		local_irq_restore(flags);
		if (ret > 0)
			k += n;
		else
			cond_resched();
	}
	complete(&g->done);
	return 0;
}

static int rt_consumer(void *data)
{
	struct rig *g = data;
	struct rnd_state rnd;
	u8 bytes[64];
	u32 k = 0;

	prandom_seed_state(&rnd, 2);
	while (k < STREAM_BYTES) {
		u32 n = min_t(u32, 1 + prandom_u32_state(&rnd) % 64, STREAM_BYTES - k);
		unsigned long flags;
		int ret;

		local_irq_save(flags);
		ret = ring_get(&g->ring, bytes, n);
		local_irq_restore(flags);
		if (ret <= 0) {
			cond_resched();
			continue;
		}
		for (u32 i = 0; i < n; i++)
			g->wrong += bytes[i] != stream_byte(k + i);
		k += n;
	}
	complete(&g->done);
	return 0;
}

static unsigned int resize(struct kunit *test, struct rig *g, u32 size, bool rt_producer)
{
	struct ring_buf *old = g->ring.buf, *new = buf_new(size);
	int ret;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, new);
	ret = rt_producer ? ring_resize_rt_producer(&g->ring, new, sync_cpus) :
			    ring_resize_rt_consumer(&g->ring, new, sync_cpus);
	buf_del(ret ? new : old);
	return !ret;
}

static void resizes_while_rt_puts(struct kunit *test)
{
	struct rig *g = rig_new(test, 4096);
	unsigned int resized = 0;
	struct rnd_state rnd;
	u32 k = 0, wrong = 0;

	prandom_seed_state(&rnd, 3);
	kthread_run(rt_producer, g, "ring_put");
	while (k < STREAM_BYTES) {
		u8 *at;
		u32 n = ring_span_used(&g->ring, g->ix.tail, &at);

		for (u32 i = 0; i < n; i++)
			wrong += at[i] != stream_byte(k + i);
		ring_consume(&g->ring, n);
		k += n;
		cond_resched();
		if (prandom_u32_state(&rnd) % 16 == 0)
			resized += resize(test, g, 100 + prandom_u32_state(&rnd) % 20000, true);
	}
	wait_for_completion(&g->done);
	KUNIT_EXPECT_EQ(test, wrong, 0U);
	KUNIT_EXPECT_EQ(test, ring_used(&g->ring), 0U);
	KUNIT_EXPECT_GT(test, resized, 0U);
	buf_del(g->ring.buf);
}

static void resizes_while_rt_gets(struct kunit *test)
{
	struct rig *g = rig_new(test, 4096);
	unsigned int resized = 0;
	struct rnd_state rnd;
	u32 k = 0;

	prandom_seed_state(&rnd, 4);
	kthread_run(rt_consumer, g, "ring_get");
	while (k < STREAM_BYTES) {
		u8 *at;
		u32 n = min(ring_span_free(&g->ring, 0, &at), STREAM_BYTES - k);

		for (u32 i = 0; i < n; i++)
			at[i] = stream_byte(k + i);
		ring_commit(&g->ring, n);
		k += n;
		cond_resched();
		if (prandom_u32_state(&rnd) % 16 == 0)
			resized += resize(test, g, 100 + prandom_u32_state(&rnd) % 20000, false);
	}
	wait_for_completion(&g->done);
	KUNIT_EXPECT_EQ(test, g->wrong, 0U);
	KUNIT_EXPECT_EQ(test, ring_used(&g->ring), 0U);
	KUNIT_EXPECT_GT(test, resized, 0U);
	buf_del(g->ring.buf);
}

RING_CASES(CASE)

static struct kunit_case ring_cases[] = {
	RING_CASES(RUN)
	KUNIT_CASE(resizes_while_rt_puts),
	KUNIT_CASE(resizes_while_rt_gets),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "ring",
	.test_cases = ring_cases,
};
kunit_test_suite(ring_suite);

MODULE_DESCRIPTION("KUnit suite of the FIFOs' ring");
MODULE_LICENSE("GPL");
