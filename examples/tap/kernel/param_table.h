/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parameters: the one table that the loop, its checker and the reference are made of.
 *
 * A row of TAP_SCALARS is (name, type, least, most, preset, allowed, help); allowed is a mask of
 * the values that are allowed, 0 for all from least to most. Times are given in ms here and in
 * files, and are ns everywhere else. A row of TAP_ARRAYS is (name, least, most, help), the limits
 * being those of each element. TAP_STRINGS stay with the companion: (name, help).
 *
 * The order is the parameters' numbers; the two feedbacks, and the two streams, are alike.
 */
#ifndef _TAP_PARAM_TABLE_H
#define _TAP_PARAM_TABLE_H

#define TAP_HOUR_MS 3600000LL

#define TAP_FEEDBACK_SCALARS(P, F, ON_MOST, ON_ALLOWED, ON_HELP)				\
	P(F##_ON, INT, 0, ON_MOST, 0, ON_ALLOWED, ON_HELP)					\
	P(F##_CHAN, INT, 0, 16, 1, 0, "channel; 0: the key's own")				\
	P(F##_PMODE, INT, 0, 4, 0, 0, "pitch: 0 the key's, 1 " #F "_NOTE, 2 random from " #F	\
	  "_PMIN to " #F "_PMAX, 3 the key's * " #F "_PMUL / 100 + " #F "_PADD, 4 the next of "	\
	  #F "_NOTE_ARRAY")									\
	P(F##_NOTE, INT, 0, 127, 60, 0, "note in pitch mode 1")					\
	P(F##_PMIN, INT, 0, 127, 48, 0, "lowest note in pitch mode 2")				\
	P(F##_PMAX, INT, 0, 127, 72, 0, "highest note in pitch mode 2")				\
	P(F##_PMUL, INT, -1000, 1000, 100, 0,							\
	  "factor in pitch mode 3, per cent; negative: mirrored")				\
	P(F##_PADD, INT, -127, 1270, 0, 0, "what is added in pitch mode 3, semitones")		\
	P(F##_VMODE, INT, 0, 3, 0, 0, "velocity: 0 the key's, 1 " #F "_VEL, 2 random from " #F	\
	  "_VMIN to " #F "_VMAX, 3 the key's * " #F "_VMUL / 100 + " #F "_VADD")		\
	P(F##_VEL, INT, 1, 127, 64, 0, "velocity in velocity mode 1")				\
	P(F##_VMIN, INT, 1, 127, 32, 0, "least velocity in velocity mode 2")			\
	P(F##_VMAX, INT, 1, 127, 96, 0, "greatest velocity in velocity mode 2")			\
	P(F##_VMUL, INT, -1000, 1000, 100, 0, "factor in velocity mode 3, per cent")		\
	P(F##_VADD, INT, -127, 1270, 0, 0, "what is added in velocity mode 3")			\
	P(F##_LMODE, INT, 0, 2, 0, 0, "length: 0 " #F "_LEN, 1 random from " #F "_LMIN to " #F	\
	  "_LMAX, 2 the key's * " #F "_LMUL / 100 + " #F "_LADD")				\
	P(F##_LEN, TIME, 0, TAP_HOUR_MS, 0, 0,							\
	  "length in length mode 0; 0: while the key is held")					\
	P(F##_LMIN, TIME, 0, TAP_HOUR_MS, 50, 0, "least length in length mode 1")		\
	P(F##_LMAX, TIME, 0, TAP_HOUR_MS, 250, 0, "greatest length in length mode 1")		\
	P(F##_LMUL, INT, 0, 1000, 100, 0, "factor in length mode 2, per cent")			\
	P(F##_LADD, TIME, -TAP_HOUR_MS, TAP_HOUR_MS, 0, 0, "what is added in length mode 2")	\
	P(F##_DMODE, INT, 0, 3, 0, 0, "delay: 0 none, 1 " #F "_DVAL, 2 random from " #F		\
	  "_DMIN to " #F "_DMAX, 3 " #F "_DVAL + " #F "_DSTEP * presses before this one")	\
	P(F##_DVAL, TIME, 0, TAP_HOUR_MS, 0, 0, "delay in delay mode 1; first delay in mode 3")	\
	P(F##_DMIN, TIME, 0, TAP_HOUR_MS, 0, 0, "least delay in delay mode 2")			\
	P(F##_DMAX, TIME, 0, TAP_HOUR_MS, 500, 0, "greatest delay in delay mode 2")		\
	P(F##_DSTEP, TIME, -TAP_HOUR_MS, TAP_HOUR_MS, 0, 0, "what each press adds in delay mode 3")

#define TAP_STREAM_SCALARS(P, S, ON, BEAT, WHAT, CHAN, NOTE)					\
	P(ON, INT, 0, 1, 0, 0, WHAT " sounds; its beats are counted in any case")		\
	P(BEAT, TIME, 1, TAP_HOUR_MS, 500, 0, "from one beat to the next")			\
	P(S##_DELAY, TIME, 0, TAP_HOUR_MS, 0, 0, "from the start to the first beat")		\
	P(S##_COUNT, INT, 0, 1000000, 0, 0, "so many beats in all; 0: no end")			\
	P(S##_SHIFT, TIME, -TAP_HOUR_MS, TAP_HOUR_MS, 0, 0,					\
	  "moves the next beat and with it all that follow; once, when it is set")		\
	P(S##_CHAN, INT, 1, 16, CHAN, 0, "channel")						\
	P(S##_NOTE, INT, 0, 127, NOTE, 0, "note")						\
	P(S##_VEL, INT, 1, 127, 64, 0, "velocity")						\
	P(S##_LEN, TIME, 0, TAP_HOUR_MS, 50, 0, "length of a tone")

#define TAP_SCALARS(P)										\
	P(END_EXP, END, 0, 0, 0, 0, "in triggers only: ends the trial; the value does not count") \
	P(SEED, INT, 0, 4294967295LL, 1, 0, "what all random numbers are made from")		\
	P(THRU_ON, INT, 0, 1, 0, 0,								\
	  "pass on messages other than notes (pedals, wheels, programs)")			\
	P(SPLIT_POINT, INT, 0, 127, 60, 0, "with FEED_ON 3: the lowest key that FEED2_ answers") \
	TAP_FEEDBACK_SCALARS(P, FEED, 3, 0xb,							\
	  "feedback: 0 off, 1 on, 3 split keyboard: keys below "				\
	  "SPLIT_POINT are answered as FEED_ says, the others as FEED2_ says")			\
	TAP_FEEDBACK_SCALARS(P, FEED2, 1, 0,							\
	  "second feedback to every key; no effect with FEED_ON 3")				\
	P(MASK_ON, INT, 0, 1, 0, 0, "masking: tones of random pitch")				\
	P(MASK_MSPT, TIME, 1, TAP_HOUR_MS, 50, 0, "from one masking tone to the next")		\
	P(MASK_CHAN, INT, 1, 16, 2, 0, "channel")						\
	P(MASK_NMIN, INT, 0, 127, 36, 0, "lowest note")						\
	P(MASK_NMAX, INT, 0, 127, 84, 0, "highest note")					\
	P(MASK_VEL, INT, 1, 127, 64, 0, "velocity")						\
	P(MASK_LEN, TIME, 0, TAP_HOUR_MS, 50, 0, "length of a tone")				\
	TAP_STREAM_SCALARS(P, MET, METRON_ON, MSPB, "the metronome", 10, 76)			\
	TAP_STREAM_SCALARS(P, PACE, PACE_ON, PACE_MSPB, "the stream of pacing tones", 3, 72)

#define TAP_STREAM_ARRAYS(P, S)									\
	P(S##_PATTERN_ARRAY, 0, 1, "which beats sound, over and over; none: all do")		\
	P(S##_CHAN_ARRAY, 1, 16, "channel of each beat, over and over; none: " #S "_CHAN")	\
	P(S##_NOTE_ARRAY, 0, 127, "note of each beat, over and over; none: " #S "_NOTE")	\
	P(S##_VEL_ARRAY, 1, 127, "velocity of each beat, over and over; none: " #S "_VEL")

#define TAP_ARRAYS(P)										\
	P(FEED_NOTE_ARRAY, 0, 127, "notes in pitch mode 4, over and over")			\
	P(FEED2_NOTE_ARRAY, 0, 127, "notes in pitch mode 4, over and over")			\
	TAP_STREAM_ARRAYS(P, MET)								\
	TAP_STREAM_ARRAYS(P, PACE)

#define TAP_STRINGS(P)										\
	P(TITLE, "what the trial is, for people")						\
	P(TASK, "the task's name in file names: letters and digits")				\
	P(SUBJECT, "who taps, in file names: letters and digits")				\
	P(SESSION, "the session, in file names: letters and digits")

#endif
