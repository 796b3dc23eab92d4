/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of rt_tap that only run in the kernel know of one another. */
#ifndef _RT_TAP_H
#define _RT_TAP_H

#include <linux/types.h>

#include "port.h"

/**
 * struct tap_loop_setup - what a loop is made of
 * @port: open
 * @byte_ns: what a byte takes on its line
 * @events_fifo: takes records
 * @commands_fifo: has commands
 * @pass_ns: the longest time between two passes
 * @poll_ns: 0; or output is looked at no more often than this
 */
struct tap_loop_setup {
	const struct tap_port *port;
	u64 byte_ns;
	unsigned int events_fifo;
	unsigned int commands_fifo;
	u64 pass_ns;
	u64 poll_ns;
};

/**
 * struct tap_loop_stats - since loading
 * @trials: begun
 * @passes: of the loop, between trials too
 * @stray_bytes: arrived while no trial ran
 * @refused: commands
 * @port: of the present or last trial
 */
struct tap_loop_stats {
	u64 trials;
	u64 passes;
	u64 stray_bytes;
	u64 refused;
	struct tap_port_stats port;
};

/**
 * tap_loop_prepare - have what a port's interrupts need, before it is opened
 *
 * Context: Linux process.
 * Return: 0.
 */
int tap_loop_prepare(void);

/**
 * tap_loop_start - start the RT task
 * @setup: copied
 *
 * Context: Linux process; may sleep.
 * Return: 0, or what rt_task_init() returns.
 */
int tap_loop_start(const struct tap_loop_setup *setup);

/**
 * tap_loop_end - end a running trial, with its notes, and delete the task
 *
 * Context: Linux process; may sleep.
 */
void tap_loop_end(void);

/** tap_loop_wake - there is input. Context: RT interrupt, or Linux but not NMI. */
void tap_loop_wake(void);

/** tap_loop_running - is there a trial? Context: any. */
bool tap_loop_running(void);

/** tap_loop_stats - what the loop has counted. Context: any. */
void tap_loop_stats(struct tap_loop_stats *stats);

void tap_bridge_waited(u64 *max_ns, u64 *mean_ns);

#endif
