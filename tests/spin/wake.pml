// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleeping and waking (barrier E): rtf_want() and rtf_wanted(). Each of two readers says what it
 * waits for and then looks; RT code moves head and then looks at want. Nobody sleeps for ever:
 * that would be an invalid end state. -DNO_E_LINUX, -DNO_E_RT: one side's two accesses
 * in either order. -DKEEP_WANT: the wake-up clears want after it has woken, not before.
 */
#define BYTES 2

byte head, want, taken;
bool asleep[2], posted;

#ifdef NO_E_RT
#define ORDER_RT(first, second) if :: first; second :: second; first fi
#else
#define ORDER_RT(first, second) first; second
#endif

active proctype rt()
{
	byte seen;

	do
	:: head < BYTES ->
		ORDER_RT(head = head + 1, seen = want);
		if
		:: seen != 0 && head >= seen -> posted = true
		:: else
		fi
	:: else -> break
	od
}

/* What the post has Linux do, in its interrupt. */
active proctype post()
{
end:	do
	:: posted ->
		posted = false;
#ifdef KEEP_WANT
		asleep[0] = false; asleep[1] = false;
		want = 0
#else
		want = 0;
		asleep[0] = false; asleep[1] = false
#endif
	od
}

inline ask(need)
{
	/* rtf_want(): lower it, by exchanges */
	do
	:: atomic { want == 0 || want > need -> want = need }; break
	:: atomic { want != 0 && want <= need -> break }
	od
}

/* Reader 0 waits for the first byte, reader 1 for the second: a low-water mark. */
active [2] proctype reader()
{
	byte need = _pid - 1;
	byte seen;

	do
	:: asleep[need - 1] = true;		/* queued */
#ifdef NO_E_LINUX
		if
		:: ask(need); seen = head
		:: seen = head; ask(need)
		fi;
#else
		ask(need);
		seen = head;
#endif
		if
		:: seen >= need -> break
		:: else
		fi;
		!asleep[need - 1]		/* schedule() */
	od
}
