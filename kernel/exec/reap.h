/* SPDX-License-Identifier: GPL-2.0-only */
/* What only Linux can do: RT code's deletions, and modules that leave tasks behind. */
#ifndef _TACTUS_EXEC_REAP_H
#define _TACTUS_EXEC_REAP_H

#include <rt/task.h>

int rt_reap_init(void);
void rt_reap_exit(void);
void rt_reap_later(RT_TASK *task);
void rt_reap_forget(RT_TASK *task);

#endif
