/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of rtl_compat share. */
#ifndef _RTL_THREADS_H
#define _RTL_THREADS_H

#include <linux/atomic.h>
#include <rtl_compat.h>

#define LINES 16	/* that RT handlers may have: the PC's own */

/** pthread_testcancel_only - pthread_testcancel() without handlers of signals. RT thread only. */
void pthread_testcancel_only(void);

/** signals_deliver - run @self's handlers; did one run? In @self only. */
bool signals_deliver(struct rtl_thread *self);

/** signals_send - pthread_kill() with a signal of the program. Any context but an NMI. */
int signals_send(struct rtl_thread *thread, int sig);

/** signals_forget_thread - send it nothing more: it is to be freed. Linux process. */
void signals_forget_thread(const struct rtl_thread *thread);

/** signals_forget - delete the timers and the handlers of @mod; NULL: all. Linux process. */
void signals_forget(const struct module *mod);

/** queues_forget - take the message queues of @mod away; NULL: all. Linux process. */
void queues_forget(const struct module *mod);

/** threads_forget - end the threads whose code is @mod's; NULL: all. Linux process. */
void threads_forget(const struct module *mod);

/** irqs_forget - free the interrupts and soft interrupts of @mod; NULL: all. Linux process. */
void irqs_forget(const struct module *mod);

/** fifos_forget - forget the RT handlers of @mod; NULL: all. Linux process. */
void fifos_forget(const struct module *mod);

#endif
