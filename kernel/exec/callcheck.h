/* SPDX-License-Identifier: GPL-2.0-only */
/* Debug builds: RT code that calls what only Linux may call. */
#ifndef _TACTUS_EXEC_CALLCHECK_H
#define _TACTUS_EXEC_CALLCHECK_H

/*
 * rt_callcheck_init - from now on, the first such call becomes a warning that names both functions
 *
 * Without function tracing in the kernel it says so in the log, and nothing is checked.
 *
 * Context: Linux process; may sleep.
 */
/* rt_callcheck_exit - the reverse. Context: as above. */
#ifdef TACTUS_DEBUG
void rt_callcheck_init(void);
void rt_callcheck_exit(void);
#else
static inline void rt_callcheck_init(void)
{
}

static inline void rt_callcheck_exit(void)
{
}
#endif

#endif
