/* SPDX-License-Identifier: GPL-2.0-only */
/* timer=pit: channel 0 of the 8254 as a one-shot timer (thesis, 3.4), lent to the pipeline. */
#ifndef _TACTUS_PIT_H
#define _TACTUS_PIT_H

/**
 * rt_pit_find - check that Linux leaves the 8254 and interrupt 0 to us
 *
 * Context: Linux process; may sleep.
 * Return: 0, or -EOPNOTSUPP after a line in the log.
 */
int rt_pit_find(void);

/**
 * rt_pit_start - have the CPU that interrupt 0 comes to use the 8254; needs rt_pit_find()
 *
 * Context: Linux process; may sleep; the pipeline is on.
 * Return: 0, or after a line in the log -EBUSY (interrupt 0), -ENXIO or -ENOMEM.
 */
int rt_pit_start(void);

/** rt_pit_stop - the reverse; harmless if it was not started. Context: as above. */
void rt_pit_stop(void);

#endif
