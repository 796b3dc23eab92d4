/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * FRED's events, as the pipeline would read them. Pure logic, and a model: no module calls it,
 * since the pipeline is refused on CPUs that use FRED (docs/decisions/0013-fred-stays-refused.md).
 *
 * FRED has two entries for all events. The CPU saves an event's type and vector above the SS
 * selector, and the stack level above the CS selector (Intel's FRED specification; fields
 * as in Linux's asm/ptrace.h).
 * What is to be done goes by type first: the same number is an exception, an INT n and a call.
 */
#ifndef _TACTUS_FRED_H
#define _TACTUS_FRED_H

#include <rt/pure.h>

enum fred_type {
	FRED_EXTINT = 0,
	FRED_NMI = 2,
	FRED_HWEXC = 3,
	FRED_SWINT = 4,		/* INT n */
	FRED_INT1 = 5,
	FRED_SWEXC = 6,		/* INT3, INTO */
	FRED_OTHER = 7,		/* system calls */
};

/* Vectors of FRED_OTHER. */
#define FRED_SYSCALL 1
#define FRED_SYSENTER 2

/* The word that holds SS. */
#define FRED_SS_SWEVENT (1ULL << 17)
#define FRED_SS_VECTOR(vector) ((u64)(u8)(vector) << 32)
#define FRED_SS_TYPE(type) ((u64)((type) & 0xf) << 48)
#define FRED_SS_LONG_MODE (1ULL << 57)
#define FRED_SS_LENGTH(bytes) ((u64)(bytes) << 60)

/* The word that holds CS. */
#define FRED_CS_LEVEL(level) ((u64)(level) << 16)

/* The code of today's dispatcher that takes it: pl_irq(), pl_exc(), pl_nmi(), pl_sys(). */
enum fred_taker { FRED_TO_LINUX, FRED_TO_IRQ, FRED_TO_EXC, FRED_TO_NMI, FRED_TO_SYS };

struct fred_verdict {
	enum fred_taker taker;
	u8 vector;	/* which gate of the IDT it would have come by */
};

static inline struct fred_verdict fred_exception(bool user, u8 vector)
{
	switch (vector) {
	case 1:		/* #DB and #MC in user mode run on the task's stack, as others do */
	case 18:
		return (struct fred_verdict) { user ? FRED_TO_EXC : FRED_TO_NMI, vector };
	case 8:
		return (struct fred_verdict) { FRED_TO_NMI, vector };
	case 0:
	case 5 ... 7:
	case 10 ... 14:
	case 16 ... 17:
	case 19 ... 21:
		return (struct fred_verdict) { FRED_TO_EXC, vector };
	}
	return (struct fred_verdict) { FRED_TO_LINUX, vector };
}

/**
 * fred_verdict - who takes an event
 * @cs: the saved word that holds CS
 * @ss: the saved word that holds SS
 * @ia32: does Linux offer 32-bit system calls?
 *
 * An event that Linux's own dispatcher would call invalid is Linux's at once: it ends the machine.
 * So is an interrupt of code on a stack level above 0, which has interrupts off: an RT task
 * switched to there would stay on that level.
 */
static inline struct fred_verdict fred_verdict(u64 cs, u64 ss, bool ia32)
{
	const struct fred_verdict invalid_opcode = { FRED_TO_EXC, 6 };
	const struct fred_verdict protection = { FRED_TO_EXC, 13 };
	bool user = (cs & 3) == 3, long_mode = ss & FRED_SS_LONG_MODE;
	u8 vector = ss >> 32, type = ss >> 48 & 0xf, level = cs >> 16 & 3;
	struct fred_verdict linux_s = { FRED_TO_LINUX, vector };

	switch (type) {
	case FRED_EXTINT:
		return vector < 32 || level ? linux_s :
			(struct fred_verdict) { FRED_TO_IRQ, vector };
	case FRED_NMI:
		return vector != 2 ? linux_s : (struct fred_verdict) { FRED_TO_NMI, 2 };
	case FRED_HWEXC:
		return fred_exception(user, vector);
	case FRED_SWINT:	/* no privilege of a gate stops it: Linux makes it a #GP */
		if (!user)
			return linux_s;
		if (vector == 3 || vector == 4)
			return (struct fred_verdict) { FRED_TO_EXC, vector };
		if (vector == 0x80 && ia32)
			return (struct fred_verdict) { FRED_TO_SYS, vector };
		return protection;
	case FRED_INT1:
		return vector != 1 ? linux_s : fred_exception(user, 1);
	case FRED_SWEXC:
		return vector != 3 && vector != 4 ? linux_s :
			(struct fred_verdict) { FRED_TO_EXC, vector };
	case FRED_OTHER:
		if (!user)
			return linux_s;
		if ((vector == FRED_SYSCALL && long_mode) ||
		    (vector == FRED_SYSENTER && !long_mode && ia32))
			return (struct fred_verdict) { FRED_TO_SYS, vector };
		return invalid_opcode;
	}
	return linux_s;
}

/**
 * fred_replay_ss - the word that holds SS, for the replay of a logged interrupt
 * @ss: as saved for the event whose registers the replay uses
 * @vector: the interrupt's
 *
 * Linux's dispatcher takes type and vector from the registers. What the return goes by stays:
 * the selector, the STI and NMI states. A trap flag's event must not come for the call that was
 * replayed, so the software bit goes. The caller puts the word back before the return.
 */
static inline u64 fred_replay_ss(u64 ss, u8 vector)
{
	ss &= ~(FRED_SS_SWEVENT | FRED_SS_VECTOR(0xff) | FRED_SS_TYPE(0xf) |
		FRED_SS_LENGTH(0xf));
	return ss | FRED_SS_TYPE(FRED_EXTINT) | FRED_SS_VECTOR(vector);
}

#endif
