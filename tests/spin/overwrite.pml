// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overwriting against a reader (barrier F): ring_put_overwrite() and ring_try_consume(). The
 * producer takes the oldest byte from the reader by an exchange of tail before it writes; the
 * reader exchanges tail after it has read. A read that is believed is of the right byte, and every
 * byte was read or counted as lost. -DNO_F: the reader just stores; -DNO_F2: the producer
 * writes first.
 */
#define MOD 16
#define START 13
#define CAP 2
#ifndef PUTS
#define PUTS 5
#endif

byte head = START, tail = START, data[CAP], lost, got, void_reads;
bool over;

#define USED(h, t) (((h) - (t) + MOD) % MOD)
#define AT(i) data[(i) % CAP]

active proctype rt()
{
	byte k, t;

	do
	:: k < PUTS ->
		t = tail;
		do
		:: USED(head, t) + 1 > CAP ->
#ifdef NO_F2
			AT(head) = k;
#endif
			atomic {
				if
				:: tail == t -> tail = (t + 1) % MOD; lost++; break
				:: else -> t = tail
				fi
			}
		:: else -> break
		od;
		AT(head) = k;
		head = (head + 1) % MOD;
		k++
	:: k == PUTS -> break
	od;
	over = true
}

active proctype reader()
{
	byte t, value, next;	/* next: the number of the byte at t */
	bool last;

	do
	:: last = over;
		t = tail;
		if
		:: USED(head, t) == 0 ->
			if :: last -> break :: else fi
		:: USED(head, t) > 0 && USED(head, t) <= CAP ->
			value = AT(t);
#ifdef NO_F
			tail = (t + 1) % MOD;
			assert(value == (t - START + MOD) % MOD);
			got++
#else
			atomic {
				if
				:: tail == t ->
					tail = (t + 1) % MOD;
					assert(value == (t - START + MOD) % MOD);
					got++
				:: else -> void_reads = 1
				fi
			}
#endif
		:: else -> void_reads = 1		/* tail and head were read at different times */
		fi
	od;
	assert(got + lost == PUTS)
}
