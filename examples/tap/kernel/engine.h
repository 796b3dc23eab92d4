/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The experiment: what answers keys, beats time and obeys triggers. Pure: no kernel, no hardware.
 *
 * One loop owns an engine and does, over and over:
 *
 *	for each byte of the port: if (midi_byte(...)) tap_engine_message(engine, &message, its
 *	time) now = the time tap_engine_pass(engine, now) while (the port takes a message and
 *	tap_engine_due(engine, now, &out))
 *		hand it over, tap_engine_sent(engine, &out, when, when its first byte begins)
 *	if (tap_engine_state(engine) == TAP_ENGINE_OVER)
 *		tap_engine_count() the port's figures, tap_engine_finish(engine, now), wait for a
 *		start
 *
 * All memory is in struct tap_engine; every call is bounded and never waits; what does not fit is
 * counted. Times are ns of one clock that does not go back.
 */
#ifndef _TAP_ENGINE_H
#define _TAP_ENGINE_H

#include <rt/pure.h>
#include "midi.h"
#include "params.h"
#include "queue.h"
#include "tap.h"

/* At most so many beats, masking tones and timed triggers in one pass. */
#define TAP_PASS_MOST 16

#define TAP_NEVER (~0ULL)

enum tap_engine_state {
	TAP_ENGINE_IDLE,	/* initialised, not started */
	TAP_ENGINE_RUNNING,
	TAP_ENGINE_ENDING,	/* what sounds is being switched off; keys are not answered */
	TAP_ENGINE_OVER,	/* nothing left to send: tap_engine_finish() */
	TAP_ENGINE_FINISHED,
};

/**
 * struct tap_sink - where records go
 * @put: takes a copy and never waits; false: there was no room, and the record is lost
 * @context: its first argument
 */
struct tap_sink {
	bool (*put)(void *context, const struct tap_record *record);
	void *context;
};

/* A note that a held key sounds: what its release will switch off. Modes are those of the press. */
struct tap_held {
	u64 press_ns;
	u64 delay_ns;
	s64 ladd_ns;
	u32 press;		/* its number */
	s16 lmul;
	u8 lmode;
	u8 channel;		/* of the note, 0 to 15 */
	u8 note;
	bool owes_off;		/* the off is not in the queue; it has a place there */
};

/* A stream of beats: metronome or pacing tones. */
struct tap_stream {
	bool counts;
	u64 last_ns;		/* of the last beat */
	u64 next_ns;
	s64 shift_ns;		/* of the next beat */
	s64 beat;		/* the last one, from 1 */
};

struct tap_engine {
	/* private: all of it; use the calls */
	enum tap_engine_state state;
	enum tap_reason reason;
	struct tap_sink sink;
	const struct tap_params *params;
	s64 value[TAP_P_SCALARS];	/* as triggers have changed them */
	u32 trial;
	u32 sequence;
	u64 start_ns;
	u64 end_ns;			/* what is due later is not sent */
	u64 last_pass_ns;		/* 0: none yet */
	u64 gaps;
	u64 gap_sum_ns;
	u64 late_sum_ns;
	u32 presses;
	u32 pressed[MIDI_CHANNELS][MIDI_NOTES];	/* the press that holds a key down; 0: it is up */
	struct tap_stream stream[2];
	u64 mask_next_ns;		/* TAP_NEVER: off */
	s64 masks;
	u64 random[3];			/* first and second feedback, masking */
	u16 trigger[3][TAP_TRIGGERS_MAX];	/* by kind, in the order in which they fire */
	u16 triggers[3];
	u16 fired[3];
	u64 figure[TAP_FIGURES];
	u16 sounding[MIDI_CHANNELS][MIDI_NOTES];	/* ons sent minus offs sent */
	u32 silence;			/* where the search for what sounds has come to */
	struct tap_held held[2][MIDI_CHANNELS][MIDI_NOTES];
	struct tap_queue queue;
};

/**
 * tap_engine_init - get ready for a trial
 * @engine: its memory; some 200 kB, anything may be in it
 * @params: checked by tap_params_check(); stays, unchanged, until the trial is finished
 * @sink: copied
 *
 * Context: any, but takes long: outside the loop.
 */
void tap_engine_init(struct tap_engine *engine, const struct tap_params *params,
		     const struct tap_sink *sink);

/**
 * tap_engine_start - the trial begins now
 * @engine: initialised, idle
 * @trial: number in its records
 * @now_ns: time zero of its records
 *
 * Context: the loop.
 */
void tap_engine_start(struct tap_engine *engine, u32 trial, u64 now_ns);

/**
 * tap_engine_message - a whole message came in
 * @engine: any state; counts and is answered in a running trial only
 * @message: from midi_byte()
 * @at_ns: arrival of its last byte; may lie before the last pass
 *
 * Records it, puts answers into the queue, fires what counts keystrokes.
 *
 * Context: the loop; O(log n).
 */
void tap_engine_message(struct tap_engine *engine, const struct midi_message *message, u64 at_ns);

/**
 * tap_engine_pass - what time alone brings: beats, masking, triggers
 * @engine: any state
 * @now_ns: the time; also measures the gap since the last pass
 *
 * They take effect in the order of their times, whenever passes come; a trigger before what is
 * due at the same time.
 *
 * Context: the loop, once a pass; at most TAP_PASS_MOST moments, the rest in the next pass.
 */
void tap_engine_pass(struct tap_engine *engine, u64 now_ns);

/**
 * tap_engine_due - take the next message that is due
 * @engine: any state
 * @now_ns: the time
 * @out: where to put it
 *
 * Whoever takes one hands it over and says so by tap_engine_sent().
 *
 * Context: the loop; O(log n).
 * Return: whether there was one.
 */
bool tap_engine_due(struct tap_engine *engine, u64 now_ns, struct tap_out *out);

/**
 * tap_engine_sent - a message was handed to the port
 * @engine: that @out was taken from
 * @out: as taken
 * @handed_ns: when
 * @wire_ns: when its first byte begins; @handed_ns if the wire was free or it is not known
 *
 * Makes its record and the certificate's figures.
 *
 * Context: the loop; O(1).
 */
void tap_engine_sent(struct tap_engine *engine, const struct tap_out *out, u64 handed_ns,
		     u64 wire_ns);

/**
 * tap_engine_next - the next moment at which a pass has something to do
 * @engine: any state
 *
 * For loops that sleep; input wakes them on its own account.
 *
 * Context: the loop; O(1).
 * Return: ns, maybe in the past; TAP_NEVER if only input can bring anything.
 */
u64 tap_engine_next(const struct tap_engine *engine);

/**
 * tap_engine_stop - end a running trial now
 * @engine: any state; has no effect unless the trial is running
 * @now_ns: the time
 * @reason: TAP_BY_STOP or TAP_BY_FAULT
 *
 * Drops what is due later, and has every note that sounds switched off by the next calls of
 * tap_engine_due().
 *
 * Context: the loop.
 */
void tap_engine_stop(struct tap_engine *engine, u64 now_ns, enum tap_reason reason);

/** tap_engine_state - how far it is. Context: any. */
static inline enum tap_engine_state tap_engine_state(const struct tap_engine *engine)
{
	return engine->state;
}

/**
 * tap_engine_count - a figure that only the port knows
 * @engine: not finished
 * @figure: TAP_FIG_BYTES_IN, _OUT, _LOST, _BROKEN, TAP_FIG_SYSEX, TAP_FIG_SYSEX_BYTES
 * @value: of the whole trial
 *
 * Context: the loop.
 */
void tap_engine_count(struct tap_engine *engine, enum tap_figure figure, u64 value);

/**
 * tap_engine_finish - close the trial: TAP_ENDED, the figures, TAP_DONE
 * @engine: over
 * @now_ns: the time
 *
 * Context: the loop, or Linux after it.
 */
void tap_engine_finish(struct tap_engine *engine, u64 now_ns);

#endif
