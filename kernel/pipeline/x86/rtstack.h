/* SPDX-License-Identifier: GPL-2.0-only */
/* Each CPU's stack for RT interrupts. Private to pipeline/x86. */
#ifndef _TACTUS_RTSTACK_H
#define _TACTUS_RTSTACK_H

/**
 * pl_rtstack_make - give every CPU that there can be a stack
 *
 * Context: Linux process; may sleep; the pipeline is off.
 * Return: 0 or -ENOMEM.
 */
int pl_rtstack_make(void);

/** pl_rtstack_free - the reverse. Context: as above. */
void pl_rtstack_free(void);

#endif
