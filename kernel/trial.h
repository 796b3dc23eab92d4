/* SPDX-License-Identifier: GPL-2.0-only */
/* A life on trial: switched off again unless somebody says keep. Private to kernel/. */
#ifndef _TACTUS_TRIAL_H
#define _TACTUS_TRIAL_H

#include <linux/types.h>

#define RT_TRIAL_MAX_S 86400

/**
 * rt_trial_start - begin a trial
 * @seconds: how long it lasts; 0: there is none
 * @end: called once, in a Linux process that may sleep, if nobody has said keep by then
 *
 * Context: Linux process; may sleep.
 * Return: 0, -ENOMEM, -EINTR.
 */
int rt_trial_start(unsigned int seconds, void (*end)(void));

/** rt_trial_stop - end its threads, and wait for @end if it runs. Context: as above. */
void rt_trial_stop(void);

/**
 * rt_trial_keep - go on for good
 *
 * Context: Linux process; may sleep.
 * Return: 0, also the second time; -ESRCH (no trial was asked for), -ETIMEDOUT (it is over).
 */
int rt_trial_keep(void);

/** rt_trial_show - one line: none, running and the seconds left, kept or ended. Bytes. */
ssize_t rt_trial_show(char *buf);

#endif
