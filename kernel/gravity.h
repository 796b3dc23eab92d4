/* SPDX-License-Identifier: GPL-2.0-only */
/* How long the way from the one-shot device to RT code is at least. */
#ifndef _TACTUS_GRAVITY_H
#define _TACTUS_GRAVITY_H

/**
 * rt_gravity_measure - measure it on each CPU, and arm that much sooner from then on
 *
 * Takes some 4 ms of each CPU. What cannot be measured is 0; so it is in mode hosted, and with the
 * parameter gravity=0. The name is Xenomai's.
 *
 * Context: Linux process; may sleep. The executive is on.
 */
void rt_gravity_measure(void);

#endif
