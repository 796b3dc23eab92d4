/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a trial's parameter file (docs/tap-language.md) into what the tap loop takes.
 *
 * The text is bytes from anywhere: nothing in it can do more than be complained about.
 */
#ifndef _TAPFILE_H
#define _TAPFILE_H

#include <stdio.h>

#include "../kernel/params.h"

#define TAPFILE_STRINGS (TAP_PARAMS - TAP_P_ARRAYS_END)
#define TAPFILE_STRING_MAX 200
#define TAPFILE_MOST_ERRORS 20
#define TAPFILE_MOST_BYTES (1 << 20)

struct tapfile {
	struct tap_params params;
	char string[TAPFILE_STRINGS][TAPFILE_STRING_MAX + 1];
	unsigned int line[TAP_PARAMS];			/* where it is set, from 1; 0: nowhere */
	unsigned int column[TAP_PARAMS];
	unsigned int trigger_line[TAP_TRIGGERS_MAX];
	unsigned int errors;
	unsigned int warnings;

	/* private: while it reads */
	const char *name;
	FILE *complaints;
	const char *text, *text_end;
	const char *begin, *end;		/* of the line */
	const char *at;				/* what is read next */
	unsigned int number;			/* of the line */
};

/**
 * tapfile_read - read a whole file
 * @file: what was in it; of use only if it has no errors
 * @name: the file's, for complaints
 * @text: its bytes
 * @size: how many; more than TAPFILE_MOST_BYTES are an error
 * @complaints: where to write errors and warnings; NULL: nowhere
 *
 * Return: whether there was no error.
 */
bool tapfile_read(struct tapfile *file, const char *name, const char *text, size_t size,
		  FILE *complaints);

/* Its parameters as commands, TAP_RESET first; how many. At most TAPFILE_COMMANDS. */
#define TAPFILE_COMMANDS (1 + TAP_P_SCALARS + TAP_LISTS * (1 + TAP_ARRAY_MAX) + TAP_TRIGGERS_MAX)
unsigned int tapfile_commands(const struct tapfile *file, struct tap_command *commands);

/* print.c: everything that programs want to know, and the reference's tables. */
void print_json(const struct tapfile *file, FILE *to);
void print_describe(FILE *to);
void print_reference(FILE *to);
/* A line of text; false: it could not be written. */
bool print_event(const struct tap_record *r, FILE *to);

/* dryrun.c: the trial with a clock of its own; reads "NS HEX HEX HEX" lines of input. */
struct dryrun {
	u64 pass_ns;		/* between passes of the loop; 0: one whenever something is due */
	u64 until_ns;		/* then it is stopped */
	bool records;		/* print struct tap_record, not text */
};

/* Return: 0, or 1 after a complaint on stderr. */
int dryrun(const struct tapfile *file, const struct dryrun *how, FILE *input, FILE *to);

#endif
