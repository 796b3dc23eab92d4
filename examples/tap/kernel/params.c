// SPDX-License-Identifier: GPL-2.0-only
/* See params.h. */
#include "params.h"

#define SCALE_INT 1
#define SCALE_TIME TAP_NS_PER_MS
#define SCALE_END 1
#define SCALAR_ROW(id, kind, low, high, usual, only, text)				\
	[TAP_P_##id] = {								\
		.name = #id, .type = TAP_TYPE_##kind, .least = (low) * SCALE_##kind,	\
		.most = (high) * SCALE_##kind, .preset = (usual) * SCALE_##kind,	\
		.allowed = only, .help = text,						\
	},
#define ARRAY_ROW(id, low, high, text)							\
	[TAP_P_##id] = {								\
		.name = #id, .type = TAP_TYPE_ARRAY, .least = low, .most = high, .help = text, \
	},
#define STRING_ROW(id, text)								\
	[TAP_P_##id] = { .name = #id, .type = TAP_TYPE_STRING, .help = text },

const struct tap_param_info tap_param_info[TAP_PARAMS] = {
	TAP_SCALARS(SCALAR_ROW)
	TAP_ARRAYS(ARRAY_ROW)
	TAP_STRINGS(STRING_ROW)
};

void tap_params_reset(struct tap_params *params)
{
	memset(params, 0, sizeof(*params));
	for (unsigned int p = 1; p < TAP_P_SCALARS; p++)
		params->value[p] = tap_param_info[p].preset;
}

static bool is_scalar(unsigned int param)
{
	return param > TAP_P_NONE && param < TAP_P_SCALARS;
}

static bool is_array(unsigned int param)
{
	return param >= TAP_P_SCALARS && param < TAP_P_ARRAYS_END;
}

int tap_value_check(unsigned int param, s64 value)
{
	const struct tap_param_info *info;

	if (!is_scalar(param) && !is_array(param))
		return -EINVAL;
	info = &tap_param_info[param];
	if (value < info->least || value > info->most)
		return -ERANGE;
	if (info->allowed && !(info->allowed >> value & 1))
		return -ERANGE;
	return 0;
}

static int set_length(struct tap_list *list, s64 least, s64 count)
{
	if (count < 0 || count > TAP_ARRAY_MAX)
		return -ERANGE;
	for (s64 i = list->count; i < count; i++)
		list->element[i] = least;
	list->count = count;
	return 0;
}

int tap_params_set(struct tap_params *params, unsigned int param, unsigned int index, s64 value)
{
	int ret;

	if (is_array(param)) {
		struct tap_list *list = tap_params_list(params, param);

		if (!index)
			return set_length(list, tap_param_info[param].least, value);
		if (index > list->count)
			return -EINVAL;
		ret = tap_value_check(param, value);
		if (!ret)
			list->element[index - 1] = value;
		return ret;
	}
	if (index || !is_scalar(param) || tap_param_info[param].type == TAP_TYPE_END)
		return -EINVAL;
	ret = tap_value_check(param, value);
	if (!ret)
		params->value[param] = value;
	return ret;
}

int tap_params_trigger(struct tap_params *params, const struct tap_trigger *trigger)
{
	s64 least;
	int ret;

	if (trigger->kind < TAP_AT_KEYSTROKE || trigger->kind > TAP_AT_BEAT ||
	    !is_scalar(trigger->param))
		return -EINVAL;
	for (unsigned int i = 0; i < params->triggers; i++)
		if (params->trigger[i].number == trigger->number)
			return -EINVAL;
	least = trigger->kind == TAP_AT_TIME ? 0 : 1;
	if (trigger->count < least || trigger->count > TAP_COUNT_MOST)
		return -ERANGE;
	if (tap_param_info[trigger->param].type != TAP_TYPE_END) {
		ret = tap_value_check(trigger->param, trigger->value);
		if (ret)
			return ret;
	}
	if (params->triggers == TAP_TRIGGERS_MAX)
		return -ENOSPC;
	params->trigger[params->triggers++] = *trigger;
	return 0;
}

int tap_params_command(struct tap_params *params, const struct tap_command *command)
{
	struct tap_trigger trigger = {
		.number = command->index, .kind = command->kind, .param = command->param,
		.count = command->count, .value = command->value,
	};

	if (command->magic != TAP_MAGIC || command->reserved)
		return -EINVAL;
	switch (command->op) {
	case TAP_RESET:
		tap_params_reset(params);
		return 0;
	case TAP_SET:
		if (command->kind || command->count)
			return -EINVAL;
		return tap_params_set(params, command->param, command->index, command->value);
	case TAP_TRIGGER:
		return tap_params_trigger(params, &trigger);
	default:
		return -EINVAL;
	}
}

/* Is or becomes scalar @param @value? */
static bool ever(const struct tap_params *params, unsigned int param, s64 value)
{
	if (params->value[param] == value)
		return true;
	for (unsigned int i = 0; i < params->triggers; i++)
		if (params->trigger[i].param == param && params->trigger[i].value == value)
			return true;
	return false;
}

unsigned int tap_params_check(const struct tap_params *params, unsigned int *other)
{
	static const u16 pairs[][2] = {
		{ TAP_P_FEED_PMIN, TAP_P_FEED_PMAX }, { TAP_P_FEED_VMIN, TAP_P_FEED_VMAX },
		{ TAP_P_FEED_LMIN, TAP_P_FEED_LMAX }, { TAP_P_FEED_DMIN, TAP_P_FEED_DMAX },
		{ TAP_P_FEED2_PMIN, TAP_P_FEED2_PMAX }, { TAP_P_FEED2_VMIN, TAP_P_FEED2_VMAX },
		{ TAP_P_FEED2_LMIN, TAP_P_FEED2_LMAX }, { TAP_P_FEED2_DMIN, TAP_P_FEED2_DMAX },
		{ TAP_P_MASK_NMIN, TAP_P_MASK_NMAX },
	}, needs[][2] = {	/* in mode 4 */
		{ TAP_P_FEED_PMODE, TAP_P_FEED_NOTE_ARRAY },
		{ TAP_P_FEED2_PMODE, TAP_P_FEED2_NOTE_ARRAY },
	};

	for (unsigned int i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (params->value[pairs[i][0]] > params->value[pairs[i][1]]) {
			*other = pairs[i][1];
			return pairs[i][0];
		}
	for (unsigned int i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (ever(params, needs[i][0], 4) &&
		    !params->list[needs[i][1] - TAP_P_SCALARS].count) {
			*other = needs[i][1];
			return needs[i][0];
		}
	*other = TAP_P_NONE;
	return TAP_P_NONE;
}
