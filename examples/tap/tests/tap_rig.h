/* SPDX-License-Identifier: GPL-2.0-only */
/* The tap loop with a clock that only its tests move, and room for all its records. */
#include "check.h"
#include "examples/tap/tests/tap.h"

#define RIG_RECORDS 200000
#define RIG_START 123456789ULL		/* no time of a record may depend on it */
#define RIG_MS(ms) ((s64)((ms) * 1000000LL))

static struct tap_params rig_params;
static struct tap_engine rig_engine;
static struct tap_record rig_record[RIG_RECORDS];
static unsigned int rig_records, rig_room;
static u64 rig_now;		/* since the start */

static bool rig_put(void *context, const struct tap_record *record)
{
	(void)context;
	if (rig_records >= rig_room)
		return false;
	rig_record[rig_records++] = *record;
	return true;
}

static void rig_set(unsigned int param, s64 value)
{
	CHECK_EQ(tap_params_set(&rig_params, param, 0, value), 0);
}

static void rig_array(unsigned int param, unsigned int count, const s64 *values)
{
	rig_set(param, count);
	for (unsigned int i = 0; i < count; i++)
		CHECK_EQ(tap_params_set(&rig_params, param, i + 1, values[i]), 0);
}

static void rig_trigger(unsigned int kind, s64 count, unsigned int param, s64 value)
{
	struct tap_trigger t = { .number = rig_params.triggers + 1, .kind = kind, .param = param,
				 .count = count, .value = value };

	CHECK_EQ(tap_params_trigger(&rig_params, &t), 0);
}

static void rig_begin(void)
{
	static const struct tap_sink sink = { .put = rig_put };
	unsigned int other;

	CHECK_EQ(tap_params_check(&rig_params, &other), TAP_P_NONE);
	memset(&rig_engine, 0xa5, sizeof(rig_engine));
	rig_records = 0;
	rig_room = RIG_RECORDS;
	rig_now = 0;
	tap_engine_init(&rig_engine, &rig_params, &sink);
	tap_engine_start(&rig_engine, 1, RIG_START);
}

/* A pass of the loop, which sends whatever is due. */
static void rig_pass(u64 now_ns)
{
	struct tap_out out;

	rig_now = now_ns;
	tap_engine_pass(&rig_engine, RIG_START + now_ns);
	while (tap_engine_due(&rig_engine, RIG_START + now_ns, &out))
		tap_engine_sent(&rig_engine, &out, RIG_START + now_ns, RIG_START + now_ns);
	if (tap_engine_state(&rig_engine) == TAP_ENGINE_OVER)
		tap_engine_finish(&rig_engine, RIG_START + now_ns);
}

/* Passes at whatever moments the engine asks for, up to and with @until_ns. */
static void rig_run(u64 until_ns)
{
	for (;;) {
		u64 next = tap_engine_next(&rig_engine);

		if (next == TAP_NEVER || next > RIG_START + until_ns)
			break;
		rig_pass(next < RIG_START + rig_now ? rig_now : next - RIG_START);
	}
	rig_now = until_ns;
}

static void rig_key(u64 at_ns, u8 status, u8 note, u8 velocity)
{
	struct midi_message message = { .bytes = 3, .byte = { status, note, velocity } };

	rig_run(at_ns);
	tap_engine_message(&rig_engine, &message, RIG_START + at_ns);
	rig_pass(at_ns);
}

static void rig_end(void)
{
	tap_engine_stop(&rig_engine, RIG_START + rig_now, TAP_BY_STOP);
	rig_pass(rig_now);
	CHECK_EQ(tap_engine_state(&rig_engine), TAP_ENGINE_FINISHED);
}

/* The n-th record of a class, from 0; NULL if there are fewer. */
static const struct tap_record *rig_find(unsigned int class, unsigned int n)
{
	for (unsigned int i = 0; i < rig_records; i++)
		if (rig_record[i].class == class && !n--)
			return &rig_record[i];
	return NULL;
}

static unsigned int rig_count(unsigned int class)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < rig_records; i++)
		count += rig_record[i].class == class;
	return count;
}

static s64 rig_figure(unsigned int figure)
{
	const struct tap_record *record = rig_find(TAP_FIGURE, figure);

	CHECK(record && record->param == figure);
	return record->value;
}

/* Every record is whole, in order, and nothing that was switched on was left so. */
static void rig_check(void)
{
	static int on[MIDI_CHANNELS][MIDI_NOTES];
	u64 lost = 0;

	memset(on, 0, sizeof(on));
	for (unsigned int i = 0; i < rig_records; i++) {
		const struct tap_record *r = &rig_record[i];
		u8 kind = r->msg[0] & 0xf0;

		CHECK(r->class && r->class < TAP_CLASSES);
		CHECK_EQ(r->reserved, 0);
		CHECK_EQ(r->sequence, i + lost);
		CHECK(r->actual_ns >= r->scheduled_ns && r->wire_ns >= r->actual_ns);
		CHECK(r->source == TAP_NO_SOURCE || r->source <= r->sequence);
		CHECK_EQ(!!(r->flags & TAP_FLAG_IN), r->class <= TAP_INPUT);
		if (r->flags & TAP_FLAG_IN)
			CHECK_EQ(r->source, r->sequence);
		if (!(r->flags & TAP_FLAG_OUT))
			continue;
		if (kind == MIDI_NOTE_ON)
			on[r->msg[0] & 15][r->msg[1]] = 1;
		else if (kind == MIDI_NOTE_OFF)
			on[r->msg[0] & 15][r->msg[1]] = 0;
	}
	for (unsigned int i = 0; i < MIDI_CHANNELS * MIDI_NOTES; i++)
		CHECK_EQ(on[i / MIDI_NOTES][i % MIDI_NOTES], 0);
	CHECK_EQ(rig_record[rig_records - 1].class, TAP_DONE);
	CHECK_EQ(rig_record[rig_records - 1].value, rig_records + rig_figure(TAP_FIG_RECORDS_LOST));
	CHECK_EQ(rig_count(TAP_FIGURE), TAP_FIGURES);
}
