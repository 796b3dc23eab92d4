/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the APIC is owed for each of Linux's vectors, from its arrival until its handler has asked
 * for the EOI: one state a vector. Pure logic.
 *
 *   arrival                      replay              the handler asks
 *   ---------------------------  ------------------  -------------------------------------
 *   EOI sent                     PL_EOI_SENT         swallowed
 *   line masked, EOI sent        PL_EOI_MASKED       swallowed; the line is unmasked
 *   nothing sent: PL_EOI_HELD    PL_EOI_HELD         PL_EOI_OWED until no higher one is held
 *
 * A handler asks before it lets interrupts in, or its vector cannot come again before it asks. So a
 * vector's state is that of the one handler that runs for it, however handlers are nested.
 */
#ifndef _TACTUS_EOI_H
#define _TACTUS_EOI_H

#include "pipeline/x86/resident/vecset.h"

#define PL_EOI_IN_SERVICE 4	/* a bit: the APIC waits for the EOI */

enum pl_eoi {
	PL_EOI_NONE,		/* an EOI that is asked for goes through */
	PL_EOI_SENT,
	PL_EOI_MASKED,
	PL_EOI_HELD = PL_EOI_IN_SERVICE,
	PL_EOI_OWED,
};

struct pl_eois {
	union {
		u8 of[PL_VECTORS];	/* enum pl_eoi */
		u64 word[PL_VECTORS / 8];
	};
};

/*
 * pl_eoi_in_service - the highest vector whose EOI the APIC waits for, or -1
 *
 * That is the one which an EOI ends, whoever sends it.
 */
static inline int pl_eoi_in_service(const struct pl_eois *eois)
{
	for (int i = PL_VECTORS / 8 - 1; i >= 0; i--) {
		u64 in_service = eois->word[i] & 0x0101010101010101ULL * PL_EOI_IN_SERVICE;

		if (in_service)
			return i * 8 + (63 - __builtin_clzll(in_service)) / 8;
	}
	return -1;
}

/** pl_eoi_replayed - the handler of @vector begins: was its EOI sent on arrival? */
static inline void pl_eoi_replayed(struct pl_eois *eois, unsigned int vector)
{
	if (eois->of[vector] == PL_EOI_NONE)
		eois->of[vector] = PL_EOI_SENT;
}

/*
 * pl_eoi_asked - the handler of @vector asks for its EOI
 *
 * Return: what to do. NONE: send one. SENT: nothing. MASKED: unmask the line. OWED: send one
 * each time pl_eoi_pay() says so.
 */
static inline enum pl_eoi pl_eoi_asked(struct pl_eois *eois, unsigned int vector)
{
	enum pl_eoi state = eois->of[vector];

	if (state & PL_EOI_IN_SERVICE)
		state = PL_EOI_OWED;
	eois->of[vector] = state == PL_EOI_OWED ? PL_EOI_OWED : PL_EOI_NONE;
	return state;
}

/** pl_eoi_pay - was the highest vector in service asked for? Then an EOI is sent, and ends it. */
static inline bool pl_eoi_pay(struct pl_eois *eois)
{
	int top = pl_eoi_in_service(eois);

	if (top < 0 || eois->of[top] != PL_EOI_OWED)
		return false;
	eois->of[top] = PL_EOI_NONE;
	return true;
}

#endif
