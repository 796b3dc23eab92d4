/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cases for the pipeline's decisions, for the host and for KUnit: the includer defines
 * CHECK() and CHECK_EQ(), and includes the pure file.
 *
 * The rows are those of the tables in docs/pipeline.md; every state that can occur must be
 * in exactly one row.
 */
enum state_where { IN_USER, IN_KERNEL, IN_RT, IN_RT_RING3, STATE_WHERES };

#define ANY (-1)

struct state_interrupt {
	enum state_where where;
	int stalled;				/* ANY: either */
	bool runs;
};

struct state_exception {
	enum state_where where;
	int hard_if, stalled;
	bool sees_if, hard_on, replay;		/* what the handler gets */
	bool task;				/* the RT task gets it, and no handler */
};

#include "state_rows.h"

#define STATE_ROWS(table) (sizeof(table) / sizeof(table[0]))

static bool state_fits(int want, bool is)
{
	return want == ANY || want == is;
}

static bool state_ring3(enum state_where where)
{
	return where == IN_USER || where == IN_RT_RING3;
}

static bool state_oob(enum state_where where)
{
	return where == IN_RT || where == IN_RT_RING3;
}

/* Ring 3 has interrupts on, and Linux is stalled while RT code runs. */
static bool state_can_be(enum state_where where, bool hard_if, bool stalled)
{
	return (!state_ring3(where) || hard_if) && (!state_oob(where) || stalled);
}

static void state_case_exceptions(void)
{
	int states = 0;

	for (int n = 0; n < 4 * STATE_WHERES; n++) {
		enum state_where where = n / 4;
		bool hard_if = n & 1, stalled = n & 2;
		struct pl_exc_plan plan;
		int rows = 0;

		if (!state_can_be(where, hard_if, stalled))
			continue;
		states++;
		plan = pl_exc_plan(state_ring3(where), hard_if, stalled, state_oob(where));
		for (unsigned int r = 0; r < STATE_ROWS(state_exceptions); r++) {
			const struct state_exception *row = &state_exceptions[r];

			if (row->where != where || !state_fits(row->hard_if, hard_if) ||
			    !state_fits(row->stalled, stalled))
				continue;
			rows++;
			CHECK_EQ(hard_if && !plan.hide_if, row->sees_if);
			CHECK_EQ(plan.hard_on, row->hard_on);
			CHECK_EQ(plan.replay, row->replay);
			CHECK_EQ(plan.task, row->task);
		}
		CHECK_EQ(rows, 1);
	}
	CHECK_EQ(states, 9);
}

/* IF is hidden only where there is one to hide: the handler's end puts it back. */
static void state_case_hides_only_what_is_there(void)
{
	for (int n = 0; n < 8; n++)
		CHECK(!pl_exc_plan(n & 1, false, n & 2, n & 4).hide_if);
}

static void state_case_interrupts(void)
{
	for (int n = 0; n < 2 * STATE_WHERES; n++) {
		enum state_where where = n / 2;
		bool stalled = n & 1;
		int rows = 0;

		if (state_oob(where) && !stalled)
			continue;
		for (unsigned int r = 0; r < STATE_ROWS(state_interrupts); r++) {
			const struct state_interrupt *row = &state_interrupts[r];

			if (row->where != where || !state_fits(row->stalled, stalled))
				continue;
			rows++;
			CHECK_EQ(pl_may_run(state_ring3(where), stalled, state_oob(where)), row->runs);
		}
		CHECK_EQ(rows, 1);
	}
}

/* Every case, for whoever runs them. */
#define STATE_CASES(do)				\
	do(state_case_exceptions)		\
	do(state_case_hides_only_what_is_there)	\
	do(state_case_interrupts)
