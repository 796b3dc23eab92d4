// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tell the tap loop what to do, word by word, and take its records.
 *
 *	tap_say reset METRON_ON=1 MSPB=500 K:5001:END_EXP=0 start=1 read=FILE
 *
 *	reset               TAP_RESET
 *	NAME=VALUE          TAP_SET; of a time: ms
 *	NAME:INDEX=VALUE    the same, of an array's length (index 0) or element
 *	K|T|M:COUNT:NAME=VALUE   TAP_TRIGGER; numbered 1, 2, ...
 *	start=TRIAL, stop   TAP_START, TAP_STOP
 *	read=FILE           append records to FILE until one of class TAP_DONE or TAP_REFUSED
 *	take=COUNT:FILE     append COUNT records to FILE
 *
 * Exit status: 0; 1 something failed, or a command was refused; 2 usage.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kernel/params.h"

#define SCALAR(name, type, ...) { #name, TAP_P_##name, TAP_TYPE_##type },
#define ARRAY(name, ...) { #name, TAP_P_##name, TAP_TYPE_ARRAY },

static const struct {
	const char *name;
	unsigned int number;
	enum tap_type type;
} params[] = { TAP_SCALARS(SCALAR) TAP_ARRAYS(ARRAY) };

static int to_loop = -1, from_loop = -1;
static unsigned int serial, triggers;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void usage(const char *word)
{
	fprintf(stderr, "tap_say: what is %s?\n", word);
	exit(2);
}

/* "NAME=VALUE" into @command. */
static void assignment(const char *word, struct tap_command *command)
{
	const char *end = strpbrk(word, ":="), *equals = strchr(word, '=');
	size_t length = end ? (size_t)(end - word) : 0;

	if (!equals)
		usage(word);
	for (size_t n = 0; n < sizeof(params) / sizeof(params[0]); n++) {
		if (strlen(params[n].name) != length || memcmp(params[n].name, word, length))
			continue;
		command->param = params[n].number;
		command->value = params[n].type == TAP_TYPE_TIME ?
				 atof(equals + 1) * 1e6 + 0.5 : atoll(equals + 1);
		if (*end == ':')
			command->index = atoi(end + 1);
		return;
	}
	usage(word);
}

static void say(struct tap_command *command)
{
	command->magic = TAP_MAGIC;
	command->serial = ++serial;
	if (to_loop < 0)
		to_loop = open("/dev/rtf/" TAP_FIFO_COMMANDS, O_WRONLY);
	if (to_loop < 0 || write(to_loop, command, sizeof(*command)) != sizeof(*command))
		die("/dev/rtf/" TAP_FIFO_COMMANDS);
}

/* Until a record ends it, or @most have come. */
static int take(const char *name, long most)
{
	int file = open(name, O_WRONLY | O_CREAT | O_APPEND, 0644);
	struct tap_record records[256];

	if (from_loop < 0)
		from_loop = open("/dev/rtf/" TAP_FIFO_EVENTS, O_RDONLY);
	if (file < 0 || from_loop < 0)
		die(name);
	while (most) {
		size_t want = most < 0 || most > 256 ? 256 : most;
		ssize_t got = read(from_loop, records, want * sizeof(records[0]));

		if (got <= 0)
			die("/dev/rtf/" TAP_FIFO_EVENTS);
		if (write(file, records, got) != got)
			die(name);
		got /= sizeof(records[0]);
		if (most > 0)
			most -= got;
		for (ssize_t n = 0; n < got; n++) {
			const struct tap_record *record = &records[n];

			if (record->class == TAP_REFUSED) {
				fprintf(stderr, "tap_say: word %u is refused: %s (%u, %u)\n",
					record->source, strerror(-record->value), record->param,
					record->index);
				return 1;
			}
			if (record->class == TAP_DONE && most < 0)
				most = 0;
		}
	}
	close(file);
	return 0;
}

int main(int argc, char **argv)
{
	int status = 0;

	for (int n = 1; n < argc && !status; n++) {
		struct tap_command command = { 0 };
		char *word = argv[n];

		if (!strncmp(word, "read=", 5)) {
			status = take(word + 5, -1);
			continue;
		}
		if (!strncmp(word, "take=", 5)) {
			char *file = strchr(word, ':');

			if (!file)
				usage(word);
			status = take(file + 1, atol(word + 5));
			continue;
		}
		if (!strcmp(word, "reset")) {
			command.op = TAP_RESET;
		} else if (!strcmp(word, "stop")) {
			command.op = TAP_STOP;
		} else if (!strncmp(word, "start=", 6)) {
			command.op = TAP_START;
			command.value = atoll(word + 6);
		} else if (word[0] && strchr("KTM", word[0]) && word[1] == ':') {
			char *name = strchr(word + 2, ':');

			if (!name)
				usage(word);
			command.op = TAP_TRIGGER;
			assignment(name + 1, &command);
			command.kind = word[0] == 'K' ? TAP_AT_KEYSTROKE :
				       word[0] == 'T' ? TAP_AT_TIME : TAP_AT_BEAT;
			command.count = atoll(word + 2);
			command.index = ++triggers;
		} else {
			command.op = TAP_SET;
			assignment(word, &command);
		}
		say(&command);
	}
	return status;
}
