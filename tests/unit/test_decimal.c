// SPDX-License-Identifier: GPL-2.0-only
/* Floating point as text: the same as the C library says. */
#include <math.h>
#include <stdint.h>
#include "check.h"
#include "rt/decimal.h"

static void same(const char *ours, const char *theirs)
{
	if (!strcmp(ours, theirs))
		return;
	fprintf(stderr, "%s, not %s\n", ours, theirs);
	exit(1);
}

static void check(double value)
{
	char ours[RT_DECIMAL_BYTES], theirs[400];

	for (int places = 0; places <= RT_DECIMAL_PLACES; places++) {
		snprintf(theirs, sizeof(theirs), "%.*f", places, value);
		same(rt_decimal(ours, &value, places), theirs);
	}
}

static void test_easy(void)
{
	static const double values[] = {
		0, 0.5, 1.5, 2.5, 0.25, 0.125, 0.0625, 1, 9.5, 9.9999999999, 0.1, 0.3,
		999999999.9999999999,
		123456789.987654321, 1e-9, 5e-10, 1.5e-9, 1e-30, 4.9e-324, 1e15, 4503599627370495.5,
		9007199254740993.0, 1.8e19, 18446744073709549568.0,
	};

	for (unsigned int i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		check(values[i]);
		check(-values[i]);
	}
	check(INFINITY);
	check(-INFINITY);
}

/* Halves of the last place, and their neighbours, in all sizes. */
static void test_halves(void)
{
	for (double value = 0.5; value < 1e10; value = value * 3 + 1)
		for (double unit = 1; unit > 1e-10; unit /= 8) {
			check(value * unit);
			check(nextafter(value * unit, 0));
			check(nextafter(value * unit, 1e300));
		}
}

/* Any bits below 2^64. */
static void test_bits(void)
{
	uint64_t bits = 88172645463325252ULL;

	for (int i = 0; i < 100000; i++) {
		double value;

		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&value, &bits, sizeof(value));
		value = ldexp(frexp(value, &(int){ 0 }), (int)(bits % 184) - 120);
		if (!isnan(value) && !isinf(value))
			check(value);
	}
}

static void test_refused(void)
{
	char text[RT_DECIMAL_BYTES];
	double value = 18446744073709551616.0, not_a_number = NAN;

	same(rt_decimal(text, &value, 3), "?");
	value = -value;
	same(rt_decimal(text, &value, 0), "?");
	value = 1;
	same(rt_decimal(text, &value, -1), "?");
	same(rt_decimal(text, &value, RT_DECIMAL_PLACES + 1), "?");
	/* The sign of one that is not a number is not worth a test. */
	CHECK(strstr(rt_decimal(text, &not_a_number, 3), "nan") != NULL);
}

int main(void)
{
	test_easy();
	test_halves();
	test_bits();
	test_refused();
	return 0;
}
