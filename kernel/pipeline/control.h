/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pipeline as the module tactus sees it: switching it on and off, and its status.
 * What the executive uses while it is on is in pipeline.h.
 */
#ifndef _TACTUS_CONTROL_H
#define _TACTUS_CONTROL_H

#include <linux/types.h>

struct pl_client;

/**
 * pl_install - find and check everything, then switch the pipeline on, on all CPUs
 * @client: the executive's entries
 * @timer: what the APIC's timer must be: auto (anything), lapic or tsc-deadline
 *
 * A transaction: on any error nothing has been changed, and one line in the log
 * says what was found.
 *
 * Context: Linux process; may sleep.
 * Return: 0, -EOPNOTSUPP (this kernel or CPU), -EBUSY (text in use or altered), -ENOMEM.
 */
int pl_install(const struct pl_client *client, const char *timer);

/**
 * pl_dry_run - find and check everything, and write nothing
 * @timer: as for pl_install()
 *
 * What was found stays listed for pl_get_summary() and the like, until pl_dry_end().
 *
 * Context: Linux process; may sleep.
 * Return: 0, or what pl_install() would return, after a line in the log.
 */
int pl_dry_run(const char *timer);
void pl_dry_end(void);

/**
 * pl_remove - switch the pipeline off and give every interrupt back
 *
 * Context: Linux process; may sleep.
 * Return: 0, or -EBUSY after a line in the log (text altered by somebody else): then
 * the pipeline stays on.
 */
int pl_remove(void);

/**
 * pl_rouse_start - rouse CPUs that do not answer Linux, as pl_remove() needs them to: by NMI end RT
 *	code there and give Linux its interrupts
 * @wait_ns: from when on; ten seconds later any NMI does so for the CPU that it comes to
 *
 * Ends with the pipeline, or with pl_rouse_stop().
 *
 * Context: Linux process; may sleep; the pipeline is on.
 */
void pl_rouse_start(u64 wait_ns);

/** pl_rouse_stop - not any more. Context: Linux process; may sleep. */
void pl_rouse_stop(void);

struct rt_table;

/** struct pl_summary - what was installed, for the status files */
struct pl_summary {
	bool active;
	u64 since_ns;		/* CLOCK_BOOTTIME */
	unsigned int cli, cli_hard, sti, save_fl, irq, exc, nmi, misc, sys;
	unsigned int modules;
	u64 pause_ns;		/* how long the switch-over stopped Linux */
	unsigned int handed_edge, handed_level;	/* given to Linux at the last switch-off */
};

/** pl_get_summary - fill in a summary. Context: Linux process; may sleep. */
void pl_get_summary(struct pl_summary *summary);

/*
 * pl_stats_show - one line of text per CPU: what the pipeline did there
 *
 * Context: Linux process; may sleep.
 */
void pl_stats_show(struct rt_table *table);

/*
 * pl_slots_read - list the kernel's slots, a line of PL_SLOT_LINE bytes each: address, kind
 * @offset: whole lines only, as with @count
 *
 * Context: Linux process; may sleep.
 * Return: bytes written to @buf, or -EINVAL.
 */
#define PL_SLOT_LINE 26
ssize_t pl_slots_read(char *buf, loff_t offset, size_t count);

/*
 * pl_texts_show - one line per text, "kernel" and modules: how many slots it has
 *
 * Context: Linux process; may sleep.
 */
void pl_texts_show(struct rt_table *table);

/* One word each for the status: one-shot device; clock, tsc or tsc-unstable; how the CPUs idle. */
const char *pl_timer_name(void);
const char *pl_clock_name(void);
const char *pl_idle_name(void);

/*
 * pl_lines_show - one line of text per RT interrupt: number, count, taken (0 or 1)
 *
 * Context: Linux process; may sleep.
 */
void pl_lines_show(struct rt_table *table);

/** pl_logged - does an interrupt wait for Linux on this CPU? Context: any. */
bool pl_logged(void);

/*
 * pl_ipi_test - does an RT IPI arrive at this CPU? What it asks for is done as well.
 * @self: send it from here
 * @ready: set when it may be sent, from another CPU, by pl_ipi(); if not @self
 * @more: is there time left? Called with @arg, hardware interrupts off
 *
 * The timer comes on the same vector: it is silent meanwhile.
 *
 * Context: Linux, any but NMI.
 * Return: 0, -EIO, or -EAGAIN: a shot had just been fired.
 */
int pl_ipi_test(bool self, bool *ready, bool (*more)(void *arg), void *arg);

/**
 * pl_kick_posts - have each CPU look for posts, in case that it lost the interrupt that says so
 *
 * Context: Linux process; may sleep.
 */
void pl_kick_posts(void);

/**
 * pl_hosted_start - run RT code from Linux's interrupts from now on
 * @client: the executive's entries
 *
 * Context: Linux process; may sleep.
 * Return: 0; -EOPNOTSUPP after a line in the log; -ENOMEM.
 */
int pl_hosted_start(const struct pl_client *client);

/** pl_hosted_check - what pl_hosted_start() checks first, alone. Context and result likewise. */
int pl_hosted_check(void);

/** pl_hosted_stop - the reverse; no RT code runs any more. Context: Linux process; may sleep. */
void pl_hosted_stop(void);

/** pl_hosted_since_ns - when it was started, CLOCK_BOOTTIME; 0 if it is not on */
u64 pl_hosted_since_ns(void);

#endif
