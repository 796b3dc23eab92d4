/* SPDX-License-Identifier: GPL-2.0-only */
/* Does everything arrive, on every CPU? Private to kernel/. */
#ifndef _TACTUS_SELFTEST_H
#define _TACTUS_SELFTEST_H

/**
 * rt_selftest - test every CPU; right after the pipeline has been switched on
 *
 * Context: Linux process; may sleep.
 * Return: 0, or -EIO after a line in the log: then the pipeline is to be switched off.
 */
int rt_selftest(void);

/**
 * rt_selftest_watch - from now on test every CPU that comes
 * @off: called once, in a Linux process that may sleep, if one fails
 *
 * Context: Linux process; may sleep.
 * Return: 0 or -errno.
 */
int rt_selftest_watch(void (*off)(void));

/** rt_selftest_ignore - the reverse; waits for @off if it runs. Context: as above. */
void rt_selftest_ignore(void);

/** rt_selftest_end - nothing of a test is under way any more. Context: as above. */
void rt_selftest_end(void);

#endif
