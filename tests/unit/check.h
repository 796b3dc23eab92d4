/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The whole test library of the host unit tests: a check that says where it failed.
 *
 * A test is a program: it includes the pure .c files it tests, checks, and returns 0.
 * The sanitizers it is built with end it on their own account.
 */
#ifndef _TACTUS_CHECK_H
#define _TACTUS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

/* Always evaluated, NDEBUG or not: @cond may do the work that is tested. */
#define CHECK(cond)							\
	do {								\
		if (!(cond)) {						\
			fprintf(stderr, "%s:%d: %s\n",			\
				__FILE__, __LINE__, #cond);		\
			exit(1);					\
		}							\
	} while (0)

/* For integers: also says what they were. */
#define CHECK_EQ(got, want)						\
	do {								\
		long long got_ = (long long)(got);			\
		long long want_ = (long long)(want);			\
									\
		if (got_ != want_) {					\
			fprintf(stderr, "%s:%d: %s is %lld, not %lld (%s)\n", \
				__FILE__, __LINE__, #got, got_, want_, #want); \
			exit(1);					\
		}							\
	} while (0)

#endif
