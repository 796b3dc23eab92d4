/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pipeline as the executive sees it: a clock, one one-shot event per CPU, an
 * IPI, and the way into the out-of-band stage; and hosted mode, which is the same without a
 * pipeline. stage.c chooses. Private to tactus.ko.
 */
#ifndef _TACTUS_PIPELINE_H
#define _TACTUS_PIPELINE_H

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/types.h>

#include "pipeline/hosted.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/x86/irq/deadline.h"
#include "pipeline/x86/irq/oneshot.h"

struct pt_regs;

DECLARE_STATIC_KEY_FALSE(pl_hosted_key);

/**
 * pl_hosted - does RT code run in Linux's interrupts, on a kernel that is not patched?
 *
 * Then hardware interrupts stay off while it runs, and a job runs to its end.
 *
 * Context: any.
 */
static __always_inline bool pl_hosted(void)
{
	return static_branch_unlikely(&pl_hosted_key);
}

/*
 * struct pl_fault - out-of-band code did what the CPU refuses
 * @regs: of the code that did
 * @address: for page faults and stack overflows, the address it touched
 * @error_code, @vector: of the exception
 * @go_on, @sp: the executive says here where a task goes on, and with what stack
 */
struct pl_fault {
	const struct pt_regs *regs;
	unsigned long address, error_code;
	unsigned int vector;
	void *go_on, *sp;
};

/**
 * struct pl_client - the executive's entries into the out-of-band stage
 * @timer: the CPU's one-shot event is due at @now, which has just been read from pl_clock(); it
 *	says by pl_timer_done(), once, when the next one is
 * @ipi: another CPU called pl_ipi()
 * @resched: last call before an out-of-band interrupt returns; may switch stacks
 *	to an RT task and comes back when that (or Linux) is resumed
 * @cpu_comes: a CPU went online and is served from now on; 0 or -ENOMEM
 * @cpu_leaves: a CPU is about to go offline; 0, or -EBUSY if RT work is bound to it
 *
 * @fault: may the code that did @fault be left for good? If it is a task's, @fault says where
 *	that goes on; an interrupt handler's pl_guarded() returns true
 *
 * @timer, @ipi, @resched and @fault are called out-of-band, hardware interrupts off, on the CPU
 * concerned; the others in a Linux process that may sleep, and not for the CPUs there are when the
 * pipeline is switched on.
 */
struct pl_client {
	void (*timer)(u64 now);
	void (*ipi)(void);
	void (*resched)(void);
	bool (*fault)(struct pl_fault *fault);
	int (*cpu_comes)(int cpu);
	int (*cpu_leaves)(int cpu);
};

#define PL_DALLY_ROUNDS 500

/**
 * pl_dally - let 0.1 to 1 us pass without a look at the clock
 *
 * An emulator stops the CPU for each such look, and for each pause; a hypervisor may. So whoever
 * waits for milliseconds looks less often.
 *
 * Context: any.
 */
static __always_inline void pl_dally(void)
{
	for (unsigned int i = 0; i < PL_DALLY_ROUNDS; i++)
		barrier();
}

/* Hardware interrupt flag. Context: any. These are the only cli and sti of the executive. */
static __always_inline unsigned long pl_hard_save(void)
{
	unsigned long flags;

	asm volatile("pushfq; popq %0; cli" : "=r" (flags) : : "memory");
	return flags;
}

static __always_inline void pl_hard_restore(unsigned long flags)
{
	if (flags & (1UL << 9))
		asm volatile("sti" : : : "memory");
}

static __always_inline bool pl_hard_disabled(void)
{
	unsigned long flags;

	asm volatile("pushfq; popq %0" : "=r" (flags) : : "memory");
	return !(flags & (1UL << 9));
}

/** pl_clock - time, ns: the TSC's; hosted, CLOCK_MONOTONIC. Context: any. */
static __always_inline u64 pl_clock(void)
{
	return pl_hosted() ? pl_hosted_clock() : pl_tsc_clock();
}

/**
 * pl_timer_arm - set this CPU's next out-of-band event
 * @when: ns of pl_clock(); U64_MAX for none; the past means at once
 *
 * Context: any, hardware interrupts off.
 */
static __always_inline void pl_timer_arm(u64 when)
{
	if (pl_hosted())
		pl_hosted_arm(when);
	else
		pl_oneshot_arm(when);
}

/**
 * pl_timer_done - what was due has been seen to: set this CPU's next out-of-band event
 * @when: ns of pl_clock(); U64_MAX for none
 * @now: becomes pl_clock(), which it has read for that
 *
 * Context: pl_client.timer(), hardware interrupts off.
 * Return: false, @now untouched: hosted, where nobody is switched to before a job's end.
 */
static __always_inline bool pl_timer_done(u64 when, u64 *now)
{
	if (!pl_hosted()) {
		*now = pl_oneshot_done(when);
		return true;
	}
	if (when != U64_MAX)
		pl_hosted_arm(when);
	return false;
}

/*
 * pl_ipi - have pl_client.ipi called on another CPU
 *
 * Context: any.
 */
void pl_ipi(int cpu);

/**
 * pl_lines_used - how many lines have an RT handler
 *
 * Context: any.
 */
unsigned int pl_lines_used(void);

/*
 * pl_lines_tell - have @changed called whenever that number has changed
 *
 * Context: before there is one. @changed: Linux process.
 */
void pl_lines_tell(void (*changed)(void));

/**
 * pl_line_take - request_RTirq(), from whatever Linux driver has the line if @from_any
 * @irq: Linux's number of the interrupt
 * @handler: as for request_RTirq()
 * @from_any: else only from one that take_irq= lists
 *
 * Context: Linux process; may sleep; the pipeline is on.
 * Return: as of request_RTirq().
 */
int pl_line_take(unsigned int irq, void (*handler)(void), bool from_any);

/*
 * pl_guarded - call a function of RT code, @fn(@arg), and survive a fault of it
 *
 * Context: RT interrupt, hardware interrupts off.
 * Return: whether it was left because of a fault; nothing it holds is released then.
 */
bool pl_guarded(void *fn, void *arg);

/**
 * pl_poll - hosted only: call pl_client.timer(), as if the event were due
 *
 * Context: RT task, hardware interrupts off.
 */
void pl_poll(void);

/**
 * pl_rtstack_make - give every CPU that there can be a stack, and above it its pl_cpu.client
 * @bytes: zeroed, of the latter; less than a page
 *
 * So what RT interrupts need of both is in one page, and in few cache lines: the first
 * PL_CLIENT_LINE_BYTES of the latter share a line with the stack.
 *
 * Context: Linux process; may sleep; the pipeline is off.
 * Return: 0 or -ENOMEM.
 */
int pl_rtstack_make(size_t bytes);
#define PL_CLIENT_LINE_BYTES 32

/** pl_rtstack_free - the reverse. Context: as above. */
void pl_rtstack_free(void);

/** pl_active - is it switched on? RT code runs only then. Context: any. */
bool pl_active(void);

/** pl_oob - is this CPU in the out-of-band stage? Context: any. */
static __always_inline bool pl_oob(void)
{
	return this_cpu_read(pl_cpu.oob);
}

/** pl_in_irq - is an RT interrupt handler on this CPU's stack? Context: any. */
static __always_inline bool pl_in_irq(void)
{
	return this_cpu_read(pl_cpu.irq_depth);
}

/**
 * pl_linux_ip - the instruction of Linux's kernel that this CPU's RT interrupt interrupts
 *
 * Context: RT interrupt that interrupts no RT code.
 * Return: its address; 0 if Linux was in user mode.
 */
unsigned long pl_linux_ip(void);

/*
 * pl_run_oob - from Linux, run @fn(@arg) out-of-band on this CPU, then
 * pl_client.resched(), then go back in-band and replay what came meanwhile
 *
 * @fn runs with hardware interrupts off; it may be NULL (reschedule only).
 * From out-of-band code it is just the call of @fn, with hardware interrupts off.
 *
 * Context: any but NMI.
 */
void pl_run_oob(void (*fn)(void *arg), void *arg);

/*
 * pl_run_guarded - pl_run_oob() for a handler of RT code: it is in an RT interrupt, and guarded
 *
 * Context: Linux, any but NMI.
 * Return: whether a fault ended @fn; nothing it holds is released then.
 */
bool pl_run_guarded(void (*fn)(void *arg), void *arg);

/**
 * pl_trace_lines - have the begin and the end of each RT handler of a line told
 * @told: called with the line's number, in the RT interrupt, interrupts hard-off; NULL: no one
 *
 * Context: Linux process.
 */
void pl_trace_lines(void (*told)(unsigned int irq, bool over));

#endif
