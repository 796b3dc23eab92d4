// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trial without the executive: the same engine, a clock that jumps, input from a list, and an
 * output of endless speed. It says what a trial would do, and nothing of how exactly.
 */
#include <stdlib.h>

#include "../kernel/engine.h"
#include "tapfile.h"

struct dry {
	struct tap_engine engine;
	struct midi_parser parser;
	const struct dryrun *how;
	FILE *to;
	u64 now_ns;
	u64 last_pass_ns;
};

static bool print_record(void *context, const struct tap_record *r)
{
	struct dry *d = context;

	if (d->how->records)
		return fwrite(r, sizeof(*r), 1, d->to) == 1;
	return print_event(r, d->to);
}

static void pass(struct dry *d)
{
	struct tap_out out;

	d->last_pass_ns = d->now_ns;
	tap_engine_pass(&d->engine, d->now_ns);
	while (tap_engine_due(&d->engine, d->now_ns, &out)) {
		tap_engine_sent(&d->engine, &out, d->now_ns, d->now_ns);
		d->engine.figure[TAP_FIG_BYTES_OUT] += out.bytes;
	}
	if (tap_engine_state(&d->engine) != TAP_ENGINE_OVER)
		return;
	tap_engine_count(&d->engine, TAP_FIG_BYTES_IN, d->parser.stats.bytes);
	tap_engine_count(&d->engine, TAP_FIG_BYTES_BROKEN, d->parser.stats.broken);
	tap_engine_count(&d->engine, TAP_FIG_SYSEX, d->parser.stats.sysex);
	tap_engine_count(&d->engine, TAP_FIG_SYSEX_BYTES, d->parser.stats.sysex_bytes);
	tap_engine_finish(&d->engine, d->now_ns);
}

/* Passes up to @until_ns, where the clock stands afterwards. */
static void run(struct dry *d, u64 until_ns)
{
	for (;;) {
		u64 next = tap_engine_next(&d->engine);

		if (next == TAP_NEVER)
			break;
		if (d->how->pass_ns)
			next = d->last_pass_ns + d->how->pass_ns;
		else if (next < d->now_ns)
			next = d->now_ns;
		if (next > until_ns)
			break;
		d->now_ns = next;
		pass(d);
	}
	if (until_ns > d->now_ns)
		d->now_ns = until_ns;
}

static int bad_line(unsigned int number, const char *line)
{
	fprintf(stderr, "tactus-tapfile: input line %u is no \"NS BYTE...\", later than the one "
		"before: %s", number, line);
	return 1;
}

static int feed(struct dry *d, FILE *input)
{
	struct midi_message message;
	unsigned int number = 0;
	u64 last_ns = 0;
	char line[256];

	while (fgets(line, sizeof(line), input)) {
		char *at, *end;
		u64 ns = strtoull(line, &at, 10);

		number++;
		if (line[0] < '0' || line[0] > '9' || ns < last_ns)
			return bad_line(number, line);
		last_ns = ns;
		if (ns > d->how->until_ns)
			return 0;
		run(d, ns);
		for (;; at = end) {
			unsigned long byte = strtoul(at, &end, 16);

			if (end == at)
				break;
			if (byte > 0xff)
				return bad_line(number, line);
			if (midi_byte(&d->parser, byte, &message))
				tap_engine_message(&d->engine, &message, ns);
		}
		if (*at != '\n' && *at)
			return bad_line(number, line);
		if (!d->how->pass_ns)
			pass(d);
	}
	return 0;
}

int dryrun(const struct tapfile *file, const struct dryrun *how, FILE *input, FILE *to)
{
	struct dry *d = calloc(1, sizeof(*d));
	struct tap_sink sink = { .put = print_record, .context = d };
	int ret;

	if (!d) {
		fputs("tactus-tapfile: no memory\n", stderr);
		return 1;
	}
	d->how = how;
	d->to = to;
	tap_engine_init(&d->engine, &file->params, &sink);
	tap_engine_start(&d->engine, 1, 0);
	ret = feed(d, input);
	if (!ret) {
		run(d, how->until_ns);
		tap_engine_stop(&d->engine, how->until_ns, TAP_BY_STOP);
		pass(d);
	}
	free(d);
	return ret;
}
