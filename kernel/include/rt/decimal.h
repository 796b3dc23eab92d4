/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Floating point as text, for rt_printk() and the like, which know no "%f". Pure; integers only.
 */
#ifndef _RT_DECIMAL_H
#define _RT_DECIMAL_H

#include <rt/pure.h>

/* A sign, 20 digits, a point, 9 decimals, the zero. */
#define RT_DECIMAL_BYTES 32
#define RT_DECIMAL_PLACES 9

/**
 * rt_decimal - a number as text, as "%.*f" has it
 * @text: gets it, of RT_DECIMAL_BYTES bytes
 * @value: below 2^64 either way, an infinity, or not a number
 * @places: digits behind the point, 0 to RT_DECIMAL_PLACES
 *
 * The last digit is rounded, exact halves to an even one. Only @value's bits are looked at: it
 * uses no floating point, so it may be called where that may not be used.
 *
 *	char text[RT_DECIMAL_BYTES];
 *
 *	rt_printk("at %s mm\n", rt_decimal(text, &position, 3));
 *
 * Context: any.
 * Return: @text; "?" for a @value or @places out of range.
 */
static inline const char *rt_decimal(char *text, const double *value, int places)
{
	u64 bits, mantissa, whole = 0, part = 0, scale = 1;
	char digits[RT_DECIMAL_BYTES], *at = digits + sizeof(digits), *to = text;
	int exponent, i;

	memcpy(&bits, value, sizeof(bits));
	exponent = bits >> 52 & 0x7ff;
	mantissa = bits & ((1ULL << 52) - 1);
	if (places < 0 || places > RT_DECIMAL_PLACES || (exponent < 0x7ff && exponent >= 1023 + 64))
		return memcpy(text, "?", 2);
	if (bits >> 63)
		*to++ = '-';
	if (exponent == 0x7ff) {
		memcpy(to, mantissa ? "nan" : "inf", 4);
		return text;
	}
	/* It is mantissa * 2^exponent now. */
	if (exponent)
		mantissa |= 1ULL << 52;
	exponent = (exponent ? exponent : 1) - 1075;
	for (i = 0; i < places; i++)
		scale *= 10;
	if (exponent >= 0) {
		whole = mantissa << exponent;
	} else if (exponent > -120) {
		/* Below 2^83: all of it fits. */
		unsigned __int128 all = (unsigned __int128)mantissa * scale;
		unsigned __int128 half = (unsigned __int128)1 << (-exponent - 1);
		unsigned __int128 rest = all & (2 * half - 1);
		unsigned __int128 units = all >> -exponent;

		if (rest > half || (rest == half && (units & 1)))
			units++;
		/* Below 2^53, the whole of it is a 64-bit number that can be had by itself. */
		whole = exponent > -64 ? mantissa >> -exponent : 0;
		units -= (unsigned __int128)whole * scale;
		part = units;
		if (part == scale) {
			whole++;
			part = 0;
		}
	}
	for (i = 0; i < places; i++) {
		*--at = '0' + part % 10;
		part /= 10;
	}
	if (places)
		*--at = '.';
	do {
		*--at = '0' + whole % 10;
		whole /= 10;
	} while (whole);
	memcpy(to, at, digits + sizeof(digits) - at);
	to[digits + sizeof(digits) - at] = 0;
	return text;
}

#endif
