// SPDX-License-Identifier: GPL-2.0-only
/*
 * The in ring while Linux resizes it: Linux writes and resizes, RT code gets, one byte a time.
 * Conventions: see out.pml. -DNO_B: a byte's room is given back before it has been
 * read; -DNO_C: the buffer is switched before the bytes have been copied.
 */
#define MOD 8
#define START 6
#define CAP 4
#define GARBAGE 255
#define PUTS 5
#define RESIZES 2

byte head = START, tail = START;
byte buf;
byte data[CAP * 3];
byte size[3] = 2;
bool freed[3];
bool inside, ended;
byte put, got;
bool over;

#define AT(b, i) data[(b) * CAP + (i) % size_of(b)]
#define USED(h, t) (((h) - (t) + MOD) % MOD)
/* A power of two: the memory of a buffer is as small as its size allows. */
#define size_of(b) (size[b] > 2 -> 4 : size[b])

active proctype rt()
{
	byte b, h, value;

	do
	:: got < PUTS ->
		inside = true;
		h = head;			/* (A) */
		b = buf;			/* (C) */
		if
		:: USED(h, tail) == 0 -> goto left
		:: else
		fi;
		assert(!freed[b]);
#ifdef NO_B
		if
		:: value = AT(b, tail); tail = (tail + 1) % MOD
		:: tail = (tail + 1) % MOD; value = AT(b, (tail + MOD - 1) % MOD)
		fi;
#else
		value = AT(b, tail);
		tail = (tail + 1) % MOD;	/* (B) */
#endif
		assert(value == got);
		got++;
left:		atomic { inside = false; ended = true; b = 0; h = 0; value = 0 }
	:: got == PUTS -> break
	od
}

inline sync()
{
	ended = false;
	!inside || ended
}

active proctype writer()
{
	byte i, h, t, old, wanted, resizes;

	do
	:: put < PUTS && USED(head, tail) < size[buf] ->
		AT(buf, head) = put;
		head = (head + 1) % MOD;	/* (A) */
		put++
	:: resizes < RESIZES ->
		if :: wanted = 1 :: wanted = 2 :: wanted = 3 :: wanted = 4 fi;
		old = buf;
		h = head;
		t = tail;
		if
		:: USED(h, t) > wanted		/* refused */
		:: else ->
			size[resizes + 1] = wanted;
#ifdef NO_C
			buf = resizes + 1;
#endif
			i = t;
			do
			:: i != h ->
				atomic { AT(resizes + 1, i) = AT(old, i); i = (i + 1) % MOD }
			:: else -> break
			od;
			buf = resizes + 1;	/* (C) */
#ifndef NO_SYNC
			sync();
#endif
			atomic {
				freed[old] = true;
				for (i : 0 .. CAP - 1) { data[old * CAP + i] = GARBAGE }
			}
		fi;
		atomic { resizes++; i = 0; h = 0; t = 0; old = 0 }
	:: put == PUTS && resizes == RESIZES -> break
	od
}
