// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a key is answered with.
 *
 * Whatever a press has made to sound, its own release ends: on the channel and note, after the
 * delay, and by the rule for the length that held at the press. So no change of a parameter leaves
 * a note hanging.
 */
#include "parts.h"

/* Parameter @name of feedback @which: the two are alike. */
#define OF(engine, which, name)							\
	((engine)->value[TAP_P_FEED_##name +					\
			 (which) * (TAP_P_FEED2_ON - TAP_P_FEED_ON)])

_Static_assert(TAP_P_FEED2_DSTEP - TAP_P_FEED_DSTEP == TAP_P_FEED2_ON - TAP_P_FEED_ON,
	       "the two feedbacks are alike");

static u8 pitch(struct tap_engine *e, unsigned int which, u8 note)
{
	unsigned int array = which ? TAP_P_FEED2_NOTE_ARRAY : TAP_P_FEED_NOTE_ARRAY;
	const struct tap_list *list = tap_engine_list(e, array);
	s64 linear;

	switch (OF(e, which, PMODE)) {
	case 1:
		return OF(e, which, NOTE);
	case 2:
		return tap_random(e, which, OF(e, which, PMIN), OF(e, which, PMAX));
	case 3:
		linear = note * OF(e, which, PMUL) / 100 + OF(e, which, PADD);
		return tap_clamp(linear, 0, MIDI_NOTES - 1);
	case 4:
		return list->count ? list->element[(e->presses - 1) % list->count] : note;
	default:
		return note;
	}
}

static u8 velocity(struct tap_engine *e, unsigned int which, u8 played)
{
	s64 linear;

	switch (OF(e, which, VMODE)) {
	case 1:
		return OF(e, which, VEL);
	case 2:
		return tap_random(e, which, OF(e, which, VMIN), OF(e, which, VMAX));
	case 3:
		linear = played * OF(e, which, VMUL) / 100 + OF(e, which, VADD);
		return tap_clamp(linear, 1, 127);
	default:
		return played;
	}
}

static u64 delay(struct tap_engine *e, unsigned int which)
{
	s64 steps;

	switch (OF(e, which, DMODE)) {
	case 1:
		return OF(e, which, DVAL);
	case 2:
		return tap_random(e, which, OF(e, which, DMIN), OF(e, which, DMAX));
	case 3:
		if (__builtin_mul_overflow(OF(e, which, DSTEP), (s64)e->presses - 1, &steps))
			steps = OF(e, which, DSTEP) < 0 ? -TAP_HOUR_NS : TAP_HOUR_NS;
		steps = tap_clamp(steps, -TAP_HOUR_NS, TAP_HOUR_NS);
		return tap_clamp(OF(e, which, DVAL) + steps, 0, TAP_HOUR_NS);
	default:
		return 0;
	}
}

static u8 class_of(unsigned int which)
{
	return which ? TAP_FEEDBACK2 : TAP_FEEDBACK;
}

/* The key goes up, or down a second time: its note ends. */
static void let_go(struct tap_engine *e, unsigned int which, struct tap_held *held, u64 at_ns,
		   u32 source)
{
	u64 on_ns = held->press_ns + held->delay_ns, off_ns = at_ns + held->delay_ns;
	struct tap_out off = { .class = class_of(which), .source = source, .value = held->press };

	if (held->lmode == 2) {
		s64 length = (s64)(at_ns - held->press_ns) * held->lmul / 100 + held->ladd_ns;

		off_ns = on_ns + tap_clamp(length, 0, S64_MAX / 2);
		if (off_ns < at_ns)
			off_ns = at_ns;		/* it should have ended before it was known when */
	}
	off.due_ns = off_ns < on_ns ? on_ns : off_ns;
	held->owes_off = false;
	tap_engine_off(e, &off, held->channel, held->note, true);
}

/* Does feedback @which answer a key now? */
static bool answers(const struct tap_engine *e, unsigned int which, u8 note)
{
	if (e->value[TAP_P_FEED_ON] == 3)
		return which == (note >= e->value[TAP_P_SPLIT_POINT]);
	return OF(e, which, ON);
}

static void press(struct tap_engine *e, unsigned int which, u8 channel, u8 note, u8 played,
		  u64 at_ns, u32 source)
{
	struct tap_held *held = &e->held[which][channel][note];
	struct tap_out on = {
		.class = class_of(which), .source = source, .value = e->presses,
	};
	u8 lmode = OF(e, which, LMODE);
	s64 length = -1;
	struct tap_held new;
	u8 out_note, loud;
	u64 delay_ns;

	if (held->owes_off)
		let_go(e, which, held, at_ns, source);
	if (!answers(e, which, note))
		return;

	/*
	 * In this order, and even if the note is refused: random numbers must come out the same
	 * from every compiler, and whatever was refused before.
	 */
	delay_ns = delay(e, which);
	out_note = pitch(e, which, note);
	loud = velocity(e, which, played);
	if (!lmode && OF(e, which, LEN))
		length = OF(e, which, LEN);
	else if (lmode == 1)
		length = tap_random(e, which, OF(e, which, LMIN), OF(e, which, LMAX));

	new = (struct tap_held) {
		.press_ns = at_ns, .delay_ns = delay_ns, .press = e->presses,
		.lmode = lmode, .lmul = OF(e, which, LMUL), .ladd_ns = OF(e, which, LADD),
		.channel = OF(e, which, CHAN) ? OF(e, which, CHAN) - 1 : channel,
		.note = out_note, .owes_off = length < 0,
	};
	on.due_ns = at_ns + delay_ns;
	if (tap_engine_note(e, &on, new.channel, new.note, loud, length))
		*held = new;
}

void tap_feedback_press(struct tap_engine *engine, const struct midi_message *message, u64 at_ns,
			u32 source)
{
	for (unsigned int which = 0; which < 2; which++)
		press(engine, which, message->byte[0] & 0x0f, message->byte[1], message->byte[2],
		      at_ns, source);
}

void tap_feedback_release(struct tap_engine *engine, const struct midi_message *message, u64 at_ns,
			  u32 source)
{
	for (unsigned int which = 0; which < 2; which++) {
		struct tap_held *held = &engine->held[which][message->byte[0] & 0x0f]
						     [message->byte[1]];

		if (held->owes_off)
			let_go(engine, which, held, at_ns, source);
	}
}

#undef OF
