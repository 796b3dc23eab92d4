// SPDX-License-Identifier: GPL-2.0-only
/* See midi.h. */
#include "midi.h"

#define SYSEX_BEGIN	0xf0
#define SYSEX_END	0xf7
#define REAL_TIME	0xf8	/* and above: one byte, between any two others */

void midi_init(struct midi_parser *parser)
{
	*parser = (struct midi_parser) {};
}

/* Data bytes that follow @status; -1: it begins no message. */
static int midi_data_bytes(u8 status)
{
	switch (status) {
	case 0xf1:	/* quarter frame */
	case 0xf3:	/* song select */
		return 1;
	case 0xf2:	/* song position */
		return 2;
	case 0xf6:	/* tune request */
	case 0xf8:	/* clock */
	case 0xfa ... 0xfc:	/* start, continue, stop */
	case 0xfe:	/* active sensing */
	case 0xff:	/* reset */
		return 0;
	case 0xc0 ... 0xdf:	/* program, channel pressure */
		return 1;
	case 0x80 ... 0xbf:
	case 0xe0 ... 0xef:
		return 2;
	default:
		return -1;
	}
}

/* Nothing will end what was begun. */
static void midi_give_up(struct midi_parser *parser)
{
	parser->stats.broken += parser->have + parser->fresh;
	parser->have = 0;
	parser->fresh = false;
	parser->status = 0;
}

/* A message of one byte. */
static bool midi_single(struct midi_parser *parser, u8 byte, struct midi_message *message)
{
	*message = (struct midi_message) { .bytes = 1, .byte = { byte } };
	parser->stats.messages++;
	parser->stats.message_bytes++;
	return true;
}

static bool midi_status(struct midi_parser *parser, u8 byte, struct midi_message *message)
{
	bool sysex = parser->sysex;
	int data = midi_data_bytes(byte);

	midi_give_up(parser);
	parser->sysex = byte == SYSEX_BEGIN;
	if (parser->sysex) {
		parser->stats.sysex++;
		parser->stats.sysex_bytes++;
		return false;
	}
	if (byte == SYSEX_END && sysex) {
		parser->stats.sysex_bytes++;
		return false;
	}
	if (data < 0) {
		parser->stats.broken++;
		return false;
	}
	if (!data)
		return midi_single(parser, byte, message);
	parser->status = byte;
	parser->fresh = true;
	return false;
}

bool midi_byte(struct midi_parser *parser, u8 byte, struct midi_message *message)
{
	parser->stats.bytes++;
	if (byte >= REAL_TIME) {
		if (!midi_data_bytes(byte))
			return midi_single(parser, byte, message);
		parser->stats.broken++;
		return false;
	}
	if (byte & 0x80)
		return midi_status(parser, byte, message);
	if (parser->sysex) {
		parser->stats.sysex_bytes++;
		return false;
	}
	if (!parser->status) {
		parser->stats.broken++;
		return false;
	}
	parser->data[parser->have++] = byte;
	if (parser->have < midi_data_bytes(parser->status))
		return false;

	*message = (struct midi_message) {
		.bytes = 1 + parser->have, .byte = { parser->status, parser->data[0] },
	};
	if (parser->have == 2)
		message->byte[2] = parser->data[1];
	parser->stats.messages++;
	parser->stats.message_bytes += parser->have + parser->fresh;
	parser->have = 0;
	parser->fresh = false;
	if (parser->status >= SYSEX_BEGIN)
		parser->status = 0;	/* system messages do not run on */
	return true;
}
