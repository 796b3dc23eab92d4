// SPDX-License-Identifier: GPL-2.0-only
/* Producer and consumer at once, under the thread sanitizer. */
#define _GNU_SOURCE
#include <pthread.h>

#include "check.h"
#include "sched/textring.c"
#include "textring_cases.h"

#define TEXTS 200000u

#define CALL(name) name();

static u32 produced;

static void *produce(void *unused)
{
	char text[256];

	for (u32 k = 0; k < TEXTS; k++)
		if (!textring_put(&textring, text, textring_text(k, text)))
			produced++;
	return unused;
}

int main(void)
{
	char got[256], want[256];
	u32 taken = 0, k = 0;
	pthread_t thread;
	void *joined = NULL;

	TEXTRING_CASES(CALL)
	memset(&textring, 0, sizeof(textring));
	CHECK_EQ(pthread_create(&thread, NULL, produce, NULL), 0);
	for (bool over = false; ; ) {
		if (!textring_get(&textring, got, sizeof(got))) {
			if (over)
				break;
			over = !pthread_tryjoin_np(thread, &joined);
			continue;
		}
		/* Some are lost, but those that come are whole and in order. */
		do {
			CHECK(k < TEXTS);
			textring_text(k++, want);
		} while (strcmp(want, got));
		taken++;
	}
	CHECK_EQ(taken, produced);
	CHECK_EQ(TEXTS - produced, textring.lost);
	return 0;
}
