// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pipeline on a model of event delivery: random events of one CPU, delivered by the IDT, by
 * FRED, and to a reference that goes by the tables of docs/pipeline.md and knows of neither.
 * All three must give the same verdicts, and run Linux's interrupts in the same order.
 */
#include <string.h>
#include "check.h"
#include "fred.h"
#include "pipeline/x86/resident/state.h"
#include "pipeline/x86/resident/vecset.h"
#include "state_cases.h"

#define RT_VECTOR 0xfe
#define STEPS 200000

/* ---- what happens, whoever delivers it ---- */

enum event { INTERRUPT, NMI, EXCEPTION, INT_N, INT1, INT3, INTO, SYSCALL, SYSENTER, EVENTS };

struct happening {
	enum event event;
	u8 number;		/* the interrupt's vector, the exception's, INT's operand */
	bool code64;
	u8 during[3], nr_during;	/* interrupts that come while its handler runs */
};

/* ---- what is seen of it ---- */

enum seen { RT_RUNS, LINUX_RUNS, LINUX_EXC, LINUX_NMI, LINUX_SYS, TASK_EXC, TASK_SYS };

struct log {
	struct { u8 seen, vector, sees_if, hard_on; } row[64];
	unsigned int rows;
};

static void note(struct log *log, enum seen seen, u8 vector, bool sees_if, bool hard_on)
{
	CHECK(log->rows < 64);
	log->row[log->rows].seen = seen;
	log->row[log->rows].vector = vector;
	log->row[log->rows].sees_if = sees_if;
	log->row[log->rows++].hard_on = hard_on;
}

/* Two system calls of different numbers, and INT 0x80: as the IDT's world numbers them. */
static u8 sys_number(const struct happening *h)
{
	return h->event == SYSCALL ? FRED_SYSCALL : h->event == SYSENTER ? FRED_SYSENTER : 0x80;
}

/* ---- the pipeline: dispatch.c's rules, by the pure files that it uses ---- */

struct pipeline {
	bool fred;
	enum state_where where;
	bool hard_if, vif, inband_vif;
	struct pl_vecset pending;
	struct log log;
};

static bool oob(const struct pipeline *p)
{
	return state_oob(p->where);
}

/* With FRED, Linux's handler is the one that the saved word names, not the one we mean. */
static void replay(struct pipeline *p, u64 *ss)
{
	int vector;

	while ((vector = pl_vecset_top(&p->pending)) >= 0) {
		u64 saved = *ss;

		pl_vecset_del(&p->pending, vector);
		if (p->fred) {
			u64 kept = FRED_SS_VECTOR(0xff) | FRED_SS_TYPE(0xf) | FRED_SS_SWEVENT |
				   FRED_SS_LENGTH(0xf);
			struct fred_verdict as;

			*ss = fred_replay_ss(saved, vector);
			CHECK_EQ(*ss & ~kept, saved & ~kept);
			CHECK(!(*ss & (FRED_SS_SWEVENT | FRED_SS_LENGTH(0xf))));
			as = fred_verdict(0x10, *ss, true);
			CHECK_EQ(as.taker, FRED_TO_IRQ);
			note(&p->log, LINUX_RUNS, as.vector, true, true);
			*ss = saved;
		} else {
			note(&p->log, LINUX_RUNS, vector, true, true);
		}
	}
	p->vif = true;
}

static void take_interrupt(struct pipeline *p, u8 vector, u64 *ss)
{
	if (vector == RT_VECTOR)
		note(&p->log, RT_RUNS, vector, false, false);
	else
		pl_vecset_add(&p->pending, vector);
	if (!pl_vecset_empty(&p->pending) &&
	    pl_may_run(state_ring3(p->where), !p->vif, oob(p)))
		replay(p, ss);
}

static void deliver(struct pipeline *p, const struct happening *h);

static void take_exception(struct pipeline *p, u8 vector, const struct happening *h, u64 *ss)
{
	struct pl_exc_plan plan = pl_exc_plan(state_ring3(p->where), p->hard_if, !p->vif, oob(p));
	enum state_where where = p->where;
	bool vif = p->vif, hard_if = p->hard_if;

	if (plan.task) {
		note(&p->log, TASK_EXC, vector, false, false);
		return;
	}
	note(&p->log, LINUX_EXC, vector, hard_if && !plan.hide_if, plan.hard_on);
	if (plan.hard_on) {
		p->where = IN_KERNEL;
		p->vif = false;
		for (unsigned int i = 0; i < h->nr_during; i++)
			deliver(p, &(struct happening) { INTERRUPT, h->during[i], true });
		p->where = where;
	}
	if (plan.replay)
		replay(p, ss);
	else
		p->vif = vif;
}

static void take(struct pipeline *p, enum fred_taker taker, u8 vector, const struct happening *h,
		 u64 *ss)
{
	switch (taker) {
	case FRED_TO_LINUX:
		CHECK(!"an event that happens is nobody's");
		break;
	case FRED_TO_IRQ:
		take_interrupt(p, vector, ss);
		break;
	case FRED_TO_EXC:
		take_exception(p, vector, h, ss);
		break;
	case FRED_TO_NMI:
		note(&p->log, LINUX_NMI, vector, false, false);
		break;
	case FRED_TO_SYS:
		note(&p->log, oob(p) ? TASK_SYS : LINUX_SYS, vector, false, false);
		break;
	}
}

/* ---- two CPUs ---- */

/* Gates of exceptions: those with privilege 3 take INT n, all others make it a #GP. */
static void by_idt(struct pipeline *p, const struct happening *h)
{
	bool user = state_ring3(p->where);
	enum fred_taker taker = FRED_TO_EXC;
	u8 vector = h->number;
	u64 none = 0;

	switch (h->event) {
	case INTERRUPT:
		taker = FRED_TO_IRQ;
		break;
	case NMI:
		taker = FRED_TO_NMI;
		vector = 2;
		break;
	case EXCEPTION:
		break;
	case INT_N:
		if (vector == 0x80)
			taker = FRED_TO_SYS;
		else if (vector != 3 && vector != 4)
			vector = 13;
		break;
	case INT1:
		vector = 1;
		break;
	case INT3:
		vector = 3;
		break;
	case INTO:
		vector = 4;
		break;
	case SYSCALL:
	case SYSENTER:
		taker = h->event == SYSCALL && !h->code64 ? FRED_TO_EXC : FRED_TO_SYS;
		vector = taker == FRED_TO_EXC ? 6 : sys_number(h);
		break;
	default:
		CHECK(0);
	}
	if (taker == FRED_TO_EXC && (vector == 8 || (!user && (vector == 1 || vector == 18))))
		taker = FRED_TO_NMI;
	take(p, taker, vector, h, &none);
}

/* What the CPU saves for which event. */
static void by_fred(struct pipeline *p, const struct happening *h)
{
	static const struct { u8 type, vector, length; bool software; } saved[EVENTS] = {
		[INTERRUPT] = { 0 }, [NMI] = { 2, 2 }, [EXCEPTION] = { 3 },
		[INT_N] = { 4, 0, 2, true },
		[INT1] = { 5, 1, 1 }, [INT3] = { 6, 3, 1 }, [INTO] = { 6, 4, 1 },
		[SYSCALL] = { 7, 1, 2, true }, [SYSENTER] = { 7, 2, 2, true },
	};
	u64 cs = state_ring3(p->where) ? 0x33 : 0x10;
	u64 ss = (state_ring3(p->where) ? 0x2b : 0x18) | FRED_SS_TYPE(saved[h->event].type) |
		 FRED_SS_VECTOR(saved[h->event].vector ?: h->number) |
		 FRED_SS_LENGTH(saved[h->event].length);
	struct fred_verdict verdict;
	u64 before;

	if (h->event == NMI)
		ss |= 1ULL << 18;
	if (saved[h->event].software)
		ss |= FRED_SS_SWEVENT;
	if (h->code64)
		ss |= FRED_SS_LONG_MODE;
	before = ss;
	verdict = fred_verdict(cs, ss, true);
	take(p, verdict.taker, verdict.vector, h, &ss);
	CHECK_EQ(ss, before);
}

static void deliver(struct pipeline *p, const struct happening *h)
{
	if (p->fred)
		by_fred(p, h);
	else
		by_idt(p, h);
}

/* ---- the reference: rows of the page, and a plain array ---- */

struct reference {
	enum state_where where;
	bool hard_if, stalled;
	bool waits[256];
	struct log log;
};

static bool row_runs(const struct reference *r)
{
	for (unsigned int i = 0; i < STATE_ROWS(state_interrupts); i++)
		if (state_interrupts[i].where == r->where &&
		    state_fits(state_interrupts[i].stalled, r->stalled))
			return state_interrupts[i].runs;
	CHECK(!"no row");
	return false;
}

static const struct state_exception *row_of(const struct reference *r)
{
	for (unsigned int i = 0; i < STATE_ROWS(state_exceptions); i++)
		if (state_exceptions[i].where == r->where &&
		    state_fits(state_exceptions[i].hard_if, r->hard_if) &&
		    state_fits(state_exceptions[i].stalled, r->stalled))
			return &state_exceptions[i];
	CHECK(!"no row");
	return NULL;
}

static void reference_unstall(struct reference *r)
{
	for (int v = 255; v >= 0; v--)
		if (r->waits[v]) {
			r->waits[v] = false;
			note(&r->log, LINUX_RUNS, v, true, true);
		}
	r->stalled = false;
}

static void reference_interrupt(struct reference *r, u8 vector)
{
	if (vector == RT_VECTOR) {
		note(&r->log, RT_RUNS, vector, false, false);
		return;
	}
	r->waits[vector] = true;
	if (row_runs(r))
		reference_unstall(r);
}

static void reference_exception(struct reference *r, u8 vector, const struct happening *h)
{
	const struct state_exception *row = row_of(r);

	if (row->task) {
		note(&r->log, TASK_EXC, vector, false, false);
		return;
	}
	note(&r->log, LINUX_EXC, vector, row->sees_if, row->hard_on);
	for (unsigned int i = 0; row->hard_on && i < h->nr_during; i++) {
		if (h->during[i] == RT_VECTOR)
			note(&r->log, RT_RUNS, RT_VECTOR, false, false);
		else
			r->waits[h->during[i]] = true;
	}
	if (row->replay)
		reference_unstall(r);
}

static void reference_call(struct reference *r, const struct happening *h)
{
	note(&r->log, state_oob(r->where) ? TASK_SYS : LINUX_SYS, sys_number(h), false, false);
}

static void refer(struct reference *r, const struct happening *h)
{
	bool user = state_ring3(r->where);

	switch (h->event) {
	case INTERRUPT:
		reference_interrupt(r, h->number);
		break;
	case NMI:
		note(&r->log, LINUX_NMI, 2, false, false);
		break;
	case EXCEPTION:
		if (h->number == 8 || (!user && (h->number == 1 || h->number == 18)))
			note(&r->log, LINUX_NMI, h->number, false, false);
		else
			reference_exception(r, h->number, h);
		break;
	case INT1:
		if (user)
			reference_exception(r, 1, h);
		else
			note(&r->log, LINUX_NMI, 1, false, false);
		break;
	case INT3:
	case INTO:
		reference_exception(r, h->event == INT3 ? 3 : 4, h);
		break;
	case INT_N:
		if (h->number == 0x80)
			reference_call(r, h);
		else
			reference_exception(r, h->number == 3 || h->number == 4 ? h->number : 13,
					    h);
		break;
	case SYSCALL:
	case SYSENTER:
		if (h->event == SYSCALL && !h->code64)
			reference_exception(r, 6, h);
		else
			reference_call(r, h);
		break;
	default:
		CHECK(0);
	}
}

/* ---- random sequences ---- */

static unsigned int below(unsigned int end)
{
	static u64 seed = 1;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % end;
}

/* Few of them, so that some meet in the log. 0x80 is no device's with the IDT. */
static u8 any_interrupt(void)
{
	static const u8 some[] = { 0x20, 0x21, 0x3f, 0x79, 0xec, 0xf6, 0xfb, RT_VECTOR };

	return some[below(sizeof(some))];
}

static struct happening any_event(enum state_where where, bool hard_if)
{
	static const u8 exceptions[] = {
		0, 1, 5, 6, 7, 8, 10, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21
	};
	struct happening h = { .code64 = !state_ring3(where) || below(2), .nr_during = below(4) };

	/* INT n and system calls are ring 3's; INTO is of 32-bit code only. */
	do {
		h.event = below(EVENTS);
	} while ((h.event == INTERRUPT && !hard_if) ||
		 (!state_ring3(where) && (h.event == INT_N || h.event == INTO ||
					  h.event == SYSCALL || h.event == SYSENTER)) ||
		 (h.event == INTO && h.code64) ||
		 /* Linux itself differs: with FRED a SYSENTER of 64-bit code is a #UD. */
		 (h.event == SYSENTER && h.code64));
	if (h.event == INTERRUPT)
		h.number = any_interrupt();
	else if (h.event == EXCEPTION)
		h.number = exceptions[below(sizeof(exceptions))];
	else if (h.event == INT_N)
		h.number = below(3) ? below(256) : (u8[]) { 3, 4, 0x80, 2, 18 }[below(5)];
	for (unsigned int i = 0; i < h.nr_during; i++)
		h.during[i] = any_interrupt();
	return h;
}

static void same(struct log *got, const struct log *want, int step)
{
	size_t bytes = want->rows * sizeof(want->row[0]);

	if (got->rows != want->rows || memcmp(got->row, want->row, bytes))
		fprintf(stderr, "step %d: first %u of %#x, not %u of %#x\n", step,
			got->row[0].seen, got->row[0].vector, want->row[0].seen,
			want->row[0].vector);
	CHECK_EQ(got->rows, want->rows);
	CHECK(!memcmp(got->row, want->row, bytes));
	got->rows = 0;
}

/* The CPU is elsewhere now: Linux's soft cli or sti, a way to ring 3, a switch to RT code. */
static void go_on(struct reference *r, struct pipeline *p[2])
{
	enum state_where to = below(STATE_WHERES);
	bool stall = below(2), hard_if = state_ring3(to) || below(4);

	if (state_oob(r->where) != state_oob(to) && !state_oob(to)) {
		/* RT code leaves: as Linux was; then the return replays, by the same rule. */
		for (int i = 0; i < 2; i++)
			p[i]->vif = p[i]->inband_vif;
		r->stalled = !p[0]->inband_vif;
	} else if (state_oob(r->where) != state_oob(to)) {
		for (int i = 0; i < 2; i++) {
			p[i]->inband_vif = p[i]->vif;
			p[i]->vif = false;
		}
		r->stalled = true;
	}
	r->where = p[0]->where = p[1]->where = to;
	r->hard_if = p[0]->hard_if = p[1]->hard_if = hard_if;
	if (state_oob(to))
		return;
	if (to == IN_KERNEL && stall) {
		if (r->stalled || below(2)) {
			r->stalled = true;
			p[0]->vif = p[1]->vif = false;
			return;
		}
	}
	reference_unstall(r);
	for (int i = 0; i < 2; i++) {
		/* The frame of a soft sti: kernel, interrupts on. */
		u64 own = 0x18 | FRED_SS_LONG_MODE;

		replay(p[i], &own);
	}
}

static void test_sequences(void)
{
	static struct pipeline idt = { .vif = true }, fred = { .fred = true, .vif = true };
	static struct reference reference;
	unsigned int rows[TASK_SYS + 1] = {};

	go_on(&reference, (struct pipeline *[]) { &idt, &fred });
	for (int step = 0; step < STEPS; step++) {
		if (!below(3)) {
			go_on(&reference, (struct pipeline *[]) { &idt, &fred });
		} else {
			struct happening h = any_event(reference.where, reference.hard_if);

			refer(&reference, &h);
			deliver(&idt, &h);
			deliver(&fred, &h);
		}
		for (unsigned int i = 0; i < reference.log.rows; i++)
			rows[reference.log.row[i].seen]++;
		same(&idt.log, &reference.log, step);
		same(&fred.log, &reference.log, step);
		reference.log.rows = 0;
		CHECK(!memcmp(&idt.pending, &fred.pending, sizeof(idt.pending)));
		for (int v = 0; v < 256; v++)
			CHECK_EQ(pl_vecset_has(&fred.pending, v), reference.waits[v]);
		CHECK_EQ(fred.vif, !reference.stalled);
		CHECK_EQ(idt.vif, fred.vif);
	}
	/* Nothing of all this is empty. */
	for (int i = 0; i <= TASK_SYS; i++)
		CHECK(rows[i] > STEPS / 200);
}

/* ---- every event there could be ---- */

/* Counted by hand, of 256 vectors each; the rest is for Linux to call invalid. */
static void test_every_event(void)
{
	for (int n = 0; n < 2 * 16 * 2 * 2; n++) {
		bool user = n & 1, code64 = n & 2, ia32 = n & 4;
		unsigned int type = n >> 3, taken[FRED_TO_SYS + 1] = {};
		unsigned int exc = 0, nmi = 0, sys = 0;

		for (int vector = 0; vector < 256; vector++) {
			u64 ss = FRED_SS_TYPE(type) | FRED_SS_VECTOR(vector) |
				 (code64 ? FRED_SS_LONG_MODE : 0);
			u64 cs = 0x10 | FRED_CS_LEVEL(1 + n % 3);

			taken[fred_verdict(user ? 0x33 : 0x10, ss, ia32).taker]++;
			/* Above level 0 no interrupt is taken: RT code could not switch there. */
			if (type == FRED_EXTINT)
				CHECK_EQ(fred_verdict(cs, ss, ia32).taker, FRED_TO_LINUX);
		}
		switch (type) {
		case FRED_NMI:
			nmi = 1;
			break;
		case FRED_HWEXC:
			nmi = user ? 1 : 3;
			exc = user ? 16 : 14;
			break;
		case FRED_SWINT:
			sys = user && ia32;
			exc = user ? 256 - sys : 0;
			break;
		case FRED_INT1:
			nmi = !user;
			exc = user;
			break;
		case FRED_SWEXC:
			exc = 2;
			break;
		case FRED_OTHER:
			sys = user && (code64 || ia32);
			exc = user ? 256 - sys : 0;
			break;
		}
		CHECK_EQ(taken[FRED_TO_IRQ], type == FRED_EXTINT ? 224 : 0);
		CHECK_EQ(taken[FRED_TO_NMI], nmi);
		CHECK_EQ(taken[FRED_TO_SYS], sys);
		CHECK_EQ(taken[FRED_TO_EXC], exc);
	}
}

#define CALL(name) name();

int main(void)
{
	STATE_CASES(CALL)	/* what the model leans on */
	test_every_event();
	test_sequences();
	return 0;
}
