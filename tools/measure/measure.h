/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the measuring program share. */
#ifndef _MEASURE_H
#define _MEASURE_H

#include <stdbool.h>
#include <stdio.h>

#include "figure.h"

#define NS_PER_S 1000000000LL

/* CLOCK_MONOTONIC, ns. */
s64 now_ns(void);

/* Wait for one beat after the other by the means NAME; beats.c has them. */
struct beats {
	const char *name;
	/* The clock that they are on, ns. */
	s64 (*now)(void);
	/* Begin beats of a period; when, by now(). What fails ends the program. */
	s64 (*begin)(s64 period_ns);
	/* Wait for the next one. */
	void (*wait)(s64 period_ns);
	void (*end)(void);
};

extern const struct beats all_beats[];

/* In RT mode: a demotion ends the program, too. */
s64 rtmode_begin(s64 period_ns);
void rtmode_wait(s64 period_ns);
void rtmode_end(void);

/*
 * Start the load @name, whose workers use @dir; what fails ends the program. load_list() prints the
 * names, load_end() stops the workers and prints how many rounds each did.
 */
void load_begin(const char *name, const char *dir);
void load_end(FILE *out);
void load_list(FILE *out);

#endif
