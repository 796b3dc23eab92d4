/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hosted mode: the seam of pipeline.h on a kernel as it is. Private to kernel/pipeline and
 * kernel/main.c.
 */
#ifndef _TACTUS_HOSTED_H
#define _TACTUS_HOSTED_H

#include <linux/types.h>

struct pl_client;

/**
 * pl_hosted_start - run RT code from Linux's interrupts from now on
 * @client: the executive's entries
 *
 * Context: Linux process; may sleep.
 * Return: 0; -EOPNOTSUPP after a line in the log; -ENOMEM.
 */
int pl_hosted_start(const struct pl_client *client);

/** pl_hosted_stop - the reverse; no RT code runs any more. Context: Linux process; may sleep. */
void pl_hosted_stop(void);

/** pl_hosted_since_ns - when it was started, CLOCK_BOOTTIME; 0 if it is not on */
u64 pl_hosted_since_ns(void);

/** pl_hosted_interrupt - a line's RT handler. Context: Linux's hard-irq handler of the line. */
void pl_hosted_interrupt(void (*handler)(void));

/* What stage.c makes of the calls of pipeline.h. */
u64 pl_hosted_clock(void);
void pl_hosted_arm(u64 when);
void pl_hosted_ipi(int cpu);
void pl_hosted_run(void (*fn)(void *arg), void *arg);

#endif
