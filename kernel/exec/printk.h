/* SPDX-License-Identifier: GPL-2.0-only */
/* rt_printk() comes and goes. Context: Linux process; may sleep. */
#ifndef _TACTUS_EXEC_PRINTK_H
#define _TACTUS_EXEC_PRINTK_H

int rt_printk_init(void);
void rt_printk_exit(void);

#endif
