// SPDX-License-Identifier: GPL-2.0-only
/* The course of a trial: the metronome, triggers, the end, the certificate. */
#include "tap_rig.h"

#define SET(name, value) rig_set(TAP_P_##name, value)
#define SET_MS(name, ms) rig_set(TAP_P_##name, RIG_MS(ms))
#define ARRAY(name, ...)						\
	do {								\
		static const s64 values_[] = { __VA_ARGS__ };		\
									\
		rig_array(TAP_P_##name, sizeof(values_) / sizeof(s64), values_); \
	} while (0)
#define TRIGGER(kind, count, name, value) rig_trigger(TAP_AT_##kind, count, TAP_P_##name, value)

static bool is_on(const struct tap_record *r)
{
	return r->bytes == 3 && (r->msg[0] & 0xf0) == MIDI_NOTE_ON;
}

/* The manual's example: a pattern, feedback from beat 32 on, no metronome then, the end at 92. */
static void test_the_manuals_example(void)
{
	static const bool pattern[] = { 1, 1, 1, 1, 0, 1, 1, 0 };
	int beats = 0, sounded = 0;

	tap_params_reset(&rig_params);
	SET(FEED_PMODE, 1);
	SET(FEED_DMODE, 1);
	SET_MS(FEED_DVAL, 275);
	SET(METRON_ON, 1);
	SET_MS(MSPB, 250);
	ARRAY(MET_PATTERN_ARRAY, 1, 1, 1, 1, 0, 1, 1, 0);
	TRIGGER(BEAT, 32, FEED_ON, 1);
	TRIGGER(BEAT, 32, METRON_ON, 0);
	TRIGGER(BEAT, 92, END_EXP, 0);
	rig_begin();
	/* A tap before each beat, held for 100 ms. */
	for (int i = 1; i < 92; i++) {
		rig_key(RIG_MS(250 * i) - RIG_MS(120), 0x90, 50, 90);
		rig_key(RIG_MS(250 * i) - RIG_MS(20), 0x80, 50, 0);
	}
	rig_run(RIG_MS(100000));
	CHECK_EQ(tap_engine_state(&rig_engine), TAP_ENGINE_FINISHED);
	rig_check();

	for (unsigned int i = 0; i < rig_records; i++) {
		const struct tap_record *r = &rig_record[i];

		if (r->class != TAP_METRONOME || (r->bytes && !is_on(r)))
			continue;
		CHECK_EQ(r->value, ++beats);
		CHECK_EQ(r->scheduled_ns, RIG_MS(250 * (beats - 1)));
		CHECK_EQ(r->index, (beats - 1) % 8 + 1);
		CHECK_EQ(!!r->bytes, beats <= 32 && pattern[(beats - 1) % 8]);
		sounded += !!r->bytes;
	}
	CHECK_EQ(beats, 92);
	CHECK_EQ(sounded, 24);
	/* The taps 1 to 31 come before beat 32, which is at 7750 ms; tap 32 is the first after. */
	CHECK_EQ(rig_find(TAP_FEEDBACK, 0)->value, 32);
	CHECK_EQ(rig_find(TAP_FEEDBACK, 0)->scheduled_ns, RIG_MS(8000 - 120 + 275));
	CHECK_EQ(rig_find(TAP_FEEDBACK, 0)->msg[1], 60);
	CHECK_EQ(rig_find(TAP_TRIGGERED, 0)->index, 1);
	CHECK_EQ(rig_find(TAP_TRIGGERED, 1)->index, 2);
	CHECK_EQ(rig_find(TAP_TRIGGERED, 1)->scheduled_ns, RIG_MS(7750));
	CHECK_EQ(rig_find(TAP_TRIGGERED, 2)->param, TAP_P_END_EXP);
	CHECK_EQ(rig_figure(TAP_FIG_DURATION_NS), RIG_MS(250 * 91));
	CHECK_EQ(rig_figure(TAP_FIG_BEATS), 92);
	CHECK_EQ(rig_figure(TAP_FIG_KEYSTROKES), 91);
	CHECK_EQ(rig_find(TAP_ENDED, 0)->index, TAP_BY_TRIGGER);
}

static void test_arrays_of_beats(void)
{
	static const int notes[] = { 60, 0, 127 };

	tap_params_reset(&rig_params);
	SET(PACE_ON, 1);
	SET_MS(PACE_MSPB, 100);
	SET_MS(PACE_DELAY, 30);
	SET(PACE_COUNT, 7);
	ARRAY(PACE_CHAN_ARRAY, 1, 16);
	ARRAY(PACE_NOTE_ARRAY, 60, 0, 127);
	ARRAY(PACE_VEL_ARRAY, 1, 2, 3, 4);
	rig_begin();
	rig_run(RIG_MS(5000));
	rig_end();
	rig_check();
	CHECK_EQ(rig_count(TAP_PACING), 14);
	CHECK_EQ(rig_count(TAP_METRONOME), 0);
	for (int beat = 0, n = 0; beat < 7; beat++) {
		const struct tap_record *on = rig_find(TAP_PACING, n++);
		const struct tap_record *off = rig_find(TAP_PACING, n++);

		CHECK_EQ(on->scheduled_ns, RIG_MS(30 + 100 * beat));
		CHECK_EQ(on->msg[0], 0x90 | (beat % 2 ? 15 : 0));
		CHECK_EQ(on->msg[1], notes[beat % 3]);
		CHECK_EQ(on->msg[2], beat % 4 + 1);
		CHECK_EQ(off->scheduled_ns, on->scheduled_ns + RIG_MS(50));
		CHECK_EQ(off->msg[0], on->msg[0] - 0x10);
	}
}

/* A change of tempo counts from the last beat; a shift moves one beat and what follows. */
static void test_tempo(void)
{
	static const s64 due[] = { 0, 500, 1000, 1300, 1600, 1940, 2240 };

	tap_params_reset(&rig_params);
	SET(METRON_ON, 1);
	TRIGGER(TIME, 1100, MSPB, RIG_MS(300));
	TRIGGER(BEAT, 5, MET_SHIFT, RIG_MS(40));
	rig_begin();
	rig_run(RIG_MS(2250));
	rig_end();
	rig_check();
	for (unsigned int i = 0; i < 7; i++)
		CHECK_EQ(rig_find(TAP_METRONOME, 2 * i)->scheduled_ns, RIG_MS(due[i]));

	/* A beat that should have been before the change comes at the change. */
	tap_params_reset(&rig_params);
	SET(METRON_ON, 1);
	TRIGGER(TIME, 400, MSPB, RIG_MS(100));
	rig_begin();
	rig_run(RIG_MS(550));
	rig_end();
	CHECK_EQ(rig_find(TAP_METRONOME, 2)->scheduled_ns, RIG_MS(400));
	CHECK_EQ(rig_find(TAP_METRONOME, 4)->scheduled_ns, RIG_MS(500));
}

/* What happens does not depend on when passes come: only the actual times do. */
static void test_coarse_passes(void)
{
	static struct tap_record fine[1000];
	unsigned int count;

	tap_params_reset(&rig_params);
	SET(METRON_ON, 1);
	SET_MS(MSPB, 30);
	SET(PACE_ON, 1);
	SET_MS(PACE_MSPB, 20);
	SET(MASK_ON, 1);
	SET_MS(MASK_MSPT, 17);
	TRIGGER(TIME, 100, METRON_ON, 0);
	TRIGGER(TIME, 180, METRON_ON, 1);
	TRIGGER(TIME, 180, MASK_ON, 0);
	TRIGGER(BEAT, 8, MSPB, RIG_MS(25));
	TRIGGER(TIME, 400, END_EXP, 0);
	rig_begin();
	rig_run(RIG_MS(1000));
	rig_check();
	CHECK_EQ(rig_figure(TAP_FIG_LATE_MAX_NS), 0);
	count = rig_records;
	memcpy(fine, rig_record, sizeof(fine));

	rig_begin();
	for (int ms = 13; ms < 1000; ms += 13)
		rig_pass(RIG_MS(ms));
	rig_check();
	CHECK_EQ(rig_records, count);
	CHECK(rig_figure(TAP_FIG_LATE_MAX_NS) > RIG_MS(11));
	CHECK_EQ(rig_figure(TAP_FIG_GAP_MAX_NS), RIG_MS(13));
	CHECK_EQ(rig_figure(TAP_FIG_GAP_MEAN_NS), RIG_MS(13));
	for (unsigned int class = TAP_METRONOME; class <= TAP_TRIGGERED; class++) {
		unsigned int n = 0;

		if (class == TAP_SILENCE)
			continue;
		for (unsigned int i = 0; i < count; i++)
			if (fine[i].class == class) {
				const struct tap_record *r = rig_find(class, n++);

				CHECK_EQ(r->scheduled_ns, fine[i].scheduled_ns);
				CHECK(!memcmp(r->msg, fine[i].msg, 3));
				CHECK_EQ(r->value, fine[i].value);
			}
	}
}

/* A trigger comes before what is due at its time, and before a key that comes later. */
static void test_order(void)
{
	tap_params_reset(&rig_params);
	SET(METRON_ON, 1);
	TRIGGER(TIME, 1000, FEED_CHAN, 3);
	TRIGGER(TIME, 500, METRON_ON, 0);
	TRIGGER(TIME, 700, FEED_ON, 1);
	rig_begin();
	rig_pass(RIG_MS(600));
	CHECK_EQ(rig_count(TAP_METRONOME), 3);	/* on and off at 0, silent at 500 ms */
	for (int i = 0; i < 2; i++) {		/* with no pass since */
		struct midi_message press = { 3, { 0x90, 50 + i, 1 } };

		tap_engine_message(&rig_engine, &press, RIG_START + RIG_MS(699 + i));
	}
	rig_pass(RIG_MS(1100));
	rig_end();
	rig_check();
	CHECK_EQ(rig_count(TAP_FEEDBACK), 1);
	CHECK_EQ(rig_find(TAP_FEEDBACK, 0)->msg[1], 51);
	CHECK_EQ(rig_find(TAP_TRIGGERED, 2)->index, 1);
}

/* Beats are counted where no metronome sounds, if a trigger asks for them. */
static void test_silent_beats(void)
{
	tap_params_reset(&rig_params);
	TRIGGER(BEAT, 5, END_EXP, 0);
	rig_begin();
	rig_run(RIG_MS(10000));
	rig_check();
	CHECK_EQ(rig_figure(TAP_FIG_DURATION_NS), RIG_MS(2000));
	CHECK_EQ(rig_count(TAP_METRONOME), 5);
	CHECK_EQ(rig_figure(TAP_FIG_OUTPUTS), 0);
}

static void test_masking(void)
{
	tap_params_reset(&rig_params);
	SET(MASK_NMIN, 60);
	SET(MASK_NMAX, 61);
	SET_MS(MASK_MSPT, 20);
	SET(MASK_VEL, 9);
	TRIGGER(TIME, 100, MASK_ON, 1);
	TRIGGER(TIME, 200, MASK_ON, 0);
	rig_begin();
	rig_run(RIG_MS(1000));
	rig_end();
	rig_check();
	CHECK_EQ(rig_count(TAP_MASKING), 10);
	for (unsigned int i = 0, on = 0; i < rig_records; i++)
		if (rig_record[i].class == TAP_MASKING && is_on(&rig_record[i])) {
			CHECK_EQ(rig_record[i].scheduled_ns, RIG_MS(100 + 20 * on));
			CHECK_EQ(rig_record[i].value, ++on);
			CHECK(rig_record[i].msg[1] == 60 || rig_record[i].msg[1] == 61);
			CHECK_EQ(rig_record[i].msg[2], 9);
		}
}

/* The end is when it should be, also if it is noticed late. */
static void test_a_late_end(void)
{
	tap_params_reset(&rig_params);
	SET(FEED_ON, 1);
	SET(FEED_DMODE, 1);
	SET_MS(FEED_DVAL, 95);
	SET_MS(FEED_LEN, 1);
	TRIGGER(TIME, 100, END_EXP, 0);
	TRIGGER(TIME, 100, FEED_CHAN, 5);	/* is too late */
	rig_begin();
	for (int i = 0; i < 11; i++)
		tap_engine_message(&rig_engine, &(struct midi_message){ 3, { 0x90, 60 + i, 1 } },
				   RIG_START + RIG_MS(i));
	rig_pass(RIG_MS(110));
	rig_check();
	CHECK_EQ(rig_count(TAP_FEEDBACK), 6 + 5);	/* up to 100 ms; one's off is later */
	CHECK_EQ(rig_figure(TAP_FIG_SILENCED), 1);
	CHECK_EQ(rig_figure(TAP_FIG_DURATION_NS), RIG_MS(100));
	CHECK_EQ(rig_count(TAP_TRIGGERED), 1);
}

static void test_keystroke_triggers(void)
{
	tap_params_reset(&rig_params);
	SET(FEED_ON, 1);
	TRIGGER(KEYSTROKE, 3, FEED_CHAN, 7);
	TRIGGER(KEYSTROKE, 3, FEED_CHAN, 8);	/* the later one stays */
	TRIGGER(KEYSTROKE, 5, END_EXP, 0);
	rig_begin();
	for (int i = 0; i < 8; i++) {
		rig_key(RIG_MS(10 * i), 0x90, 50, 90);
		rig_key(RIG_MS(10 * i + 5), 0x90, 50, 0);
	}
	rig_check();
	CHECK_EQ(rig_count(TAP_KEYSTROKE), 9);		/* five presses, four releases */
	CHECK_EQ(rig_find(TAP_FEEDBACK, 4)->msg[0], 0x90);	/* the third is still as it was */
	CHECK_EQ(rig_find(TAP_FEEDBACK, 6)->msg[0], 0x97);
	CHECK_EQ(rig_find(TAP_FEEDBACK, 8)->msg[0], 0x97);	/* the fifth sounds, ... */
	CHECK_EQ(rig_count(TAP_SILENCE), 1);			/* and is switched off */
	CHECK_EQ(rig_find(TAP_SILENCE, 0)->msg[0], 0x87);
	CHECK_EQ(rig_find(TAP_TRIGGERED, 0)->source,
		 rig_find(TAP_KEYSTROKE, 4)->sequence);
}

/* What waits when the trial ends is dropped, and what sounds is switched off. */
static void test_the_end(void)
{
	tap_params_reset(&rig_params);
	SET(FEED_ON, 1);
	SET(FEED_DMODE, 1);
	SET_MS(FEED_DVAL, 100);
	SET(FEED2_ON, 1);
	SET(FEED2_CHAN, 4);
	rig_begin();
	rig_key(RIG_MS(10), 0x90, 50, 90);
	rig_key(RIG_MS(60), 0x90, 51, 90);
	rig_run(RIG_MS(120));
	rig_end();
	rig_check();
	CHECK_EQ(rig_count(TAP_FEEDBACK), 1);
	CHECK_EQ(rig_count(TAP_FEEDBACK2), 2);
	CHECK_EQ(rig_count(TAP_SILENCE), 3);
	CHECK_EQ(rig_figure(TAP_FIG_SILENCED), 3);
	CHECK_EQ(rig_find(TAP_ENDED, 0)->index, TAP_BY_STOP);
	/* Nothing happens any more. */
	unsigned int before = rig_records;

	rig_key(RIG_MS(200), 0x90, 50, 90);
	tap_engine_stop(&rig_engine, RIG_START + RIG_MS(200), TAP_BY_FAULT);
	tap_engine_finish(&rig_engine, RIG_START + RIG_MS(200));
	CHECK_EQ(tap_engine_next(&rig_engine), TAP_NEVER);
	CHECK_EQ(rig_records, before);
}

/* Every note is either refused whole or ends, however many there are. */
static void test_queue_overflow(void)
{
	tap_params_reset(&rig_params);
	SET(FEED_ON, 1);
	SET(FEED_DMODE, 1);
	SET_MS(FEED_DVAL, 60000);
	SET(METRON_ON, 1);
	SET_MS(MSPB, 1000);
	rig_begin();
	for (int i = 0; i < 2000; i++) {
		rig_key(RIG_MS(10 * i), 0x90, 50 + i % 10, 90);
		if (i % 3)
			rig_key(RIG_MS(10 * i + 5), 0x80, 50 + i % 10, 0);
	}
	CHECK_EQ(rig_engine.queue.count + rig_engine.queue.reserved, TAP_QUEUE_MAX);
	rig_run(RIG_MS(100000));
	rig_end();
	rig_check();
	CHECK(rig_figure(TAP_FIG_NOTES_REFUSED) > 1000);
	CHECK(rig_figure(TAP_FIG_QUEUE_MAX) > 1000);
	CHECK(rig_count(TAP_FEEDBACK) > 1000);
}

/* A sink that is full loses records, which are counted; the trial goes on. */
static void test_sink_overflow(void)
{
	struct tap_record first;

	tap_params_reset(&rig_params);
	SET(METRON_ON, 1);
	SET_MS(MSPB, 10);
	SET(MET_LEN, 0);
	rig_begin();
	rig_run(RIG_MS(55));
	rig_room = rig_records;
	rig_run(RIG_MS(95));
	rig_room = RIG_RECORDS;
	rig_run(RIG_MS(100));
	rig_end();
	CHECK_EQ(rig_figure(TAP_FIG_RECORDS_LOST), 8);
	CHECK_EQ(rig_figure(TAP_FIG_OUTPUTS), 22);
	first = rig_record[13];
	CHECK_EQ(first.sequence, 13 + 8);	/* the gap shows */
	CHECK_EQ(first.scheduled_ns, RIG_MS(100));
}

static void test_figures(void)
{
	struct tap_out out;

	tap_params_reset(&rig_params);
	SET(FEED_ON, 1);
	rig_begin();
	rig_pass(1000);
	rig_pass(3000);
	rig_key(5000, 0x90, 1, 2);
	rig_key(9000, 0xfe, 0, 0);	/* active sensing: counted only */
	tap_engine_message(&rig_engine, &(struct midi_message){ 3, { 0x80, 1, 0 } },
			   RIG_START + 9500);
	CHECK(tap_engine_due(&rig_engine, RIG_START + 9600, &out));
	tap_engine_sent(&rig_engine, &out, RIG_START + 9700, RIG_START + 9950);
	tap_engine_count(&rig_engine, TAP_FIG_BYTES_LOST, 42);
	rig_end();
	rig_check();
	CHECK_EQ(rig_figure(TAP_FIG_PASSES), 5);
	CHECK_EQ(rig_figure(TAP_FIG_GAP_MAX_NS), 4000);
	CHECK_EQ(rig_figure(TAP_FIG_GAP_MEAN_NS), 8000 / 4);
	CHECK_EQ(rig_figure(TAP_FIG_INPUTS), 3);
	CHECK_EQ(rig_figure(TAP_FIG_OUTPUTS), 2);
	CHECK_EQ(rig_figure(TAP_FIG_LATE_MAX_NS), 200);
	CHECK_EQ(rig_figure(TAP_FIG_LATE_MEAN_NS), 100);
	CHECK_EQ(rig_figure(TAP_FIG_WIRE_WAIT_MAX_NS), 250);
	CHECK_EQ(rig_figure(TAP_FIG_BYTES_LOST), 42);
	CHECK_EQ(rig_count(TAP_INPUT), 0);
}

/* A stall of the loop: late, bounded a pass, nothing lost. */
static void test_stall(void)
{
	tap_params_reset(&rig_params);
	SET(METRON_ON, 1);
	SET_MS(MSPB, 10);
	SET_MS(MET_LEN, 1);
	rig_begin();
	rig_pass(RIG_MS(1000));
	CHECK_EQ(rig_count(TAP_METRONOME), 2 * TAP_PASS_MOST);
	for (int i = 1; i < 10; i++)
		rig_pass(RIG_MS(1000));
	rig_pass(RIG_MS(1001));
	rig_end();
	rig_check();
	CHECK_EQ(rig_count(TAP_METRONOME), 202);
	CHECK_EQ(rig_figure(TAP_FIG_LATE_MAX_NS), RIG_MS(1000));
}

int main(void)
{
	test_the_manuals_example();
	test_arrays_of_beats();
	test_tempo();
	test_coarse_passes();
	test_order();
	test_silent_beats();
	test_masking();
	test_a_late_end();
	test_keystroke_triggers();
	test_the_end();
	test_queue_overflow();
	test_sink_overflow();
	test_figures();
	test_stall();
	return 0;
}
