// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"
#include "pipeline/x86/irq/count_rate.h"

#define STRETCHES 33

/* A rate gives the counts back, one short at most, over the longest wait. */
static void gives_back(u32 counts, u64 ns)
{
	u64 again = ns * pl_rate(counts, ns) >> PL_RATE_SHIFT;

	CHECK(again == counts || again + 1 == counts);
}

/* @odd of the stretches are off by @off in 4096, to either side in turn. */
static u64 mean(unsigned int odd, s64 off)
{
	u64 rates[STRETCHES], rate = pl_rate(62500, 1000000);

	for (unsigned int i = 0; i < STRETCHES; i++) {
		s64 error = i < odd ? (i % 2 ? 1 : -1) * off * (s64)rate / 4096 : 0;

		rates[i * 7 % STRETCHES] = rate + error;
	}
	return pl_rate_mean(rates, STRETCHES);
}

int main(void)
{
	static const u32 khz[] = { 1500, 6250, 62500, 1000000, 3999999 };
	u64 right = pl_rate(62500, 1000000), rates[STRETCHES];

	for (unsigned int i = 0; i < sizeof(khz) / sizeof(khz[0]); i++)
		for (u64 ns = 1000; ns <= 1ULL << 30; ns *= 2)
			gives_back(khz[i] * (ns / 1000) / 1000 + 1, ns);
	/* 1 GHz of counts, 1 s: no overflow. */
	CHECK_EQ(pl_rate(1000000000, 1000000000), 1ULL << PL_RATE_SHIFT);

	CHECK_EQ(mean(0, 0), right);
	CHECK_EQ(mean(16, 2000), right);	/* half of them may be anything */
	CHECK_EQ(mean(20, 2000), 0);		/* more, and they do not agree */
	CHECK(mean(20, 1) - right + 2000 <= 4000);	/* little enough */
	/* In any order, and one that is off by everything. */
	for (unsigned int i = 0; i < STRETCHES; i++)
		rates[i] = 100000000 + (i * 5 % STRETCHES) * 100;
	rates[3] = 1;
	CHECK(pl_rate_mean(rates, STRETCHES) - (100000000 + (STRETCHES / 2 - 1) * 100) <= 200);
	CHECK(rates[0] == 1 && rates[1] <= rates[2] && rates[31] <= rates[32]);

	CHECK_EQ(pl_rate_differs(right + right / 200, right), 4999);
	CHECK_EQ(pl_rate_differs(right - right / 100, right), -9999);
	return 0;
}
