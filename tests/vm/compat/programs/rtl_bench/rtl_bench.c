// SPDX-License-Identifier: GPL-2.0-only
/* What RTLinux's own measurement does: the least and the most lateness of 500 releases, to FIFO 0. */
#include <rtl.h>
#include <rtl_fifo.h>
#include <time.h>
#include <pthread.h>

MODULE_LICENSE("GPL");

#define PERIOD_NS 500000
#define RELEASES 500

struct sample { long long min, max; };

static pthread_t thread;

static void *run(void *unused)
{
	hrtime_t expected = clock_gethrtime(CLOCK_MONOTONIC) + 2 * PERIOD_NS;

	pthread_make_periodic_np(pthread_self(), expected, PERIOD_NS);
	while (1) {
		struct sample sample = { HRTIME_INFINITY, -HRTIME_INFINITY };
		int i;

		for (i = 0; i < RELEASES; i++) {
			long long late;

			pthread_wait_np();
			late = clock_gethrtime(CLOCK_MONOTONIC) - expected;
			expected += PERIOD_NS;
			sample.min = late < sample.min ? late : sample.min;
			sample.max = late > sample.max ? late : sample.max;
		}
		rtf_put(0, &sample, sizeof(sample));
	}
	return NULL;
}

int init_module(void)
{
	rtf_create(0, 4096);
	return pthread_create(&thread, NULL, run, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
	rtf_destroy(0);
}
