/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which side of the machine the caller runs on.
 *
 * RT code is to Linux what an NMI is: it may run between any two instructions
 * of Linux, interrupts-off sections included, so it must never call Linux.
 */
#ifndef _RT_CONTEXT_H
#define _RT_CONTEXT_H

enum rt_context {
	RT_CONTEXT_LINUX,	/* in-band: a process, an interrupt, an NMI of Linux */
	RT_CONTEXT_IRQ,		/* out-of-band: an RT interrupt handler or RT timer function */
	RT_CONTEXT_TASK,	/* out-of-band: an RT task */
};

/**
 * rt_context - the caller's context on this CPU
 *
 * Context: any.
 * Return: one of enum rt_context.
 */
enum rt_context rt_context(void);

#endif
