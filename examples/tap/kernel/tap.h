/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The tap loop's interface to programs: what it streams, and what it is told.
 *
 * Two RT-FIFOs with names. From /dev/rtf/tap come struct tap_record, whole ones, in the order in
 * which things happened; to /dev/rtf/tap_set go struct tap_command. All numbers are little-endian;
 * what is reserved is 0. Times are ns since the start of the trial, except where it is said.
 *
 * A trial is: TAP_RESET, TAP_SET and TAP_TRIGGER commands, then TAP_START. A record of class
 * TAP_STARTED answers, or one of TAP_REFUSED. The trial ends by a trigger of END_EXP, or by
 * TAP_STOP: notes that sound are switched off, then come TAP_ENDED, one TAP_FIGURE for each enum
 * tap_figure in its order, and last TAP_DONE.
 *
 * `tactus-tapfile --describe` prints the names and numbers of this file and of the parameters as
 * JSON.
 */
#ifndef _TAP_H
#define _TAP_H

#include <linux/types.h>

#define TAP_FIFO_EVENTS "tap"
#define TAP_FIFO_COMMANDS "tap_set"

/* In every command; changes with the layout of either struct or the meaning of a number. */
#define TAP_MAGIC 0x31504154u		/* "TAP1" */

#define TAP_NO_SOURCE 0xffffffffu

enum tap_class {
	/* Came in. Both times are the arrival of the last byte; source is the record itself. */
	TAP_KEYSTROKE = 1,	/* a press or a release; value: number of the press, from 1, or */
				/* 0 for the release of a key that was not down */
	TAP_INPUT,		/* any other message of up to three bytes */

	/* Went out; source is the sequence of the record it answers, or TAP_NO_SOURCE. */
	TAP_FEEDBACK,		/* value: number of the press it answers */
	TAP_FEEDBACK2,
	TAP_THROUGH,		/* a TAP_INPUT passed on (THRU_ON) */
	TAP_METRONOME,		/* value: the beat, from 1; index: the element of the pattern, */
	TAP_PACING,		/* from 1, or 0 without one; bytes is 0 for a beat that is silent */
	TAP_MASKING,		/* value: number of the masking note */
	TAP_SILENCE,		/* ends a note that sounds at the end; not in bytes lost */

	/* Happened inside. */
	TAP_TRIGGERED,		/* trigger number `index` set parameter `param` to `value`; */
				/* scheduled: the time of what it counted; source: that */
				/* keystroke's record */
	TAP_STARTED,		/* scheduled and actual: 0; value: RT clock, ns, of the start */
	TAP_ENDED,		/* index: enum tap_reason */
	TAP_FIGURE,		/* param: enum tap_figure; value: the figure */
	TAP_DONE,		/* the last of a trial; value: records, this one included */
	TAP_REFUSED,		/* source: the command's serial; value: -errno; param, index */
	TAP_CLASSES,
};

/* In struct tap_record's flags. */
#define TAP_FLAG_IN	0x01	/* came in */
#define TAP_FLAG_OUT	0x02	/* went out */

/*
 * struct tap_record - something that happened
 *
 * sequence counts the records of a trial from 0; a number that is missing is a record that did not
 * fit into the FIFO (TAP_FIG_RECORDS_LOST counts them).
 *
 * Of what went out: scheduled_ns is when it was due, actual_ns when the loop handed it to the port,
 * wire_ns when its first byte began, which is later only if the wire was busy with bytes before it.
 */
struct tap_record {
	__u32 sequence;
	__u32 source;
	__s64 scheduled_ns;
	__s64 actual_ns;
	__s64 wire_ns;
	__s64 value;
	__u32 trial;
	__u16 param;
	__u16 index;
	__u8 class;		/* enum tap_class */
	__u8 flags;
	__u8 bytes;		/* how many of msg count, 0 to 3 */
	__u8 msg[3];		/* the status byte is always there */
	__u16 reserved;
	__u64 reserved2;
};

enum tap_reason {
	TAP_BY_TRIGGER = 1,	/* END_EXP */
	TAP_BY_STOP,		/* TAP_STOP */
	TAP_BY_FAULT,		/* the port failed */
};

enum tap_op {
	TAP_RESET = 1,		/* every parameter to its default, no triggers */
	TAP_SET,		/* param, index, value; arrays: index 0 sets their length, */
				/* 1 to the length an element; otherwise index is 0 */
	TAP_TRIGGER,		/* adds one: index is its number, kind, count, param, value */
	TAP_START,		/* value: number of the trial, for its records */
	TAP_STOP,
};

/* A trigger's kind; in files K, T, M. */
enum tap_kind {
	TAP_AT_KEYSTROKE = 1,	/* count: the press, from 1 */
	TAP_AT_TIME,		/* count: ms since the start */
	TAP_AT_BEAT,		/* count: the metronome's beat, from 1 */
};

/*
 * struct tap_command - what the loop is told
 *
 * While a trial runs all but TAP_STOP is refused with EBUSY. An unknown op, parameter, index or
 * kind, or a wrong magic, is refused with EINVAL, a value out of its range with ERANGE, a trigger
 * too many with ENOSPC.
 */
struct tap_command {
	__u32 magic;		/* TAP_MAGIC */
	__u32 serial;		/* the sender's; comes back in TAP_REFUSED */
	__u8 op;		/* enum tap_op */
	__u8 kind;		/* enum tap_kind; otherwise 0 */
	__u16 param;		/* enum tap_param */
	__u16 index;
	__u16 reserved;
	__s64 value;		/* of a time: ns */
	__s64 count;
};

/* What a trial's certificate is made of. */
enum tap_figure {
	TAP_FIG_DURATION_NS,
	TAP_FIG_PASSES,			/* of the loop */
	TAP_FIG_GAP_MEAN_NS,		/* between passes */
	TAP_FIG_GAP_MAX_NS,
	TAP_FIG_OUTPUTS,		/* messages handed to the port */
	TAP_FIG_LATE_MEAN_NS,		/* of these: handed over minus due */
	TAP_FIG_LATE_MAX_NS,
	TAP_FIG_WIRE_WAIT_MAX_NS,	/* first byte began minus handed over */
	TAP_FIG_INPUTS,			/* messages that came in */
	TAP_FIG_KEYSTROKES,		/* presses */
	TAP_FIG_BEATS,			/* of the metronome, the silent ones too */
	TAP_FIG_BYTES_IN,
	TAP_FIG_BYTES_OUT,
	TAP_FIG_BYTES_LOST,		/* of either direction: overruns, full buffers */
	TAP_FIG_BYTES_BROKEN,		/* belonged to no message */
	TAP_FIG_SYSEX,			/* system exclusive messages skipped */
	TAP_FIG_SYSEX_BYTES,
	TAP_FIG_NOTES_REFUSED,		/* no room in the output queue: neither on nor off */
	TAP_FIG_QUEUE_MAX,		/* the most messages that waited */
	TAP_FIG_SILENCED,		/* notes switched off at the end */
	TAP_FIG_RECORDS_LOST,		/* did not fit into the FIFO */
	TAP_FIGURES,
};

#endif
