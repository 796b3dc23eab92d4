/* SPDX-License-Identifier: GPL-2.0 */
/* Switching the pipeline on and off. Private to pipeline and kernel/main.c. */
#ifndef _TACTUS_INSTALL_H
#define _TACTUS_INSTALL_H

#include <linux/types.h>

struct apic;
struct pl_client;

extern struct apic *pl_apic;			/* the kernel's APIC driver */
extern const struct pl_client *pl_client;	/* the executive */

/** pl_refuse - say why in the log; returns -EOPNOTSUPP */
int pl_refuse(const char *why);

/**
 * pl_tick_wait - wait until a CPU's tick can be shared
 *
 * In the first seconds after boot, and after a CPU came online, Linux's tick is still periodic:
 * it becomes one-shot when a clock has been found good enough for it.
 *
 * Context: Linux process; sleeps for up to 5 s.
 * Return: whether it can be now.
 */
bool pl_tick_wait(int cpu);

/**
 * pl_install - find and check everything, then switch the pipeline on on all CPUs
 * @client: the executive's entries
 * @timer: the one-shot device: auto, lapic, tsc-deadline or pit
 *
 * A transaction: on any error nothing has been changed, and one line in the log
 * says what was found.
 *
 * Context: Linux process; may sleep.
 * Return: 0, -EOPNOTSUPP (this kernel or CPU), -EBUSY (text in use or altered), -ENOMEM.
 */
int pl_install(const struct pl_client *client, const char *timer);

/**
 * pl_remove - switch the pipeline off and give every interrupt back
 *
 * Context: Linux process; may sleep.
 * Return: 0, or -EBUSY after a line in the log (text altered by somebody else): then
 * the pipeline stays on.
 */
int pl_remove(void);

/** struct pl_summary - what was installed, for the status files */
struct pl_summary {
	bool active;
	u64 since_ns;		/* CLOCK_BOOTTIME */
	unsigned int cli, cli_hard, sti, save_fl, irq, exc, nmi, misc;
	unsigned int modules;
	u64 pause_ns;		/* how long the switch-over stopped Linux */
	unsigned int handed_edge, handed_level;	/* given to Linux at the last switch-off */
};

/** pl_get_summary - fill in a summary. Context: Linux process; may sleep. */
void pl_get_summary(struct pl_summary *summary);

/**
 * pl_stats_show - one line of text per CPU: what the pipeline did there
 *
 * Context: Linux process; may sleep.
 * Return: bytes written to @buf, a page.
 */
ssize_t pl_stats_show(char *buf);

/**
 * pl_slots_read - list the kernel's slots, a line of PL_SLOT_LINE bytes each: address, kind
 * @offset: whole lines only, as with @count
 *
 * Context: Linux process; may sleep.
 * Return: bytes written to @buf, or -EINVAL.
 */
#define PL_SLOT_LINE 26
ssize_t pl_slots_read(char *buf, loff_t offset, size_t count);

#endif
