// SPDX-License-Identifier: GPL-2.0-only
/*
 * A producer that overwrites the oldest bytes at full speed, and a consumer that
 * is too slow: what the consumer keeps is whole and in order, and what it did not
 * get was counted as lost, to the byte.
 *
 * Not for ThreadSanitizer: the consumer does read bytes that are being written, on
 * purpose, and throws them away.
 */
#include <pthread.h>
#include <sched.h>
#include "check.h"
#include "../../rtfifo/ring.c"

#define PUTS 400000u
#define RECORD 12u

static struct ring ring;
static struct ring_index ix;
static bool done;

struct record {
	u32 number, twice, mixed;
};

static void *producer(void *unused)
{
	u32 k;

	for (k = 0; k < PUTS; k++) {
		struct record r = { k, 2 * k, k ^ 0x5a5a5a5a };

		CHECK_EQ(ring_put_overwrite(&ring, &r, sizeof(r)), sizeof(r));
		if (k % 64 == 0)
			sched_yield();
	}
	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
	return unused;
}

int main(void)
{
	struct ring_buf buf = { .data = malloc(256), .cap = 256, .mask = 255, .size = 21 * RECORD };
	u32 taken = 0, void_reads = 0, last = 0, gaps = 0;
	pthread_t thread;
	bool over;

	ring_init(&ring, &ix, &buf);
	pthread_create(&thread, NULL, producer, NULL);
	do {
		struct record r;
		u32 tail, used;

		over = __atomic_load_n(&done, __ATOMIC_ACQUIRE);
		while (tail = READ_ONCE(ix.tail),
		       used = smp_load_acquire(&ix.head) - tail, used) {
			u32 got = 0;

			/* used may be anything when the two were read at different times */
			while (got < RECORD) {
				u8 *at;
				u32 n = ring_span_used(&ring, tail + got, &at);

				if (n > RECORD - got)
					n = RECORD - got;
				if (!n)
					break;
				memcpy((u8 *)&r + got, at, n);
				got += n;
			}
			if (got < RECORD || !ring_try_consume(&ring, tail, RECORD)) {
				void_reads++;
				continue;
			}
			CHECK_EQ(r.twice, 2 * r.number);
			CHECK_EQ(r.mixed, r.number ^ 0x5a5a5a5a);
			if (taken) {
				CHECK(r.number > last);
				gaps += r.number - last - 1;
			} else {
				gaps = r.number;
			}
			last = r.number;
			taken++;
		}
	} while (!over);
	pthread_join(thread, NULL);
	CHECK_EQ(last, PUTS - 1);
	CHECK_EQ(taken + gaps, PUTS);
	CHECK_EQ(ring.lost, (u64)gaps * RECORD);
	CHECK(gaps > 0 && taken > 0);
	CHECK(void_reads < PUTS);
	free(buf.data);
	return 0;
}
