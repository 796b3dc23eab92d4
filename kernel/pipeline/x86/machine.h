/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which kernels, CPUs, hypervisors and clocks the pipeline is refused on. Private to
 * kernel/pipeline.
 */
#ifndef _TACTUS_MACHINE_H
#define _TACTUS_MACHINE_H

/**
 * pl_machine_check - is it a kernel, CPU and hypervisor that the pipeline is known to be right on?
 *
 * Context: Linux process.
 * Return: 0, or -EOPNOTSUPP after a line in the log.
 */
int pl_machine_check(void);

/**
 * pl_machine_check_calls - do indirect calls reach whom they are meant for?
 *
 * Context and result as above.
 */
int pl_machine_check_calls(void);

/**
 * pl_machine_check_apic - do devices' interrupts come through the APIC? Needs pl_apic
 *
 * Context and result as above; may sleep.
 */
int pl_machine_check_apic(void);

/**
 * pl_machine_find_clock - is the TSC a clock? Waits until Linux has its final rate
 *
 * Context and result as above; sleeps for up to 5 s.
 */
int pl_machine_find_clock(void);

#endif
