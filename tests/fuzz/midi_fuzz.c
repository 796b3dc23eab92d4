// SPDX-License-Identifier: GPL-2.0-only
/*
 * The MIDI parser on any bytes: every byte is accounted for, every message is well-formed, what was
 * understood says the same when it is read again, and a message with its status always gets through.
 */
#include <stdlib.h>

#include "examples/tap/kernel/midi.c"

#define CHECK(cond)							\
	do {								\
		if (!(cond))						\
			abort();					\
	} while (0)

static void check_message(const struct midi_message *m)
{
	CHECK(m->byte[0] & 0x80);
	CHECK(m->bytes == 1 + midi_data_bytes(m->byte[0]));
	for (unsigned int i = 1; i < 3; i++)
		CHECK(!(m->byte[i] & 0x80) && (i < m->bytes || !m->byte[i]));
	CHECK(!(midi_press(m) && midi_release(m)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const u8 whole[] = { 0x95, 33, 44 };
	struct midi_message message, again;
	struct midi_parser parser, fresh;
	const struct midi_stats *s = &parser.stats;
	bool came = false;

	midi_init(&parser);
	for (size_t i = 0; i < size; i++) {
		u64 before = s->messages;

		came = midi_byte(&parser, data[i], &message);
		CHECK(s->bytes == i + 1);
		CHECK(s->bytes == s->message_bytes + s->sysex_bytes + s->broken + parser.have +
		      parser.fresh);
		CHECK(s->messages == before + came);
		if (!came)
			continue;
		check_message(&message);
		midi_init(&fresh);
		for (unsigned int j = 0; j < message.bytes; j++)
			CHECK(midi_byte(&fresh, message.byte[j], &again) == (j + 1 == message.bytes));
		CHECK(!memcmp(&message, &again, sizeof(message)));
	}
	for (unsigned int j = 0; j < sizeof(whole); j++)
		came = midi_byte(&parser, whole[j], &message);
	CHECK(came && message.bytes == 3 && !memcmp(message.byte, whole, 3));
	return 0;
}
