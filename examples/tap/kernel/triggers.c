// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers: a parameter gets a value when keystrokes, beats or ms have come to a count.
 *
 * What is counted is handled before what it triggers. Triggers of one count take effect in the
 * order in which they were added.
 */
#include "parts.h"

static const struct tap_trigger *trigger_at(const struct tap_engine *e, unsigned int list,
					    unsigned int i)
{
	return &e->params->trigger[e->trigger[list][i]];
}

/* By count; the sort keeps the order of equals, and their number is small. */
void tap_triggers_sort(struct tap_engine *e)
{
	memset(e->triggers, 0, sizeof(e->triggers));
	memset(e->fired, 0, sizeof(e->fired));
	for (unsigned int i = 0; i < e->params->triggers; i++) {
		const struct tap_trigger *t = &e->params->trigger[i];
		unsigned int list = t->kind - TAP_AT_KEYSTROKE;
		unsigned int at = e->triggers[list]++;

		for (; at && trigger_at(e, list, at - 1)->count > t->count; at--)
			e->trigger[list][at] = e->trigger[list][at - 1];
		e->trigger[list][at] = i;
	}
}

static u64 trigger_ns(const struct tap_engine *e, const struct tap_trigger *t)
{
	return e->start_ns + t->count * TAP_NS_PER_MS;
}

u64 tap_triggers_next(const struct tap_engine *e)
{
	unsigned int list = TAP_AT_TIME - TAP_AT_KEYSTROKE;

	if (e->fired[list] == e->triggers[list])
		return TAP_NEVER;
	return trigger_ns(e, trigger_at(e, list, e->fired[list]));
}

static void apply(struct tap_engine *e, const struct tap_trigger *t, u64 at_ns, u64 now_ns,
		  u32 source)
{
	struct tap_record record = {
		.class = TAP_TRIGGERED, .source = source, .param = t->param, .index = t->number,
		.value = t->value, .scheduled_ns = tap_relative(e, at_ns),
		.actual_ns = tap_relative(e, now_ns), .wire_ns = tap_relative(e, now_ns),
	};

	tap_engine_record(e, &record);
	if (t->param == TAP_P_END_EXP) {
		tap_engine_stop(e, at_ns, TAP_BY_TRIGGER);
		return;
	}
	e->value[t->param] = t->value;
	if (t->param == TAP_P_SEED)
		tap_random_seed(e, t->value);
	tap_beats_changed(e, t->param, at_ns);
}

void tap_triggers_fire(struct tap_engine *e, enum tap_kind kind, s64 count, u64 at_ns, u64 now_ns,
		       u32 source)
{
	unsigned int list = kind - TAP_AT_KEYSTROKE;

	while (e->state == TAP_ENGINE_RUNNING && e->fired[list] < e->triggers[list] &&
	       trigger_at(e, list, e->fired[list])->count <= count)
		apply(e, trigger_at(e, list, e->fired[list]++), at_ns, now_ns, source);
}
