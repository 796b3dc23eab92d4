/* SPDX-License-Identifier: GPL-2.0-only */
/* RT interrupts (thesis, Appendix A.3). */
#ifndef _RT_IRQ_H
#define _RT_IRQ_H

/**
 * request_RTirq - install an RT interrupt handler
 * @irq: interrupt number as in /proc/interrupts
 * @handler: runs with hardware interrupts off whatever Linux has masked; it is
 *	the device's handler, Linux's own (if any) does not run while it is installed. A fault
 *	in it removes it. It runs on the CPU that the line goes to; Linux cannot move the
 *	line meanwhile (/proc/irq/N/smp_affinity: EIO)
 *
 * Context: Linux process; may sleep.
 * Return: 0, or -EINVAL (no handler, or no such interrupt), -EBUSY (owned by an RT
 * handler already, or in use by a Linux driver and not named in tactus's
 * parameter take_irq), -EPERM (called from RT code), -ENOMEM, -EOPNOTSUPP (not an
 * interrupt line the pipeline can take), -ENODEV (the executive is not active).
 * Source: thesis, A.3.
 */
int request_RTirq(unsigned int irq, void (*handler)(void));

/**
 * free_RTirq - uninstall an RT interrupt handler
 * @irq: interrupt number given to request_RTirq()
 *
 * On return the handler does not run any more, on no CPU, and the line is
 * Linux's again. Harmless if @irq has no RT handler.
 *
 * Context: Linux process; may sleep.
 */
void free_RTirq(unsigned int irq);

#endif
