/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How plug-ins end the turns of several CPUs in virtual time: a CPU's turn is over when a timer of the
 * virtual clock is due, so a timer of theirs that does nothing but start anew ends turns.
 *
 * QEMU's interface for plug-ins has no timers: these are of the program itself, which exports its
 * symbols for its own modules.
 */
#ifndef _TURNS_H
#define _TURNS_H

#include <stdbool.h>
#include <stdint.h>

#define VIRTUAL_CLOCK	1	/* QEMU_CLOCK_VIRTUAL */
#define NANOSECONDS	1	/* SCALE_NS */
#define ALL_TIMERS	(~0)	/* QEMU_TIMER_ATTR_ALL */

/* QEMU's, no more of them than is used here; its timer is smaller than ours. */
struct timer { uint64_t room[16]; };
extern char main_loop_tlg[];
void timer_init_full(struct timer *timer, void *group, int clock, int scale, int attributes,
		     void (*callback)(void *), void *opaque);
void timer_mod_ns(struct timer *timer, int64_t expires_ns);
int64_t qemu_clock_get_ns(int clock);
int64_t qemu_clock_deadline_ns_all(int clock, int attributes);
bool all_cpu_threads_idle(void);
void qemu_plugin_register_vcpu_init_cb(uint64_t id, void (*callback)(uint64_t, unsigned int));

/* Once, when the clocks are there: the first CPU is made then. */
static inline void turns_init(struct timer *timer, void (*end_turn)(void *))
{
	timer_init_full(timer, main_loop_tlg, VIRTUAL_CLOCK, NANOSECONDS, 0, end_turn, NULL);
}

/*
 * Have @timer end the turn that is on in @wait_ns. While all CPUs are halted there are no turns to
 * end: then so long after the next event. Only while @timer itself is not set, as in its function:
 * it must not be that event.
 */
static inline void turns_end_in(struct timer *timer, int64_t wait_ns)
{
	int64_t event;

	if (all_cpu_threads_idle()) {
		event = qemu_clock_deadline_ns_all(VIRTUAL_CLOCK, ALL_TIMERS);
		if (event > 0)
			wait_ns += event;
	}
	timer_mod_ns(timer, qemu_clock_get_ns(VIRTUAL_CLOCK) + wait_ns);
}

#endif
