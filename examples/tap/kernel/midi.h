/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages out of a stream of MIDI bytes. Pure: no kernel in it. One parser per input.
 *
 * Running status, real-time bytes anywhere, system exclusive skipped and counted; after bytes
 * that make no sense the next status byte begins anew.
 */
#ifndef _TAP_MIDI_H
#define _TAP_MIDI_H

#include <rt/pure.h>

#define MIDI_NOTE_OFF		0x80
#define MIDI_NOTE_ON		0x90
#define MIDI_CHANNELS		16
#define MIDI_NOTES		128

/* A whole message; byte[0] is its status, which running status may have left out. */
struct midi_message {
	u8 bytes;		/* 1 to 3 */
	u8 byte[3];
};

/* Invariant: bytes = message_bytes + sysex_bytes + broken + those of the message begun. */
struct midi_stats {
	u64 bytes;
	u64 messages;
	u64 message_bytes;	/* as they came: without a status that running status left out */
	u64 sysex;		/* system exclusive messages, ended or not */
	u64 sysex_bytes;	/* with their first and last */
	u64 broken;		/* bytes that belong to no message */
};

struct midi_parser {
	struct midi_stats stats;
	/* private: */
	u8 status;		/* of the message begun, or running; 0: none */
	bool fresh;		/* status came, and ended no message yet */
	bool sysex;
	u8 have;		/* data bytes so far */
	u8 data[2];
};

/** midi_init - wait for a status byte; all counts are 0. Context: any. */
void midi_init(struct midi_parser *parser);

/**
 * midi_byte - take one byte in
 * @parser: initialised
 * @byte: as it came
 * @message: where to put a message that @byte ends
 *
 * A note-on of velocity 0 comes out as it is; midi_press() and midi_release() know.
 *
 * Context: any; bounded, no lock.
 * Return: whether *@message was written.
 */
bool midi_byte(struct midi_parser *parser, u8 byte, struct midi_message *message);

/** midi_press - is it a key going down: a note-on of velocity 1 or more? Context: any. */
static inline bool midi_press(const struct midi_message *message)
{
	return (message->byte[0] & 0xf0) == MIDI_NOTE_ON && message->byte[2];
}

/** midi_release - a key going up: a note-off, or a note-on of velocity 0? Context: any. */
static inline bool midi_release(const struct midi_message *message)
{
	u8 kind = message->byte[0] & 0xf0;

	return kind == MIDI_NOTE_OFF || (kind == MIDI_NOTE_ON && !message->byte[2]);
}

#endif
