// SPDX-License-Identifier: GPL-2.0-only
/* The table of parameters, sets of values, commands, and the queue of what is to be sent. */
#include "check.h"
#include "examples/tap/kernel/params.c"
#include "examples/tap/kernel/queue.c"

static struct tap_params set, before;

static void test_table(void)
{
	unsigned int scalars = 0, arrays = 0;

	tap_params_reset(&set);
	for (unsigned int p = 1; p < TAP_PARAMS; p++) {
		const struct tap_param_info *info = &tap_param_info[p];

		CHECK(info->name && info->help && info->type);
		CHECK(info->least <= info->most);
		for (unsigned int q = 1; q < p; q++)
			CHECK(strcmp(info->name, tap_param_info[q].name));
		if (p < TAP_P_SCALARS) {
			scalars++;
			CHECK_EQ(tap_value_check(p, info->preset), 0);
			CHECK_EQ(set.value[p], info->preset);
		} else if (p < TAP_P_ARRAYS_END) {
			arrays++;
			CHECK_EQ(info->type, TAP_TYPE_ARRAY);
			CHECK_EQ(tap_params_list(&set, p)->count, 0);
		} else {
			CHECK_EQ(info->type, TAP_TYPE_STRING);
			CHECK_EQ(tap_params_set(&set, p, 0, 0), -EINVAL);
		}
	}
	CHECK_EQ(scalars, TAP_P_SCALARS - 1);
	CHECK_EQ(arrays, TAP_LISTS);
	CHECK_EQ(tap_param_info[TAP_P_MSPB].preset, 500 * TAP_NS_PER_MS);
	CHECK_EQ(tap_param_info[TAP_P_MSPB].least, TAP_NS_PER_MS);
	CHECK_EQ(tap_param_info[TAP_P_MSPB].most, 3600000 * TAP_NS_PER_MS);
	CHECK_EQ(tap_params_check(&set, &arrays), TAP_P_NONE);
}

/* @call fails with @error and leaves the set as it was. */
#define REFUSED(call, error)						\
	do {								\
		before = set;						\
		CHECK_EQ(call, error);					\
		CHECK(!memcmp(&set, &before, sizeof(set)));		\
	} while (0)

static void test_set(void)
{
	tap_params_reset(&set);
	for (unsigned int p = TAP_P_END_EXP + 1; p < TAP_P_SCALARS; p++) {
		const struct tap_param_info *info = &tap_param_info[p];

		CHECK_EQ(tap_params_set(&set, p, 0, info->least), 0);
		CHECK_EQ(set.value[p], info->least);
		CHECK_EQ(tap_params_set(&set, p, 0, info->most), 0);
		CHECK_EQ(set.value[p], info->most);
		REFUSED(tap_params_set(&set, p, 0, info->least - 1), -ERANGE);
		REFUSED(tap_params_set(&set, p, 0, info->most + 1), -ERANGE);
		REFUSED(tap_params_set(&set, p, 1, info->least), -EINVAL);
	}
	REFUSED(tap_params_set(&set, TAP_P_FEED_ON, 0, 2), -ERANGE);
	REFUSED(tap_params_set(&set, TAP_P_END_EXP, 0, 0), -EINVAL);
	REFUSED(tap_params_set(&set, TAP_P_NONE, 0, 0), -EINVAL);
	REFUSED(tap_params_set(&set, TAP_PARAMS, 0, 0), -EINVAL);
	REFUSED(tap_params_set(&set, 0xffff, 0, 0), -EINVAL);
}

static void test_arrays(void)
{
	struct tap_list *list = tap_params_list(&set, TAP_P_MET_CHAN_ARRAY);

	tap_params_reset(&set);
	REFUSED(tap_params_set(&set, TAP_P_MET_CHAN_ARRAY, 1, 5), -EINVAL);
	REFUSED(tap_params_set(&set, TAP_P_MET_CHAN_ARRAY, 0, TAP_ARRAY_MAX + 1), -ERANGE);
	REFUSED(tap_params_set(&set, TAP_P_MET_CHAN_ARRAY, 0, -1), -ERANGE);
	CHECK_EQ(tap_params_set(&set, TAP_P_MET_CHAN_ARRAY, 0, 3), 0);
	CHECK_EQ(tap_params_set(&set, TAP_P_MET_CHAN_ARRAY, 3, 16), 0);
	REFUSED(tap_params_set(&set, TAP_P_MET_CHAN_ARRAY, 3, 17), -ERANGE);
	REFUSED(tap_params_set(&set, TAP_P_MET_CHAN_ARRAY, 4, 1), -EINVAL);
	CHECK_EQ(list->count, 3);
	CHECK_EQ(list->element[0], 1);
	CHECK_EQ(list->element[2], 16);
}

static void test_triggers(void)
{
	struct tap_trigger t = { .number = 1, .kind = TAP_AT_BEAT, .param = TAP_P_FEED_ON,
				 .count = 32, .value = 1 };

	tap_params_reset(&set);
	CHECK_EQ(tap_params_trigger(&set, &t), 0);
	REFUSED(tap_params_trigger(&set, &t), -EINVAL);		/* the number is taken */
	t.number = 2;
	t.value = 2;
	REFUSED(tap_params_trigger(&set, &t), -ERANGE);
	t.value = 1;
	t.count = 0;
	REFUSED(tap_params_trigger(&set, &t), -ERANGE);
	t.kind = TAP_AT_TIME;
	CHECK_EQ(tap_params_trigger(&set, &t), 0);
	t.number = 3;
	t.kind = 4;
	REFUSED(tap_params_trigger(&set, &t), -EINVAL);
	t.kind = 0;
	REFUSED(tap_params_trigger(&set, &t), -EINVAL);
	t.kind = TAP_AT_TIME;
	t.param = TAP_P_MET_PATTERN_ARRAY;
	REFUSED(tap_params_trigger(&set, &t), -EINVAL);
	t.param = TAP_P_END_EXP;
	t.value = 12345;	/* does not count */
	CHECK_EQ(tap_params_trigger(&set, &t), 0);
	while (set.triggers < TAP_TRIGGERS_MAX) {
		t.number++;
		CHECK_EQ(tap_params_trigger(&set, &t), 0);
	}
	t.number++;
	REFUSED(tap_params_trigger(&set, &t), -ENOSPC);
}

static void test_commands(void)
{
	struct tap_command c = { .magic = TAP_MAGIC, .op = TAP_SET, .param = TAP_P_MSPB,
				 .value = 250 * TAP_NS_PER_MS };

	CHECK_EQ(sizeof(struct tap_record), 64);
	CHECK_EQ(sizeof(struct tap_command), 32);
	tap_params_reset(&set);
	CHECK_EQ(tap_params_command(&set, &c), 0);
	CHECK_EQ(set.value[TAP_P_MSPB], 250 * TAP_NS_PER_MS);
	c.kind = 1;
	REFUSED(tap_params_command(&set, &c), -EINVAL);
	c.kind = 0;
	c.magic++;
	REFUSED(tap_params_command(&set, &c), -EINVAL);
	c.magic--;
	c.reserved = 1;
	REFUSED(tap_params_command(&set, &c), -EINVAL);
	c.reserved = 0;
	for (unsigned int op = TAP_START; op <= 255; op++) {
		c.op = op;
		REFUSED(tap_params_command(&set, &c), -EINVAL);
	}
	c.op = TAP_RESET;
	CHECK_EQ(tap_params_command(&set, &c), 0);
	CHECK_EQ(set.value[TAP_P_MSPB], 500 * TAP_NS_PER_MS);
}

static void test_what_does_not_fit(void)
{
	struct tap_trigger t = { .number = 1, .kind = TAP_AT_TIME, .param = TAP_P_FEED2_PMODE,
				 .value = 4 };
	unsigned int other;

	tap_params_reset(&set);
	CHECK_EQ(tap_params_set(&set, TAP_P_FEED_DMIN, 0, 501 * TAP_NS_PER_MS), 0);
	CHECK_EQ(tap_params_check(&set, &other), TAP_P_FEED_DMIN);
	CHECK_EQ(other, TAP_P_FEED_DMAX);
	tap_params_reset(&set);
	CHECK_EQ(tap_params_trigger(&set, &t), 0);
	CHECK_EQ(tap_params_check(&set, &other), TAP_P_FEED2_PMODE);
	CHECK_EQ(other, TAP_P_FEED2_NOTE_ARRAY);
	CHECK_EQ(tap_params_set(&set, TAP_P_FEED2_NOTE_ARRAY, 0, 1), 0);
	CHECK_EQ(tap_params_check(&set, &other), TAP_P_NONE);
}

/* Against a search for the least (time, order) among all that are in. */
static void test_queue(void)
{
	static struct tap_queue queue;
	struct tap_out in[200], out = {};
	unsigned int count = 0, best;
	u32 seed = 7;

	tap_queue_init(&queue);
	for (int step = 0; step < 100000; step++) {
		seed = seed * 1664525 + 1013904223;
		if (count < 200 && (seed >> 31 || !count)) {
			out.due_ns = seed >> 8 & 63;
			out.value = step;
			in[count++] = out;
			CHECK(tap_queue_put(&queue, &out, false));
		} else {
			best = 0;
			for (unsigned int i = 1; i < count; i++)
				if (in[i].due_ns < in[best].due_ns ||
				    (in[i].due_ns == in[best].due_ns &&
				     in[i].value < in[best].value))
					best = i;
			CHECK_EQ(tap_queue_first(&queue)->value, in[best].value);
			tap_queue_take(&queue, &out);
			CHECK_EQ(out.value, in[best].value);
			in[best] = in[--count];
		}
		CHECK_EQ(queue.count, count);
	}
}

static void test_queue_full(void)
{
	static struct tap_queue queue;
	struct tap_out out = {};

	tap_queue_init(&queue);
	CHECK(!tap_queue_reserve(&queue, TAP_QUEUE_MAX + 1));
	CHECK(tap_queue_reserve(&queue, 2));
	for (unsigned int i = 0; i < TAP_QUEUE_MAX - 2; i++)
		CHECK(tap_queue_put(&queue, &out, false));
	CHECK(!tap_queue_put(&queue, &out, false));
	CHECK(!tap_queue_reserve(&queue, 1));
	CHECK(tap_queue_put(&queue, &out, true));
	CHECK(!tap_queue_put(&queue, &out, false));
	CHECK(tap_queue_put(&queue, &out, true));
	CHECK_EQ(queue.count, TAP_QUEUE_MAX);
	CHECK_EQ(queue.most, TAP_QUEUE_MAX);
	tap_queue_take(&queue, &out);
	CHECK(tap_queue_reserve(&queue, 1));
	CHECK(!tap_queue_reserve(&queue, 1));
}

int main(void)
{
	test_table();
	test_set();
	test_arrays();
	test_triggers();
	test_commands();
	test_what_does_not_fit();
	test_queue();
	test_queue_full();
	return 0;
}
