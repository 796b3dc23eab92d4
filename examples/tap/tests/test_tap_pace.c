// SPDX-License-Identifier: GPL-2.0-only
/* When bytes leave for a port: examples/tap/kernel/pace.h. */
#include "check.h"
#include "examples/tap/kernel/pace.h"

#define BYTE 320000

static const u8 bytes[] = { 1, 2, 3 };

/* Late by less than a byte each time, and the line has no gap. */
static void lateness_does_not_add_up(void)
{
	struct tap_pace pace;
	u64 now = 1000000, sent = 0, begins;

	tap_pace_init(&pace, BYTE);
	CHECK(tap_pace_idle(&pace, now));
	CHECK_EQ(tap_pace_next(&pace), TAP_PACE_NEVER);
	CHECK_EQ(tap_pace_put(&pace, bytes, 3, now), now);
	begins = now;
	while (sent < 3000) {
		CHECK(tap_pace_next(&pace) <= begins + sent * BYTE);
		if (tap_pace_next(&pace) > now)
			now = tap_pace_next(&pace);
		now += sent % 7 * 40000;
		CHECK_EQ(tap_pace_first(&pace), sent % 3 + 1);
		tap_pace_sent(&pace, now);
		sent++;
		CHECK_EQ(pace.free_at, begins + sent * BYTE);
		if (!tap_pace_waiting(&pace))
			CHECK_EQ(tap_pace_put(&pace, bytes, 3, now), begins + sent * BYTE);
	}
}

static void a_free_line_takes_two(void)
{
	struct tap_pace pace;

	tap_pace_init(&pace, BYTE);
	tap_pace_put(&pace, bytes, 3, 5000000);
	CHECK(tap_pace_next(&pace) <= 5000000);
	tap_pace_sent(&pace, 5000010);
	CHECK_EQ(tap_pace_next(&pace), 5000010);
	tap_pace_sent(&pace, 5000020);
	CHECK_EQ(tap_pace_next(&pace), 5000010 + BYTE);
	tap_pace_sent(&pace, 5000010 + BYTE);
	CHECK(!tap_pace_idle(&pace, 5000010 + 3 * BYTE - 1));
	CHECK(tap_pace_idle(&pace, 5000010 + 3 * BYTE));
	/* A pause, then the line is as free as at first. */
	CHECK_EQ(tap_pace_put(&pace, bytes, 1, 9000000), 9000000);
}

static void a_message_waits_for_those_before(void)
{
	struct tap_pace pace;

	tap_pace_init(&pace, BYTE);
	CHECK_EQ(tap_pace_put(&pace, bytes, 3, 1000), 1000);
	CHECK_EQ(tap_pace_put(&pace, bytes, 3, 1000), 1000 + 3 * BYTE);
	tap_pace_sent(&pace, 1000);
	tap_pace_sent(&pace, 1000);
	CHECK_EQ(tap_pace_put(&pace, bytes, 3, 2000), 1000 + 6 * BYTE);
	CHECK_EQ(tap_pace_waiting(&pace), 7);
}

/* A chip whose crystal is slower than our clock is asked again soon, and no more often. */
static void a_refusal_is_waited_out(void)
{
	struct tap_pace pace;

	tap_pace_init(&pace, BYTE);
	tap_pace_put(&pace, bytes, 3, 1000);
	tap_pace_refused(&pace, 1000);
	CHECK_EQ(tap_pace_next(&pace), 1000 + BYTE / 16);
	CHECK_EQ(tap_pace_waiting(&pace), 3);
	CHECK_EQ(tap_pace_first(&pace), 1);
}

static void it_has_an_end(void)
{
	struct tap_pace pace;
	int n;

	tap_pace_init(&pace, BYTE);
	for (n = 0; n < TAP_PACE_BYTES - 3; n++)
		tap_pace_put(&pace, bytes, 1, 0);
	CHECK(tap_pace_room(&pace, 3));
	tap_pace_put(&pace, bytes, 1, 0);
	CHECK(!tap_pace_room(&pace, 3));
	CHECK(!tap_pace_idle(&pace, 1000));
}

int main(void)
{
	lateness_does_not_add_up();
	a_free_line_takes_two();
	a_message_waits_for_those_before();
	a_refusal_is_waited_out();
	it_has_an_end();
	return 0;
}
