// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random numbers that repeat from their seed: Steele, Lea and Flood's SplitMix64 (2014), one
 * generator a purpose, so that masking tones do not change the delays of a trial.
 */
#include "parts.h"

static u64 mix(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

void tap_random_seed(struct tap_engine *engine, u64 seed)
{
	for (unsigned int i = 0; i < TAP_RANDOMS; i++)
		engine->random[i] = mix(seed * TAP_RANDOMS + i + 1);
}

s64 tap_random(struct tap_engine *engine, unsigned int which, s64 a, s64 b)
{
	s64 least = a < b ? a : b;
	u64 range = (u64)(a < b ? b - a : a - b) + 1;

	engine->random[which] += 0x9e3779b97f4a7c15ULL;
	/* The upper half of a product is even to one part in 2^64 / range. */
	return least + (s64)((unsigned __int128)mix(engine->random[which]) * range >> 64);
}
