/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Each CPU's one-shot timer: RT events in front, Linux's tick as its client.
 * Private to pipeline/x86.
 */
#ifndef _TACTUS_ONESHOT_H
#define _TACTUS_ONESHOT_H

#include "pipeline/shot.h"

/**
 * pl_oneshot_find - find the APIC's timer and check that it can be shared
 * @name: what it must be: auto (either), lapic or tsc-deadline
 *
 * Context: Linux process; may sleep.
 * Return: 0, or -EOPNOTSUPP after a line in the log.
 */
int pl_oneshot_find(const char *name);

/** pl_oneshot_serve - @timer is pl_client.timer(). Context: Linux process; may sleep. */
void pl_oneshot_serve(void (*timer)(u64 now));

/** pl_oneshot_lent - does @cpu use another timer than its APIC's, which interrupts no other CPU? */
bool pl_oneshot_lent(int cpu);

/*
 * pl_oneshot_ready - is Linux's tick on @cpu in a state that can be taken over?
 *
 * Context: any.
 */
bool pl_oneshot_ready(int cpu);

/*
 * pl_tick_wait - wait until a CPU's tick can be shared
 *
 * In the first seconds after boot, and after a CPU came online, Linux's tick is still periodic:
 * it becomes one-shot when a clock has been found good enough for it.
 *
 * Context: Linux process; sleeps for up to 5 s.
 * Return: whether it can be now.
 */
bool pl_tick_wait(int cpu);

/*
 * pl_oneshot_take, pl_oneshot_release - on this CPU, make Linux's tick our client, and back
 *
 * Context: this CPU, hardware interrupts off; the pipeline is being switched on or off here.
 */
void pl_oneshot_take(void);
void pl_oneshot_release(void);

/** pl_oneshot_arm - see pl_timer_arm(). Context: any, hardware interrupts off. */
void pl_oneshot_arm(u64 when);

/** pl_oneshot_done - see pl_timer_done(). Context: in pl_oneshot_due(). */
u64 pl_oneshot_done(u64 when);

/*
 * pl_oneshot_use_vector - have this CPU's APIC timer interrupt come on @vector, a number
 *
 * Context: this CPU, hardware interrupts off, Linux stalled; the pipeline is on.
 */
void pl_oneshot_use_vector(void *vector);

/** pl_oneshot_pause, pl_oneshot_resume - no shots of the APIC's timer between these
 *
 * Context: any, hardware interrupts off from one to the other; the pipeline is on.
 */
void pl_oneshot_pause(void);
void pl_oneshot_resume(void);

/**
 * pl_oneshot_due - the timer's interrupt arrived; calls pl_client.timer() if RT's event is due
 *
 * Context: RT interrupt.
 * Return: whether Linux's event is due.
 */
bool pl_oneshot_due(void);

#endif
