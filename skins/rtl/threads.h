/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of rtl_compat share. */
#ifndef _RTL_THREADS_H
#define _RTL_THREADS_H

#include <rtl_compat.h>

/** threads_forget - end the threads whose code is @mod's; NULL: all. Linux process. */
void threads_forget(const struct module *mod);

/** irqs_forget - free the interrupts and soft interrupts of @mod; NULL: all. Linux process. */
void irqs_forget(const struct module *mod);

/** fifos_forget - forget the RT handlers of @mod; NULL: all. Linux process. */
void fifos_forget(const struct module *mod);

#endif
