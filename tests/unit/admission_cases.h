/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cases for admission, for the host and for KUnit: the includer defines CHECK() and CHECK_EQ().
 *
 * The oracle releases every task at 0 and runs the set tick by tick. That is the worst case of
 * both kinds of policy, so what it sees is what the tests must say, both ways.
 */
#define ADM_TASKS 5
#define ADM_STEPS 10000000
/* How many random sets the oracle watches; KUnit's suites set another number. */
#ifndef ADM_SETS
#define ADM_SETS 5000
#endif

static u32 adm_seed;

static u32 adm_random(u32 below)
{
	adm_seed = adm_seed * 1664525 + 1013904223;
	return (u32)(((u64)adm_seed * below) >> 32);
}

static s64 adm_gcd(s64 a, s64 b)
{
	return b ? adm_gcd(b, a % b) : a;
}

/* What the oracle saw. */
struct adm_seen {
	bool late;
	s64 response[ADM_TASKS];	/* the longest */
};

static struct adm_seen adm_watch(const struct adm_task *set, int count, bool edf)
{
	struct adm_seen seen = { .late = false };
	s64 left[ADM_TASKS], done[ADM_TASKS] = {}, hyper = 1;

	for (int i = 0; i < count; i++) {
		hyper = hyper / adm_gcd(hyper, set[i].period) * set[i].period;
		left[i] = set[i].cost;
	}
	/* With a utilisation of 1 or less the CPU has caught up at a hyperperiod's end. */
	for (s64 now = 0; now < hyper; now++) {
		int best = -1;
		s64 rank = 0;

		for (int i = 0; i < count; i++) {
			s64 release = done[i] * set[i].period;
			s64 mine = edf ? release + set[i].deadline : (s64)set[i].rank;

			if (release <= now && (best < 0 || mine < rank)) {
				best = i;
				rank = mine;
			}
		}
		if (best < 0 || --left[best])
			continue;
		s64 response = now + 1 - done[best] * set[best].period;

		left[best] = set[best].cost;
		done[best]++;
		if (response > seen.response[best])
			seen.response[best] = response;
		seen.late |= response > set[best].deadline;
	}
	return seen;
}

/* Is the sum of cost / period at most @num / @den? Exact, for small numbers. */
static bool adm_sum_fits(const struct adm_task *set, int count, s64 num, s64 den)
{
	s64 hyper = 1, sum = 0;

	for (int i = 0; i < count; i++)
		hyper = hyper / adm_gcd(hyper, set[i].period) * set[i].period;
	for (int i = 0; i < count; i++)
		sum += hyper / set[i].period * set[i].cost;
	return sum * den <= hyper * num;
}

static int adm_make_set(struct adm_task *set)
{
	static const u8 periods[] = { 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 20, 24 };
	int count = 1 + adm_random(ADM_TASKS);

	for (int i = 0; i < count; i++) {
		set[i].period = periods[adm_random(sizeof(periods))];
		set[i].cost = 1 + adm_random(set[i].period * 2 / (count + 1) + 1);
		set[i].deadline = set[i].period;
		if (adm_random(2))
			set[i].deadline = 1 + adm_random(2 * set[i].period);
		set[i].rank = (u64)i;
	}
	return count;
}

static void adm_case_against_the_oracle(void)
{
	struct adm_task set[ADM_TASKS] = {};
	int fixed_fits = 0, edf_fits = 0, refused = 0;

	adm_seed = 1;
	for (int round = 0; round < ADM_SETS; round++) {
		int count = adm_make_set(set);
		bool load = adm_sum_fits(set, count, 1, 1);
		struct adm_verdict fixed = adm_fixed(set, count, ADM_ONE, ADM_STEPS);
		struct adm_verdict edf = adm_edf(set, count, ADM_ONE, ADM_STEPS);

		CHECK_EQ(fixed.reason == ADM_UTILISATION, !load);
		CHECK_EQ(edf.reason == ADM_UTILISATION, !load);
		refused += !load;
		if (!load)
			continue;
		struct adm_seen seen = adm_watch(set, count, false);

		CHECK_EQ(fixed.reason == ADM_FITS, !seen.late);
		fixed_fits += !seen.late;
		for (int i = 0; i < count; i++) {
			long steps = ADM_STEPS;

			CHECK_EQ(adm_response(set, count, i, 1000000, &steps), seen.response[i]);
		}
		seen = adm_watch(set, count, true);
		CHECK_EQ(edf.reason == ADM_FITS, !seen.late);
		edf_fits += !seen.late;
		/* EDF is optimal. */
		CHECK(fixed.reason != ADM_FITS || edf.reason == ADM_FITS);
	}
	/* The sets were neither all easy nor all hopeless. */
	CHECK(fixed_fits > ADM_SETS / 10 && edf_fits > fixed_fits + ADM_SETS / 50 &&
	      refused > ADM_SETS / 50);
}

/* The bounds never admit what the exact test does not, and are worth something. */
static void adm_case_bounds(void)
{
	struct adm_task set[ADM_TASKS] = {};
	int by_sum = 0, by_product = 0;

	adm_seed = 2;
	for (int round = 0; round < ADM_SETS; round++) {
		int count = adm_make_set(set);
		bool sum, product;

		for (int i = 0; i < count; i++) {
			set[i].deadline = set[i].period;
			set[i].rank = set[i].period * 10 + i;
		}
		sum = adm_utilisation(set, count) <= adm_liu_layland(count);
		product = adm_hyperbolic(set, count);
		CHECK(!sum || product);
		if (product)
			CHECK_EQ(adm_fixed(set, count, ADM_ONE, ADM_STEPS).reason, ADM_FITS);
		by_sum += sum;
		by_product += product;
	}
	CHECK(by_sum > ADM_SETS / 25 && by_product > by_sum);
}

static void adm_case_known_figures(void)
{
	struct adm_task textbook[] = { { 2, 5, 5, 1 }, { 4, 7, 7, 2 } };
	struct adm_task classic[] = { { 3, 7, 7, 1 }, { 3, 12, 12, 2 }, { 5, 20, 20, 3 } };
	struct adm_verdict v;
	long steps = ADM_STEPS;

	/* U = 34/35: EDF only. */
	v = adm_fixed(textbook, 2, ADM_ONE, ADM_STEPS);
	CHECK_EQ(v.reason, ADM_RESPONSE);
	CHECK_EQ(v.index, 1);
	CHECK_EQ(v.figure, 8);
	CHECK_EQ(v.limit, 7);
	CHECK_EQ(adm_edf(textbook, 2, ADM_ONE, ADM_STEPS).reason, ADM_FITS);
	/* Linux's share. */
	v = adm_edf(textbook, 2, ADM_ONE / 100 * 95, ADM_STEPS);
	CHECK_EQ(v.reason, ADM_UTILISATION);
	CHECK_EQ(v.index, 1);
	CHECK_EQ(v.figure / (ADM_ONE / 10000), 9714);

	CHECK_EQ(adm_response(classic, 3, 0, 100, &steps), 3);
	CHECK_EQ(adm_response(classic, 3, 1, 100, &steps), 6);
	CHECK_EQ(adm_response(classic, 3, 2, 100, &steps), 20);
	CHECK_EQ(adm_fixed(classic, 3, ADM_ONE, ADM_STEPS).reason, ADM_FITS);
	/* A deadline before the period. */
	textbook[1].deadline = 5;
	v = adm_edf(textbook, 2, ADM_ONE, ADM_STEPS);
	CHECK_EQ(v.reason, ADM_DEMAND);
	CHECK_EQ(v.figure, 6);
	CHECK_EQ(v.limit, 5);

	CHECK_EQ(adm_liu_layland(1), ADM_ONE / 1000000000 * 1000000000);
	CHECK_EQ(adm_liu_layland(2) / (ADM_ONE / 1000000), 828427);
	CHECK_EQ(adm_liu_layland(1000) / (ADM_ONE / 1000000), 693147);
	for (int n = 2; n < 20; n++)
		CHECK(adm_liu_layland(n) <= adm_liu_layland(n - 1));
}

/* At the limits of periods, costs and counts: sums saturate, nothing wraps, nothing hangs. */
static void adm_case_limits(void)
{
	static struct adm_task set[1024];
	const s64 longest = 3600000000000LL, shortest = 5000;
	struct adm_verdict v;
	long steps;

	for (int i = 0; i < 1024; i++)
		set[i] = (struct adm_task) { longest, longest, longest, (u64)i };
	CHECK_EQ(adm_utilisation(set, 1), ADM_ONE);
	CHECK_EQ(adm_utilisation(set, 1024), 2 * ADM_ONE);
	CHECK_EQ(adm_fixed(set, 1024, ADM_ONE, 1 << 20).reason, ADM_UTILISATION);
	CHECK_EQ(adm_fixed(set, 1, ADM_ONE, 1 << 20).reason, ADM_FITS);
	CHECK(adm_hyperbolic(set, 1) == false);	/* rounding refuses */
	set[0].cost = longest;
	set[0].period = 1;
	CHECK_EQ(adm_share(&set[0]), 2 * ADM_ONE);
	/* 1024 tasks that fill the CPU exactly, and one ns more. */
	for (int i = 0; i < 1024; i++)
		set[i] = (struct adm_task) { 3515625000LL, longest, longest, (u64)i };
	CHECK_EQ(adm_edf(set, 1024, ADM_ONE, 1 << 20).reason, ADM_FITS);
	set[7].cost++;
	CHECK_EQ(adm_edf(set, 1024, ADM_ONE, 1 << 20).reason, ADM_UTILISATION);
	set[7].cost--;
	CHECK_EQ(adm_fixed(set, 1024, ADM_ONE, 1 << 26).reason, ADM_FITS);
	steps = 1 << 26;
	CHECK_EQ(adm_response(set, 1024, 1023, longest, &steps), longest);
	/* Thirds do not round away. */
	for (int i = 0; i < 3; i++)
		set[i] = (struct adm_task) { shortest, 3 * shortest, 3 * shortest, (u64)i };
	CHECK_EQ(adm_edf(set, 3, ADM_ONE, 1000).reason, ADM_FITS);
	CHECK_EQ(adm_fixed(set, 3, ADM_ONE, 1000).reason, ADM_FITS);
	/* The longest beside the shortest: too many steps are no endless loop. */
	set[0] = (struct adm_task) { shortest - 1, shortest, shortest, 0 };
	set[1] = (struct adm_task) { longest / shortest, longest, longest, 1 };
	v = adm_fixed(set, 2, ADM_ONE, 1000);
	CHECK_EQ(v.reason, ADM_UNDECIDED);
	set[1].deadline = longest - 1;
	CHECK_EQ(adm_edf(set, 2, ADM_ONE, 1000).reason, ADM_UNDECIDED);
	CHECK_EQ(adm_edf(set, 0, ADM_ONE, 1000).reason, ADM_FITS);
	CHECK_EQ(adm_fixed(set, 0, ADM_ONE, 1000).reason, ADM_FITS);
}

/* 1024 tasks can be decided: easy ones by a bound, others by response times. */
static void adm_case_many(void)
{
	static struct adm_task set[1024], mixed[1024];
	struct adm_verdict v;

	for (int i = 0; i < 1024; i++)
		set[i] = (struct adm_task) { 1000, 1000000000 + i, 1000000000 + i, (u64)i };
	CHECK_EQ(adm_fixed(set, 1024, ADM_ONE / 100 * 95, 1 << 20).reason, ADM_FITS);
	/* Periods from 1 ms to 1 s, deadlines before them, 60 % in all. */
	adm_seed = 8;
	for (int i = 0; i < 1024; i++) {
		s64 period = 1000000LL << (i / 103);

		period += adm_random(period);
		set[i] = (struct adm_task) { period / 1024 * 6 / 10, period, period / 10 * 9, (u64)i };
	}
	CHECK_EQ(adm_fixed(set, 1024, ADM_ONE / 100 * 95, 1 << 22).reason, ADM_FITS);
	CHECK_EQ(adm_edf(set, 1024, ADM_ONE / 100 * 95, 1 << 22).reason, ADM_FITS);
	/* 97 %: no more. */
	for (int i = 0; i < 1024; i++)
		set[i].cost = set[i].period / 1024 * 97 / 100;
	v = adm_fixed(set, 1024, ADM_ONE, 1 << 22);
	CHECK_EQ(v.reason, ADM_RESPONSE);
	/* In any order the verdict is the same, with pairs of equal ranks, too. */
	for (int round = 0; round < ADM_SETS * 2 / 5; round++) {
		struct adm_task few[ADM_TASKS] = {};
		int count = adm_make_set(few);
		enum adm_reason sorted;

		for (int i = 0; i < count; i++)
			few[i].rank = (u64)i / 2;
		sorted = adm_fixed(few, count, ADM_ONE, ADM_STEPS).reason;
		for (int i = 0; i < count; i++)
			mixed[i] = few[(i + 1) % count];
		CHECK_EQ(adm_fixed(mixed, count, ADM_ONE, ADM_STEPS).reason, sorted);
	}
}

/* ---- blocking ---- */

#define ADM_MUTEXES 2

/* One task of a set in which jobs block one another: what its jobs do. */
struct adm_job {
	s64 offset, at;		/* at: where in a job its section or region begins */
	int mutex;
	s64 done, ran;		/* jobs, and ticks of the present one */
};

static struct adm_job adm_job[ADM_TASKS];

/* The ready job of the nearest deadline or best rank; -1: none. */
static int adm_first(const struct adm_task *set, int count, bool edf, s64 now)
{
	int best = -1;
	s64 rank = 0;

	for (int i = 0; i < count; i++) {
		s64 release = adm_job[i].offset + adm_job[i].done * set[i].period;
		s64 mine = edf ? release + set[i].deadline : (s64)set[i].rank;

		if (release <= now && (best < 0 || mine < rank)) {
			best = i;
			rank = mine;
		}
	}
	return best;
}

static bool adm_inside(const struct adm_job *job, s64 length)
{
	return job->ran > job->at && job->ran < job->at + length;
}

/* With mutexes and their inheritance, and regions: is anybody late within @ticks? */
static bool adm_is_late(const struct adm_task *set, int count, bool edf, s64 ticks)
{
	int last = -1;

	for (s64 now = 0; now < ticks; now++) {
		int i = adm_first(set, count, edf, now);

		if (i < 0)
			continue;
		if (last >= 0 && adm_inside(&adm_job[last], set[last].region))
			i = last;
		/* Whoever has the mutex that it wants runs in its place. */
		for (int j = 0; j < count && set[i].section && adm_job[i].ran == adm_job[i].at; j++)
			if (j != i && adm_job[j].mutex == adm_job[i].mutex &&
			    adm_inside(&adm_job[j], set[j].section)) {
				i = j;
				break;
			}
		last = i;
		if (++adm_job[i].ran < set[i].cost)
			continue;
		if (now + 1 > adm_job[i].offset + adm_job[i].done * set[i].period + set[i].deadline)
			return true;
		adm_job[i].ran = 0;
		adm_job[i].done++;
	}
	return false;
}

/* Likewise, for some offsets. */
static bool adm_can_be_late(const struct adm_task *set, int count, bool edf)
{
	for (int round = 0; round < 12; round++) {
		for (int i = 0; i < count; i++) {
			s64 length = set[i].section + set[i].region;

			adm_job[i] = (struct adm_job) {
				/* The less urgent tend to begin first. */
				.offset = round ? adm_random(1 + 2 * (count - i)) : (u32)(count - 1 - i),
				.at = adm_random(set[i].cost - length + 1),
				.mutex = (int)adm_random(ADM_MUTEXES),
			};
		}
		if (adm_is_late(set, count, edf, 250))
			return true;
	}
	return false;
}

/*
 * A set that is admitted misses nothing, whenever its sections or regions begin. Others, which are
 * refused for them alone, do.
 */
static void adm_check_blocking(bool edf, bool regions)
{
	struct adm_task set[ADM_TASKS] = {}, bare[ADM_TASKS];
	int fits = 0, refused = 0, late = 0;

	for (int round = 0; round < ADM_SETS * 2 / 5; round++) {
		int count = adm_make_set(set);
		bool without, with;

		for (int i = 0; i < count; i++) {
			s64 length = adm_random(2) ? 1 + adm_random(set[i].cost) : 0;

			set[i].section = regions ? 0 : length;
			set[i].region = regions ? length : 0;
			bare[i] = set[i];
			bare[i].section = bare[i].region = 0;
		}
		without = (edf ? adm_edf(bare, count, ADM_ONE, ADM_STEPS) :
			   adm_fixed(bare, count, ADM_ONE, ADM_STEPS)).reason == ADM_FITS;
		with = (edf ? adm_edf(set, count, ADM_ONE, ADM_STEPS) :
			adm_fixed(set, count, ADM_ONE, ADM_STEPS)).reason == ADM_FITS;
		CHECK(!with || without);
		fits += with;
		if (with)
			CHECK(!adm_can_be_late(set, count, edf));
		if (!without || with)
			continue;
		refused++;
		late += adm_can_be_late(set, count, edf);
	}
	CHECK(fits > ADM_SETS * 3 / 50 && refused > ADM_SETS / 500);
	/* Sufficient, not exact: yet no mere refusal. */
	CHECK(late * 8 > refused);
}

static void adm_case_blocking(void)
{
	adm_seed = 11;
	adm_check_blocking(false, false);
	adm_check_blocking(false, true);
	adm_check_blocking(true, false);
	adm_check_blocking(true, true);
}

static void adm_case_blocking_figures(void)
{
	struct adm_task set[] = { { 1, 10, 10, 1 }, { 3, 40, 40, 2 }, { 50, 100, 100, 3 } };
	/* No more than a source of blocking, for ever. */
	const s64 never = 1LL << 50;
	struct adm_task other = { .period = never, .deadline = 1, .rank = 9, .section = 4 };
	struct adm_task many[3];
	struct adm_verdict v;
	long steps = ADM_STEPS;

	CHECK_EQ(adm_fixed(set, 3, ADM_ONE, ADM_STEPS).reason, ADM_FITS);
	/* Each less urgent section once... */
	set[1].section = 2;
	set[2].section = 8;
	v = adm_fixed(set, 3, ADM_ONE, ADM_STEPS);
	CHECK_EQ(v.reason, ADM_RESPONSE);
	CHECK_EQ(v.index, 0);
	CHECK_EQ(v.figure, 11);
	CHECK_EQ(v.limit, 10);
	CHECK_EQ(adm_response(set, 3, 1, 40, &steps), 13);
	/* ...but one region, of 9 and not of 10. */
	set[1].section = set[2].section = 0;
	set[1].region = 2;
	set[2].region = 9;
	CHECK_EQ(adm_fixed(set, 3, ADM_ONE, ADM_STEPS).reason, ADM_FITS);
	CHECK_EQ(adm_edf(set, 3, ADM_ONE, ADM_STEPS).reason, ADM_FITS);
	set[2].region = 10;
	CHECK_EQ(adm_fixed(set, 3, ADM_ONE, ADM_STEPS).figure, 11);
	v = adm_edf(set, 3, ADM_ONE, ADM_STEPS);
	CHECK_EQ(v.reason, ADM_DEMAND);
	CHECK_EQ(v.index, 0);
	CHECK_EQ(v.figure, 11);
	CHECK_EQ(v.limit, 10);

	/* By sections 9 - 4 remain under both; the source itself is not tested. */
	for (int i = 0; i < 3; i++)
		many[i] = set[i];
	many[1].region = many[2].region = 0;
	many[2] = other;
	CHECK_EQ(adm_fixed(many, 3, ADM_ONE, ADM_STEPS).reason, ADM_FITS);
	CHECK_EQ(adm_edf(many, 3, ADM_ONE, ADM_STEPS).reason, ADM_FITS);
	many[0].cost = 7;
	CHECK_EQ(adm_fixed(many, 3, ADM_ONE, ADM_STEPS).figure, 11);
	v = adm_edf(many, 3, ADM_ONE, ADM_STEPS);
	CHECK_EQ(v.reason, ADM_DEMAND);
	CHECK_EQ(v.figure, 11);
	/* Blocking makes a busy period longer: the deadline at 9 is after 5, without it. */
	many[0] = (struct adm_task) { 5, 10, 9, 1 };
	many[1] = other;
	CHECK_EQ(adm_edf(many, 2, ADM_ONE, ADM_STEPS).reason, ADM_FITS);
	many[1].section = 5;
	CHECK_EQ(adm_edf(many, 2, ADM_ONE, ADM_STEPS).reason, ADM_DEMAND);
	/* The less urgent task may end before the one that it blocks. */
	many[0] = (struct adm_task) { 1, 20, 20, 1 };
	many[1] = (struct adm_task) { 8, 20, 12, 2, .region = 8 };
	CHECK_EQ(adm_fixed(many, 2, ADM_ONE, ADM_STEPS).reason, ADM_FITS);
	/* With all of the CPU used up, nothing may be blocked for ever. */
	many[0] = (struct adm_task) { 10, 10, 10, 1 };
	CHECK_EQ(adm_edf(&many[0], 1, ADM_ONE, ADM_STEPS).reason, ADM_FITS);
	many[1] = other;
	CHECK(adm_edf(many, 2, ADM_ONE, ADM_STEPS).reason != ADM_FITS);
	CHECK(adm_fixed(many, 2, ADM_ONE, ADM_STEPS).reason != ADM_FITS);
}

#define ADMISSION_CASES(do)			\
	do(adm_case_blocking)			\
	do(adm_case_blocking_figures)		\
	do(adm_case_many)			\
	do(adm_case_against_the_oracle)		\
	do(adm_case_bounds)			\
	do(adm_case_known_figures)		\
	do(adm_case_limits)
