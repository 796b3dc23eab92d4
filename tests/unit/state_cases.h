/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cases for the pipeline's decisions, for the host and for KUnit: the includer defines
 * CHECK() and CHECK_EQ(), and includes the pure file.
 *
 * The rows are those of the tables in pipeline/state.h, written down a second time; every
 * state that can occur must be in exactly one row.
 */
enum state_where { IN_USER, IN_KERNEL, IN_RT };

#define ANY (-1)

struct state_row {
	enum state_where where;
	int hard_if, stalled;			/* ANY: either */
	bool sees_if, hard_on, replay;		/* what the handler gets */
};

static const struct state_row state_rows[] = {
	/* where	hard IF	stalled	  sees	 runs hard  then replay */
	{ IN_USER,	1,	ANY,	  true,	 true,	    true },
	{ IN_KERNEL,	1,	0,	  true,	 true,	    true },
	{ IN_KERNEL,	1,	1,	  false, true,	    false },
	{ IN_KERNEL,	0,	ANY,	  false, false,	    false },
	{ IN_RT,	ANY,	1,	  false, false,	    false },
};

static bool state_fits(int want, bool is)
{
	return want == ANY || want == is;
}

/* User mode has interrupts on, and Linux is stalled while RT code runs. */
static bool state_can_be(enum state_where where, bool hard_if, bool stalled)
{
	return (where != IN_USER || hard_if) && (where != IN_RT || stalled);
}

static void state_case_exceptions(void)
{
	int states = 0;

	for (int n = 0; n < 12; n++) {
		enum state_where where = n / 4;
		bool hard_if = n & 1, stalled = n & 2;
		struct pl_exc_plan plan;
		int rows = 0;

		if (!state_can_be(where, hard_if, stalled))
			continue;
		states++;
		plan = pl_exc_plan(where == IN_USER, hard_if, stalled, where == IN_RT);
		for (unsigned int r = 0; r < sizeof(state_rows) / sizeof(state_rows[0]); r++) {
			const struct state_row *row = &state_rows[r];

			if (row->where != where || !state_fits(row->hard_if, hard_if) ||
			    !state_fits(row->stalled, stalled))
				continue;
			rows++;
			CHECK_EQ(hard_if && !plan.hide_if, row->sees_if);
			CHECK_EQ(plan.hard_on, row->hard_on);
			CHECK_EQ(plan.replay, row->replay);
		}
		CHECK_EQ(rows, 1);
	}
	CHECK_EQ(states, 8);
}

/* IF is hidden only where there is one to hide: the handler's end puts it back. */
static void state_case_hides_only_what_is_there(void)
{
	for (int n = 0; n < 8; n++)
		CHECK(!pl_exc_plan(n & 1, false, n & 2, n & 4).hide_if);
}

static void state_case_interrupts(void)
{
	CHECK(pl_may_run(true, false));
	CHECK(pl_may_run(true, true));
	CHECK(pl_may_run(false, false));
	CHECK(!pl_may_run(false, true));
}

/* Every case, for whoever runs them. */
#define STATE_CASES(do)				\
	do(state_case_exceptions)		\
	do(state_case_hides_only_what_is_there)	\
	do(state_case_interrupts)
