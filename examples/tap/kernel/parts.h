/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the engine's files offer one another; nobody else includes this.
 */
#ifndef _TAP_PARTS_H
#define _TAP_PARTS_H

#include "engine.h"

#define TAP_HOUR_NS (TAP_HOUR_MS * TAP_NS_PER_MS)

enum { TAP_RANDOM_FEEDBACK, TAP_RANDOM_FEEDBACK2, TAP_RANDOM_MASK, TAP_RANDOMS };
enum { TAP_STREAM_METRONOME, TAP_STREAM_PACING, TAP_STREAMS };

static inline s64 tap_clamp(s64 value, s64 least, s64 most)
{
	return value < least ? least : value > most ? most : value;
}

/* @ns on the engine's clock as in records. */
static inline s64 tap_relative(const struct tap_engine *engine, u64 ns)
{
	return (s64)(ns - engine->start_ns);
}

static inline const struct tap_list *tap_engine_list(const struct tap_engine *engine,
						     unsigned int param)
{
	return &engine->params->list[param - TAP_P_SCALARS];
}

/* Sends @record, whose class and what goes with it are set; its sequence. engine.c */
u32 tap_engine_record(struct tap_engine *engine, struct tap_record *record);

/* From @a to @b, whichever is less, both included. random.c */
s64 tap_random(struct tap_engine *engine, unsigned int which, s64 a, s64 b);
void tap_random_seed(struct tap_engine *engine, u64 seed);

/*
 * Queue a note's on at @on->due_ns and, @length_ns later, its off; @on has class, source, value and
 * index set. A negative length: the off comes later, and has a place reserved. False, and
 * counted: no room for both. engine.c
 */
bool tap_engine_note(struct tap_engine *engine, struct tap_out *on, u8 channel, u8 note,
		     u8 velocity, s64 length_ns);
void tap_engine_off(struct tap_engine *engine, struct tap_out *off, u8 channel, u8 note,
		    bool reserved);

/* A key: feedback.c */
void tap_feedback_press(struct tap_engine *engine, const struct midi_message *message, u64 at_ns,
			u32 source);
void tap_feedback_release(struct tap_engine *engine, const struct midi_message *message, u64 at_ns,
			  u32 source);

/* Beats and masking tones: beats.c */
void tap_beats_start(struct tap_engine *engine);
u64 tap_beats_next(const struct tap_engine *engine);
void tap_beats_run(struct tap_engine *engine, u64 now_ns);	/* the one moment that is next */
void tap_beats_changed(struct tap_engine *engine, unsigned int param, u64 at_ns);

/* triggers.c */
void tap_triggers_sort(struct tap_engine *engine);
u64 tap_triggers_next(const struct tap_engine *engine);
/* Those of @kind that count up to @count; @at_ns is when that was reached. */
void tap_triggers_fire(struct tap_engine *engine, enum tap_kind kind, s64 count, u64 at_ns,
		       u64 now_ns, u32 source);

#endif
