// SPDX-License-Identifier: GPL-2.0-only
/*
 * The out ring while Linux resizes it: rtfifo/ring.c, access by access. RT code puts, one byte a
 * time, the long way or the short one; Linux reads and resizes, in any order, growing and
 * shrinking. Bytes are numbered, so a lost, doubled or garbled one is seen.
 *
 * A barrier that is taken away (-DNO_A and so on) leaves its two accesses in either order.
 * Indices are modulo 8 and begin just below the wrap. sync() waits for the RT operation that is
 * going on, and for no other: -DNO_SYNC takes the last one away, which lets the old buffer go.
 */
#define MOD 8
#define START 6
#define CAP 4
#define GARBAGE 255

#ifndef PUTS
#define PUTS 4
#endif
#ifndef RESIZES
#define RESIZES 2
#endif

byte head = START, tail = START;
byte buf;			/* which buffer the ring uses */
byte data[CAP * 3];		/* of buffers 0, 1, 2, one for each resize */
byte size[3] = 2, limit[3] = 2;
bool freed[3];
byte prod_gen, prod_from;	/* a buffer's generation is its number */
bool inside;			/* RT code is inside an operation, interrupts off */
bool ended;			/* one has ended since this was cleared */
byte put, got;			/* bytes so far: the model */
bool over;			/* no more puts come */

#define AT(b, i) data[(b) * CAP + (i) % CAP]
#define USED(h, t) (((h) - (t) + MOD) % MOD)

/* first; second, as the barrier between them says, or as they like without it */
#ifdef NO_A
#define ORDER_A(first, second) if :: first; second :: second; first fi
#else
#define ORDER_A(first, second) first; second
#endif
#ifdef NO_D
#define ORDER_D(first, second) if :: first; second :: second; first fi
#else
#define ORDER_D(first, second) first; second
#endif

active proctype rt()
{
	byte b, h, used, room;

	do
	:: put < PUTS ->
		inside = true;
		b = buf;
		h = head;
		used = USED(h, tail);
		room = limit[b];
		if
		:: used + 1 <= room -> skip		/* the short way */
		:: else ->
			room = size[b];
			if
			:: used + 1 > room ->
				/* Refused: only if the smaller of the sizes a resize is between is full. */
				goto left
			:: else
			fi;
			if
			:: prod_gen != b -> ORDER_D(prod_from = h, prod_gen = b)
			:: else
			fi;
			limit[b] = room
		fi;
		assert(!freed[b]);
		ORDER_A(AT(b, h) = put, head = (h + 1) % MOD);
		put++;
left:		atomic { inside = false; ended = true; b = 0; h = 0; used = 0; room = 0 }
	:: put == PUTS -> break
	od;
	over = true
}

inline sync()
{
	ended = false;
	!inside || ended
}

inline move(from, to, first, last)
{
	i = first;
	do
	:: i != last -> atomic { AT(to, i) = AT(from, i); i = (i + 1) % MOD }
	:: else -> break
	od
}

inline resize(new)
{
	atomic { old = buf; size[new] = wanted; before = size[old] };
	if
	:: wanted < before ->
		size[old] = wanted;
		limit[old] = 0;
		sync();
		limit[old] = 0
	:: else
	fi;
#ifndef NO_FIRST_SYNC
	sync();
#endif
	t = tail;
	if
	:: USED(head, t) > wanted -> size[old] = before
	:: else ->
		copied = head;
		limit[new] = 0;
		move(old, new, t, copied);
		buf = new;			/* (C) matters for the in ring: see in.pml */
#ifndef NO_SYNC
		sync();
#endif
#ifdef NO_ORDER
		if
		:: prod_gen == new -> end = prod_from
		:: else -> end = head
		fi;
#else
		end = head;
		if
		:: prod_gen == new -> end = prod_from
		:: else
		fi;
#endif
#ifndef NO_LAST_MOVE
		move(old, new, copied, end);
#endif
		atomic {
			freed[old] = true;
			AT(old, 0) = GARBAGE; AT(old, 1) = GARBAGE;
			AT(old, 2) = GARBAGE; AT(old, 3) = GARBAGE
		}
	fi;
	atomic { old = 0; before = 0; t = 0; copied = 0; end = 0; i = 0 }
}

active proctype resizer()
{
	byte old, before, t, copied, end, i, wanted, resizes;

	do
	:: head != tail ->			/* read one */
		assert(USED(head, tail) <= size[buf]);
		assert(AT(buf, tail) == got);
		tail = (tail + 1) % MOD;
		got++
	:: resizes < RESIZES && buf == resizes ->
		if :: wanted = 1 :: wanted = 2 :: wanted = 3 :: wanted = 4 fi;
		resize(resizes + 1);
		resizes++
	:: over && head == tail -> break
	od;
	assert(got == put)
}
