/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parameters of a trial: their table (param_table.h), and a set of their values.
 *
 * Pure: no kernel in it. A set is always valid one by one: what is out of range never gets in.
 */
#ifndef _TAP_PARAMS_H
#define _TAP_PARAMS_H

#include <rt/pure.h>
#include "param_table.h"
#include "tap.h"

#define TAP_NS_PER_MS 1000000LL
#define TAP_ARRAY_MAX 128
#define TAP_TRIGGERS_MAX 128
#define TAP_COUNT_MOST 1000000000LL	/* of a trigger: keystrokes, beats, ms */

#define TAP_ENUM_(name, ...) TAP_P_##name,
/* Numbers in commands and records. Scalars come first, then arrays, then strings. */
enum tap_param {
	TAP_P_NONE,
	TAP_SCALARS(TAP_ENUM_)
	TAP_P_SCALARS,
	TAP_P_BEFORE_ARRAYS_ = TAP_P_SCALARS - 1,
	TAP_ARRAYS(TAP_ENUM_)
	TAP_P_ARRAYS_END,
	TAP_P_BEFORE_STRINGS_ = TAP_P_ARRAYS_END - 1,
	TAP_STRINGS(TAP_ENUM_)
	TAP_PARAMS,
};

#undef TAP_ENUM_

#define TAP_LISTS (TAP_P_ARRAYS_END - TAP_P_SCALARS)

enum tap_type {
	TAP_TYPE_NONE,
	TAP_TYPE_INT,
	TAP_TYPE_TIME,		/* ms in files, up to six places after the point; ns in values */
	TAP_TYPE_ARRAY,		/* of integers */
	TAP_TYPE_STRING,	/* unknown to the loop */
	TAP_TYPE_END,		/* END_EXP: only a trigger may set it */
};

/* A row of the table. */
struct tap_param_info {
	const char *name;
	enum tap_type type;
	s64 least;		/* of a time: ns; of an array: of its elements */
	s64 most;
	s64 preset;
	u32 allowed;		/* mask of the values that are; 0: all from least to most */
	const char *help;
};

extern const struct tap_param_info tap_param_info[TAP_PARAMS];

struct tap_list {
	u16 count;
	s16 element[TAP_ARRAY_MAX];
};

struct tap_trigger {
	u16 number;		/* the file's name for it */
	u8 kind;		/* enum tap_kind */
	u16 param;
	s64 count;		/* of a time: ms */
	s64 value;
};

struct tap_params {
	s64 value[TAP_P_SCALARS];
	struct tap_list list[TAP_LISTS];
	u16 triggers;
	struct tap_trigger trigger[TAP_TRIGGERS_MAX];
};

/** tap_params_reset - every parameter to its preset, no triggers. Context: any. */
void tap_params_reset(struct tap_params *params);

/** tap_params_list - the values of array @param. Context: any. */
static inline struct tap_list *tap_params_list(struct tap_params *params, unsigned int param)
{
	return &params->list[param - TAP_P_SCALARS];
}

/**
 * tap_value_check - may @param have @value?
 * @param: a number of any kind
 * @value: of a scalar, or of an element of an array; of a time: ns
 *
 * Context: any.
 * Return: 0, -EINVAL (no such parameter, or neither scalar nor array), -ERANGE.
 */
int tap_value_check(unsigned int param, s64 value);

/**
 * tap_params_set - set one value
 * @params: a set
 * @param: a scalar other than END_EXP, or an array
 * @index: 0; of an array: 0 for its length (new elements are its least value), or 1 to its length
 * @value: of a time: ns
 *
 * Context: any.
 * Return: 0, -EINVAL (@param, @index), -ERANGE (@value); on an error nothing has changed.
 */
int tap_params_set(struct tap_params *params, unsigned int param, unsigned int index, s64 value);

/**
 * tap_params_trigger - add a trigger
 * @params: a set
 * @trigger: what to add; its param is a scalar
 *
 * Context: any.
 * Return: 0, -EINVAL (kind, param, or a number there is), -ERANGE (count, value), -ENOSPC (full);
 * on an error nothing has changed.
 */
int tap_params_trigger(struct tap_params *params, const struct tap_trigger *trigger);

/**
 * tap_params_command - do what a TAP_RESET, TAP_SET or TAP_TRIGGER says
 * @params: a set
 * @command: as it came, unchecked
 *
 * Context: any.
 * Return: 0, -EINVAL (magic, op, or what was asked for), -ERANGE, -ENOSPC; on an error nothing has
 * changed.
 */
int tap_params_command(struct tap_params *params, const struct tap_command *command);

/**
 * tap_params_check - do the values fit one another?
 * @params: a set
 * @other: where to put the parameter that @param conflicts with, TAP_P_NONE if none
 *
 * They do not: a least value above its greatest; a pitch mode, maybe a trigger's, that needs an
 * array there is not. Least and greatest values that triggers set are taken in their order of size.
 *
 * Context: any.
 * Return: TAP_P_NONE if they do, or a parameter that does not.
 */
unsigned int tap_params_check(const struct tap_params *params, unsigned int *other);

#endif
