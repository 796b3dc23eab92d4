// SPDX-License-Identifier: GPL-2.0-only
/*
 * Beats of the metronome and of the pacing tones, and masking tones.
 *
 * A beat is a fixed time after the one before, not after the moment at which that was noticed:
 * nothing drifts. A stream counts its beats from the start, whether they sound or not.
 */
#include "parts.h"

/* What the two streams are called in the table; they are alike. */
struct stream_names {
	unsigned int on, interval, shift;
	u8 class;
	unsigned int pattern;
};

static const struct stream_names names[TAP_STREAMS] = {
	[TAP_STREAM_METRONOME] = { TAP_P_METRON_ON, TAP_P_MSPB, TAP_P_MET_SHIFT, TAP_METRONOME,
				   TAP_P_MET_PATTERN_ARRAY },
	[TAP_STREAM_PACING] = { TAP_P_PACE_ON, TAP_P_PACE_MSPB, TAP_P_PACE_SHIFT, TAP_PACING,
				TAP_P_PACE_PATTERN_ARRAY },
};

/* Parameter MET_@name of stream @which. */
#define OF(engine, which, name)							\
	((engine)->value[TAP_P_MET_##name +					\
			 (which) * (TAP_P_PACE_ON - TAP_P_METRON_ON)])

_Static_assert(TAP_P_PACE_LEN - TAP_P_MET_LEN == TAP_P_PACE_ON - TAP_P_METRON_ON &&
	       TAP_P_PACE_VEL_ARRAY - TAP_P_MET_VEL_ARRAY ==
	       TAP_P_PACE_PATTERN_ARRAY - TAP_P_MET_PATTERN_ARRAY, "the two streams are alike");

/* The next beat, @from_ns and an interval and a shift on, though not before @least_ns. */
static void plan(struct tap_stream *s, u64 from_ns, s64 interval_ns, u64 least_ns)
{
	s64 ahead = (s64)(from_ns - least_ns) + interval_ns + s->shift_ns;

	s->next_ns = least_ns + tap_clamp(ahead, 0, S64_MAX);
}

/* A stream that is off, stays off and that no trigger counts needs no beats. */
static bool has_beats(const struct tap_engine *e, unsigned int which)
{
	if (e->value[names[which].on])
		return true;
	for (unsigned int i = 0; i < e->params->triggers; i++) {
		const struct tap_trigger *t = &e->params->trigger[i];

		if (t->param == names[which].on ||
		    (which == TAP_STREAM_METRONOME && t->kind == TAP_AT_BEAT))
			return true;
	}
	return false;
}

void tap_beats_start(struct tap_engine *e)
{
	for (unsigned int which = 0; which < TAP_STREAMS; which++) {
		struct tap_stream *s = &e->stream[which];

		*s = (struct tap_stream) {
			.counts = has_beats(e, which), .shift_ns = OF(e, which, SHIFT),
		};
		plan(s, e->start_ns, OF(e, which, DELAY), e->start_ns);
	}
	e->mask_next_ns = e->value[TAP_P_MASK_ON] ? e->start_ns : TAP_NEVER;
	e->masks = 0;
}

/* A parameter was set at @at_ns, while the trial runs. */
void tap_beats_changed(struct tap_engine *e, unsigned int param, u64 at_ns)
{
	if (param == TAP_P_MASK_ON) {
		if (!e->value[param])
			e->mask_next_ns = TAP_NEVER;
		else if (e->mask_next_ns == TAP_NEVER)
			e->mask_next_ns = at_ns;
	}
	for (unsigned int which = 0; which < TAP_STREAMS; which++) {
		struct tap_stream *s = &e->stream[which];

		if (param == names[which].shift)
			s->shift_ns += e->value[param];
		else if (param != names[which].interval)
			continue;
		if (s->beat)
			plan(s, s->last_ns, e->value[names[which].interval], at_ns);
		else
			plan(s, e->start_ns, OF(e, which, DELAY), at_ns);
	}
}

static u64 stream_next(const struct tap_engine *e, unsigned int which)
{
	const struct tap_stream *s = &e->stream[which];
	s64 most = OF(e, which, COUNT);

	return s->counts && (!most || s->beat < most) ? s->next_ns : TAP_NEVER;
}

u64 tap_beats_next(const struct tap_engine *e)
{
	u64 next = e->mask_next_ns;

	for (unsigned int which = 0; which < TAP_STREAMS; which++)
		if (stream_next(e, which) < next)
			next = stream_next(e, which);
	return next;
}

/* Element of this beat, @usual without a list. */
static s64 element(const struct tap_engine *e, unsigned int which, unsigned int array, s64 usual)
{
	const struct tap_list *list = tap_engine_list(e, names[which].pattern + array -
						      TAP_P_MET_PATTERN_ARRAY);

	return list->count ? list->element[(e->stream[which].beat - 1) % list->count] : usual;
}

static void beat(struct tap_engine *e, unsigned int which, u64 now_ns)
{
	const struct tap_list *pattern = tap_engine_list(e, names[which].pattern);
	struct tap_stream *s = &e->stream[which];
	struct tap_out on = {
		.class = names[which].class, .source = TAP_NO_SOURCE, .due_ns = s->next_ns,
		.value = ++s->beat,
		.index = pattern->count ? (s->beat - 1) % pattern->count + 1 : 0,
	};

	s->last_ns = s->next_ns;
	s->shift_ns = 0;
	plan(s, s->last_ns, e->value[names[which].interval], s->last_ns);
	if (e->value[names[which].on] && element(e, which, TAP_P_MET_PATTERN_ARRAY, 1)) {
		tap_engine_note(e, &on,
				element(e, which, TAP_P_MET_CHAN_ARRAY, OF(e, which, CHAN)) - 1,
				element(e, which, TAP_P_MET_NOTE_ARRAY, OF(e, which, NOTE)),
				element(e, which, TAP_P_MET_VEL_ARRAY, OF(e, which, VEL)),
				OF(e, which, LEN));
	} else {
		struct tap_record silent = {
			.class = on.class,
			.source = on.source,
			.value = on.value,
			.index = on.index,
			.scheduled_ns = tap_relative(e, on.due_ns),
			.actual_ns = tap_relative(e, now_ns),
			.wire_ns = tap_relative(e, now_ns),
		};

		tap_engine_record(e, &silent);
	}
	if (which == TAP_STREAM_METRONOME) {
		e->figure[TAP_FIG_BEATS]++;
		tap_triggers_fire(e, TAP_AT_BEAT, s->beat, s->last_ns, now_ns, TAP_NO_SOURCE);
	}
}

static void mask(struct tap_engine *e)
{
	struct tap_out on = {
		.class = TAP_MASKING, .source = TAP_NO_SOURCE, .due_ns = e->mask_next_ns,
		.value = ++e->masks,
	};
	u8 note = tap_random(e, TAP_RANDOM_MASK, e->value[TAP_P_MASK_NMIN],
			     e->value[TAP_P_MASK_NMAX]);

	tap_engine_note(e, &on, e->value[TAP_P_MASK_CHAN] - 1, note, e->value[TAP_P_MASK_VEL],
			e->value[TAP_P_MASK_LEN]);
	e->mask_next_ns += e->value[TAP_P_MASK_MSPT];
}

void tap_beats_run(struct tap_engine *e, u64 now_ns)
{
	u64 next = tap_beats_next(e);

	for (unsigned int which = 0; which < TAP_STREAMS; which++)
		if (stream_next(e, which) == next) {
			beat(e, which, now_ns);
			return;
		}
	mask(e);
}

#undef OF
