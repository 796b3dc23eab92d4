/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A lock among RT code and Linux code, taken with hardware interrupts off.
 *
 * The kernel's spinlocks are not for RT code: lockdep, preemption counts, paravirt
 * slow paths that halt. This is a ticket lock: first come, first served, so that a
 * CPU waits for at most one section of each other CPU.
 *
 * Order: that of all objects to wait for; the lock of one CPU, or two by hardlock_pair();
 * the reaper's.
 */
#ifndef _TACTUS_HARDLOCK_H
#define _TACTUS_HARDLOCK_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <asm/processor.h>
#include "pipeline/pipeline.h"

struct hardlock {
	atomic_t next;
	int owner;
};

static __always_inline void hardlock(struct hardlock *lock)
{
	int ticket;

	__this_cpu_inc(pl_cpu.locks);
	ticket = atomic_fetch_inc(&lock->next);
	/* Pairs with the release in hardunlock(): what that owner wrote is seen. */
	if (unlikely(smp_load_acquire(&lock->owner) != ticket)) {
		do {
			cpu_relax();
		} while (smp_load_acquire(&lock->owner) != ticket);
	}
}

static __always_inline void hardunlock(struct hardlock *lock)
{
	/* Pairs with the acquire in hardlock(). The holder alone writes it. */
	smp_store_release(&lock->owner, READ_ONCE(lock->owner) + 1);
	__this_cpu_dec(pl_cpu.locks);
}

/* For assertions: somebody holds it, and this CPU holds some lock. Context: interrupts off. */
static inline bool hardlock_held(const struct hardlock *lock)
{
	return atomic_read(&lock->next) != READ_ONCE(lock->owner) &&
	       __this_cpu_read(pl_cpu.locks);
}

/* Two different locks at once, in an order that all agree on. */
static __always_inline void hardlock_pair(struct hardlock *a, struct hardlock *b)
{
	hardlock(a < b ? a : b);
	hardlock(a < b ? b : a);
}

#endif
