// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parameter file's reader on any text: it never reads or writes beside what it was given, and
 * what it takes the loop takes as well, to the same values, and runs.
 */
#include <stdlib.h>

#include "examples/tap/tests/tap.h"
#include "examples/tap/host/tapfile.c"

#define CHECK(cond)							\
	do {								\
		if (!(cond))						\
			abort();					\
	} while (0)

static bool count_record(void *context, const struct tap_record *record)
{
	CHECK(record->class && record->class < TAP_CLASSES);
	++*(u64 *)context;
	return true;
}

/* The first moments of the trial, with a key going down and up; then it is stopped. */
static void run(const struct tap_params *params)
{
	static const struct midi_message press = { 3, { 0x90, 60, 64 } }, release = { 3, { 0x80, 60 } };
	static struct tap_engine engine;
	u64 records = 0, now = 1000;
	struct tap_sink sink = { .put = count_record, .context = &records };
	struct tap_out out;

	tap_engine_init(&engine, params, &sink);
	tap_engine_start(&engine, 1, now);
	tap_engine_message(&engine, &press, now);
	for (unsigned int pass = 0; pass < 20; pass++) {
		u64 next = tap_engine_next(&engine);

		if (pass == 10)
			tap_engine_message(&engine, &release, now);
		if (next != TAP_NEVER && next > now)
			now = next;
		tap_engine_pass(&engine, now);
		while (tap_engine_due(&engine, now, &out)) {
			CHECK(out.due_ns <= now);
			tap_engine_sent(&engine, &out, now, now);
		}
	}
	tap_engine_stop(&engine, now, TAP_BY_STOP);
	while (tap_engine_due(&engine, now, &out))
		tap_engine_sent(&engine, &out, now, now);
	for (unsigned int note = 0; note < MIDI_CHANNELS * MIDI_NOTES; note++)
		CHECK(!engine.sounding[note / MIDI_NOTES][note % MIDI_NOTES]);
	tap_engine_finish(&engine, now);
	CHECK(tap_engine_state(&engine) == TAP_ENGINE_FINISHED && records == engine.sequence);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tap_command commands[TAPFILE_COMMANDS];
	static struct tap_params params;
	static struct tapfile file;
	static FILE *nowhere;
	unsigned int count, other;
	char *text = malloc(size);	/* of exactly this size: a byte too far is seen */

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	CHECK(nowhere && (text || !size));
	if (size)
		memcpy(text, data, size);
	/* Wording complaints takes most of the time: a 32nd of the inputs is enough. */
	if (tapfile_read(&file, "fuzz", text, size, size % 32 ? NULL : nowhere)) {
		count = tapfile_commands(&file, commands);
		CHECK(count <= TAPFILE_COMMANDS);
		for (unsigned int i = 0; i < count; i++)
			CHECK(!tap_params_command(&params, &commands[i]));
		CHECK(tap_params_check(&params, &other) == TAP_P_NONE);
		CHECK(!memcmp(params.value, file.params.value, sizeof(params.value)));
		CHECK(!memcmp(params.list, file.params.list, sizeof(params.list)));
		CHECK(params.triggers == file.params.triggers);
		run(&params);
	}
	free(text);
	return 0;
}
