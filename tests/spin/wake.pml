// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleeping and waking (barrier E): rtf_want() and rtf_wanted(). Each of two readers takes the place of
 * the sleeper, if it is free, or queues up; says what it waits for; and then looks. RT code moves head
 * and then looks at want. Nobody sleeps for ever: that would be an invalid end state.
 * -DNO_E_LINUX, -DNO_E_RT: one side's two accesses in either order. -DKEEP_WANT: the wake-up clears
 * want after it has woken, not before; -DLOOK_FIRST: after it has looked who is in the place and in the
 * queue. -DLATE_STATE: the sleeper goes to sleep after its look, whoever has woken it meanwhile.
 */
#define BYTES 2

byte head, want, place;
bool asleep[2], queued[2], posted;

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

inline look()
{
	who = place;
	any = queued[0] || queued[1]
}

inline wake()
{
	if
	:: who -> asleep[who - 1] = false
	:: else
	fi;
	if
	:: any && queued[0] -> asleep[0] = false
	:: else
	fi;
	if
	:: any && queued[1] -> asleep[1] = false
	:: else
	fi
}

/* What the post has Linux do, in its interrupt. */
active proctype post()
{
	byte who;
	bool any;

end:	do
	:: posted ->
		posted = false;
#ifdef KEEP_WANT
		look();
		wake();
		want = 0
#else
#ifdef LOOK_FIRST
		look();
		want = 0;
#else
		want = 0;
		look();
#endif
		wake()
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
	:: if
	   :: atomic { place == 0 -> place = need }
	   :: queued[need - 1] = true
	   fi;
#ifndef LATE_STATE
		asleep[need - 1] = true;
#endif
#ifdef NO_E_LINUX
		if
		:: ask(need); seen = head
		:: seen = head; ask(need)
		fi;
#else
		ask(need);
		seen = head;
#endif
#ifdef LATE_STATE
		asleep[need - 1] = true;
#endif
		if
		:: seen >= need
		:: else -> !asleep[need - 1]		/* schedule() */
		fi;
		asleep[need - 1] = false;
		queued[need - 1] = false;
		if
		:: place == need -> place = 0
		:: else
		fi;
		if
		:: seen >= need -> break
		:: else
		fi
	od
}
