/* SPDX-License-Identifier: GPL-2.0-only */
/* CPUs that come and go while the pipeline is on. Private to pipeline/x86. */
#ifndef _TACTUS_HOTPLUG_H
#define _TACTUS_HOTPLUG_H

/*
 * pl_hotplug_watch, pl_hotplug_ignore - follow CPUs that come and go, and stop that
 *
 * Context: Linux process; may sleep; pl_texts_mutex not held: a CPU that comes or goes holds
 * the CPU lock, which is inside that mutex.
 * Return: 0 or -errno.
 */
int pl_hotplug_watch(void);
void pl_hotplug_ignore(void);

/*
 * pl_use_vector - have this CPU's timer come on the vector @vector; when this has returned with
 * hardware interrupts on, no shot on the old one is in flight any more
 *
 * Context: Linux; the pipeline is on.
 */
void pl_use_vector(void *vector);

#endif
