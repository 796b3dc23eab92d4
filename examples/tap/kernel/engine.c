// SPDX-License-Identifier: GPL-2.0-only
/* See engine.h. Here: the trial's course, its records and figures. */
#include "parts.h"

void tap_engine_init(struct tap_engine *engine, const struct tap_params *params,
		     const struct tap_sink *sink)
{
	memset(engine, 0, sizeof(*engine));
	engine->params = params;
	engine->sink = *sink;
	memcpy(engine->value, params->value, sizeof(engine->value));
	tap_queue_init(&engine->queue);
	tap_triggers_sort(engine);
	tap_random_seed(engine, engine->value[TAP_P_SEED]);
	engine->mask_next_ns = TAP_NEVER;
}

u32 tap_engine_record(struct tap_engine *engine, struct tap_record *record)
{
	record->sequence = engine->sequence++;
	record->trial = engine->trial;
	if (record->flags & TAP_FLAG_IN)
		record->source = record->sequence;
	if (!engine->sink.put(engine->sink.context, record))
		engine->figure[TAP_FIG_RECORDS_LOST]++;
	return record->sequence;
}

void tap_engine_start(struct tap_engine *engine, u32 trial, u64 now_ns)
{
	struct tap_record record = {
		.class = TAP_STARTED, .source = TAP_NO_SOURCE, .value = now_ns,
	};

	engine->state = TAP_ENGINE_RUNNING;
	engine->trial = trial;
	engine->start_ns = now_ns;
	tap_engine_record(engine, &record);
	tap_beats_start(engine);
}

static void put_note(struct tap_engine *engine, struct tap_out *out, u8 status, u8 note,
		     u8 velocity)
{
	out->bytes = 3;
	out->msg[0] = status;
	out->msg[1] = note;
	out->msg[2] = velocity;
	tap_queue_put(&engine->queue, out, true);
}

void tap_engine_off(struct tap_engine *engine, struct tap_out *off, u8 channel, u8 note,
		    bool reserved)
{
	if (reserved || tap_queue_reserve(&engine->queue, 1))
		put_note(engine, off, MIDI_NOTE_OFF | channel, note, 0);
}

bool tap_engine_note(struct tap_engine *engine, struct tap_out *on, u8 channel, u8 note,
		     u8 velocity, s64 length_ns)
{
	if (!tap_queue_reserve(&engine->queue, 2)) {
		engine->figure[TAP_FIG_NOTES_REFUSED]++;
		return false;
	}
	put_note(engine, on, MIDI_NOTE_ON | channel, note, velocity);
	if (length_ns >= 0) {
		on->due_ns += length_ns;
		put_note(engine, on, MIDI_NOTE_OFF | channel, note, 0);
	}
	return true;
}

/* Everything that time brings up to @now_ns, in the order of its times. */
static void advance(struct tap_engine *engine, u64 now_ns)
{
	for (unsigned int i = 0; i < TAP_PASS_MOST && engine->state == TAP_ENGINE_RUNNING; i++) {
		u64 trigger = tap_triggers_next(engine), beat = tap_beats_next(engine);

		if ((trigger < beat ? trigger : beat) > now_ns)
			return;
		if (trigger <= beat)
			tap_triggers_fire(engine, TAP_AT_TIME,
					  (s64)(trigger - engine->start_ns) / TAP_NS_PER_MS,
					  trigger, now_ns, TAP_NO_SOURCE);
		else
			tap_beats_run(engine, now_ns);
	}
}

static void keystroke(struct tap_engine *engine, const struct midi_message *message, u64 at_ns,
		      struct tap_record *record)
{
	u32 *pressed = &engine->pressed[message->byte[0] & 0x0f][message->byte[1]];
	u32 source;

	record->class = TAP_KEYSTROKE;
	if (midi_press(message)) {
		record->value = *pressed = ++engine->presses;
		engine->figure[TAP_FIG_KEYSTROKES]++;
		source = tap_engine_record(engine, record);
		tap_feedback_press(engine, message, at_ns, source);
		tap_triggers_fire(engine, TAP_AT_KEYSTROKE, engine->presses, at_ns, at_ns, source);
	} else {
		record->value = *pressed;
		*pressed = 0;
		source = tap_engine_record(engine, record);
		tap_feedback_release(engine, message, at_ns, source);
	}
}

/* Pass a channel's message on. */
static void through(struct tap_engine *engine, const struct midi_message *message, u64 at_ns,
		    u32 source)
{
	struct tap_out out = {
		.class = TAP_THROUGH, .source = source, .due_ns = at_ns, .bytes = message->bytes,
		.msg = { message->byte[0], message->byte[1], message->byte[2] },
	};

	if (!tap_queue_put(&engine->queue, &out, false))
		engine->figure[TAP_FIG_NOTES_REFUSED]++;
}

#define ACTIVE_SENSING 0xfe	/* three a second from some keyboards; means nothing */

void tap_engine_message(struct tap_engine *engine, const struct midi_message *message, u64 at_ns)
{
	struct tap_record record = {
		.class = TAP_INPUT, .flags = TAP_FLAG_IN, .bytes = message->bytes,
		.msg = { message->byte[0], message->byte[1], message->byte[2] },
	};
	u32 source;

	advance(engine, at_ns);
	if (engine->state != TAP_ENGINE_RUNNING || at_ns < engine->start_ns)
		return;
	engine->figure[TAP_FIG_INPUTS]++;
	if (message->byte[0] == ACTIVE_SENSING)
		return;
	record.scheduled_ns = tap_relative(engine, at_ns);
	record.actual_ns = record.scheduled_ns;
	record.wire_ns = record.scheduled_ns;
	if (midi_press(message) || midi_release(message)) {
		keystroke(engine, message, at_ns, &record);
		return;
	}
	source = tap_engine_record(engine, &record);
	if (engine->value[TAP_P_THRU_ON] && message->byte[0] < 0xf0)
		through(engine, message, at_ns, source);
}

void tap_engine_pass(struct tap_engine *engine, u64 now_ns)
{
	if (engine->state != TAP_ENGINE_RUNNING && engine->state != TAP_ENGINE_ENDING)
		return;
	if (engine->figure[TAP_FIG_PASSES]++) {
		u64 gap = now_ns - engine->last_pass_ns;

		engine->gaps++;
		engine->gap_sum_ns += gap;
		if (gap > engine->figure[TAP_FIG_GAP_MAX_NS])
			engine->figure[TAP_FIG_GAP_MAX_NS] = gap;
	}
	engine->last_pass_ns = now_ns;
	advance(engine, now_ns);
}

/* The next note that still sounds; false: none. */
static bool silence(struct tap_engine *engine, u64 now_ns, struct tap_out *out)
{
	for (; engine->silence < MIDI_CHANNELS * MIDI_NOTES; engine->silence++) {
		u8 channel = engine->silence / MIDI_NOTES, note = engine->silence % MIDI_NOTES;

		if (!engine->sounding[channel][note])
			continue;
		engine->sounding[channel][note] = 0;
		engine->figure[TAP_FIG_SILENCED]++;
		*out = (struct tap_out) {
			.class = TAP_SILENCE, .source = TAP_NO_SOURCE, .due_ns = now_ns, .bytes = 3,
			.msg = { MIDI_NOTE_OFF | channel, note, 0 },
		};
		return true;
	}
	return false;
}

/* Keep count of what sounds. */
static void sounds(struct tap_engine *engine, const struct tap_out *out)
{
	u16 *count = &engine->sounding[out->msg[0] & 0x0f][out->msg[1] & 0x7f];

	if ((out->msg[0] & 0xf0) == MIDI_NOTE_ON && *count < U16_MAX)
		++*count;
	else if ((out->msg[0] & 0xf0) == MIDI_NOTE_OFF && *count)
		--*count;
}

bool tap_engine_due(struct tap_engine *engine, u64 now_ns, struct tap_out *out)
{
	const struct tap_out *first = tap_queue_first(&engine->queue);
	bool ending = engine->state == TAP_ENGINE_ENDING;

	if (engine->state != TAP_ENGINE_RUNNING && !ending)
		return false;
	if (first && first->due_ns <= now_ns && (!ending || first->due_ns <= engine->end_ns)) {
		tap_queue_take(&engine->queue, out);
		sounds(engine, out);
		return true;
	}
	if (!ending)
		return false;
	if (silence(engine, now_ns, out))
		return true;
	engine->state = TAP_ENGINE_OVER;
	return false;
}

void tap_engine_sent(struct tap_engine *engine, const struct tap_out *out, u64 handed_ns,
		     u64 wire_ns)
{
	u64 late = handed_ns > out->due_ns ? handed_ns - out->due_ns : 0;
	u64 wait = wire_ns > handed_ns ? wire_ns - handed_ns : 0;
	struct tap_record record = {
		.class = out->class, .flags = TAP_FLAG_OUT, .source = out->source,
		.value = out->value, .index = out->index, .bytes = out->bytes,
		.msg = { out->msg[0], out->msg[1], out->msg[2] },
		.scheduled_ns = tap_relative(engine, out->due_ns),
		.actual_ns = tap_relative(engine, handed_ns),
		.wire_ns = tap_relative(engine, wire_ns),
	};

	engine->figure[TAP_FIG_OUTPUTS]++;
	engine->late_sum_ns += late;
	if (late > engine->figure[TAP_FIG_LATE_MAX_NS])
		engine->figure[TAP_FIG_LATE_MAX_NS] = late;
	if (wait > engine->figure[TAP_FIG_WIRE_WAIT_MAX_NS])
		engine->figure[TAP_FIG_WIRE_WAIT_MAX_NS] = wait;
	tap_engine_record(engine, &record);
}

u64 tap_engine_next(const struct tap_engine *engine)
{
	const struct tap_out *first = tap_queue_first(&engine->queue);
	u64 next, other;

	if (engine->state == TAP_ENGINE_ENDING || engine->state == TAP_ENGINE_OVER)
		return 0;
	if (engine->state != TAP_ENGINE_RUNNING)
		return TAP_NEVER;
	next = first ? first->due_ns : TAP_NEVER;
	other = tap_triggers_next(engine);
	next = other < next ? other : next;
	other = tap_beats_next(engine);
	return other < next ? other : next;
}

void tap_engine_stop(struct tap_engine *engine, u64 now_ns, enum tap_reason reason)
{
	if (engine->state != TAP_ENGINE_RUNNING)
		return;
	engine->state = TAP_ENGINE_ENDING;
	engine->reason = reason;
	engine->end_ns = now_ns;
	engine->silence = 0;
}

void tap_engine_count(struct tap_engine *engine, enum tap_figure figure, u64 value)
{
	engine->figure[figure] = value;
}

void tap_engine_finish(struct tap_engine *engine, u64 now_ns)
{
	struct tap_record record = {
		.class = TAP_ENDED, .source = TAP_NO_SOURCE, .index = engine->reason,
		.scheduled_ns = tap_relative(engine, engine->end_ns),
		.actual_ns = tap_relative(engine, now_ns), .wire_ns = tap_relative(engine, now_ns),
	};
	u64 *figure = engine->figure;

	if (engine->state != TAP_ENGINE_OVER)
		return;
	engine->state = TAP_ENGINE_FINISHED;
	figure[TAP_FIG_DURATION_NS] = engine->end_ns - engine->start_ns;
	figure[TAP_FIG_GAP_MEAN_NS] = engine->gaps ? engine->gap_sum_ns / engine->gaps : 0;
	if (figure[TAP_FIG_OUTPUTS])
		figure[TAP_FIG_LATE_MEAN_NS] = engine->late_sum_ns / figure[TAP_FIG_OUTPUTS];
	figure[TAP_FIG_QUEUE_MAX] = engine->queue.most;
	tap_engine_record(engine, &record);
	for (unsigned int i = 0; i < TAP_FIGURES; i++) {
		record.class = TAP_FIGURE;
		record.index = 0;
		record.param = i;
		record.value = figure[i];
		tap_engine_record(engine, &record);
	}
	record.class = TAP_DONE;
	record.param = 0;
	record.value = engine->sequence + 1;
	tap_engine_record(engine, &record);
}
