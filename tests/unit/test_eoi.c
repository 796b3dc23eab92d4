// SPDX-License-Identifier: GPL-2.0-only
/*
 * One CPU's EOIs against a model of its APIC: vectors of all kinds arrive, are logged and replayed,
 * in handlers that are nested in one another. An EOI ends the highest vector in service: it must
 * have been asked for, and each vector ends once.
 */
#include "check.h"
#include "pipeline/x86/resident/eoi.h"

#define FIRST 0x20
#define ROUNDS 200000

static struct pl_eois eois;
static struct pl_vecset logged, in_service, asked, masked;
static unsigned int arrived, ended, handed;

static unsigned int below(unsigned int end)
{
	static u64 seed = 1;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % end;
}

static void ack(void)
{
	int top = pl_vecset_top(&in_service);

	CHECK(top >= 0 && pl_vecset_has(&asked, top));
	pl_vecset_del(&in_service, top);
	pl_vecset_del(&asked, top);
	ended++;
}

static void arrive(void)
{
	unsigned int vector = FIRST + below(40) * 5, kind = below(3);

	/* The APIC holds back what is of a class in service; a masked line is silent. */
	if ((int)(vector / 16) <= pl_vecset_top(&in_service) / 16 || pl_vecset_has(&masked, vector))
		return;
	arrived++;
	pl_vecset_add(&in_service, vector);
	if (kind == 0 || eois.of[vector] != PL_EOI_NONE) {
		pl_vecset_add(&asked, vector);
		ack();
	} else if (kind == 1) {
		eois.of[vector] = PL_EOI_MASKED;
		pl_vecset_add(&masked, vector);
		pl_vecset_add(&asked, vector);
		ack();
	} else {
		eois.of[vector] = PL_EOI_HELD;
	}
	pl_vecset_add(&logged, vector);
}

static void arrive_some(void)
{
	for (unsigned int i = below(4); i; i--)
		arrive();
}

static void ask(unsigned int vector)
{
	enum pl_eoi before = eois.of[vector];

	if (before == PL_EOI_HELD)
		pl_vecset_add(&asked, vector);
	switch (pl_eoi_asked(&eois, vector)) {
	case PL_EOI_MASKED:
		CHECK(pl_vecset_has(&masked, vector));
		pl_vecset_del(&masked, vector);
		break;
	case PL_EOI_SENT:
		CHECK_EQ(before, PL_EOI_SENT);
		break;
	case PL_EOI_OWED:
		while (pl_eoi_pay(&eois))
			ack();
		break;
	default:
		CHECK(!"a handler's EOI went through");
	}
	handed++;
}

static void replay(unsigned int depth);

static void handler(unsigned int vector, unsigned int depth)
{
	pl_eoi_replayed(&eois, vector);
	/* Only a level-triggered line's handler may let others in before it asks. */
	if (eois.of[vector] != PL_EOI_SENT)
		replay(depth + 1);
	arrive_some();
	ask(vector);
	replay(depth + 1);
}

static void replay(unsigned int depth)
{
	int vector;

	if (depth > 5 || (depth && below(2)))
		return;
	arrive_some();
	while ((vector = pl_vecset_top(&logged)) >= 0) {
		pl_vecset_del(&logged, vector);
		handler(vector, depth);
	}
}

/* What the APIC waits for is what the states say. */
static void check_states(void)
{
	CHECK_EQ(pl_eoi_in_service(&eois), pl_vecset_top(&in_service));
}

int main(void)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		arrive_some();
		check_states();
		replay(0);
		CHECK(pl_vecset_empty(&in_service) && pl_vecset_empty(&masked));
		check_states();
		for (unsigned int vector = 0; vector < PL_VECTORS; vector++)
			CHECK_EQ(eois.of[vector], PL_EOI_NONE);
	}
	CHECK(handed > ROUNDS);
	CHECK_EQ(ended, arrived);
	CHECK(handed <= arrived);
	return 0;
}
