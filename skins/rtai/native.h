/* SPDX-License-Identifier: GPL-2.0-only */
/* rtai_compat's own files: RTAI's declarations, and Tactus's functions by their own names. */
#ifndef _RTAI_NATIVE_H
#define _RTAI_NATIVE_H

#include <rtai_compat.h>

#undef RT_TASK
#undef rt_named_task_init
#undef rt_named_task_init_cpuid
#undef rt_task_init
#undef rt_task_make_periodic
#undef rt_task_suspend
#undef rt_task_delete
#undef rt_sem_init
#undef rt_sem_wait
#undef rt_sem_wait_until
#undef rt_mbx_init
#undef rt_shm_alloc
#undef rtf_put
#undef rtf_get

/** irqs_free - give back the interrupts of @mod; NULL: all. Linux process. */
void irqs_free(const struct module *mod);

/** line_set_data - what @irq's handler gets as its second argument. Any context. */
void line_set_data(unsigned int irq, void *data);

/** timer_forget - give up rt_request_timer()'s handler in @mod; NULL: any. Linux process. */
void timer_forget(const struct module *mod);

/** linux_irqs_init - prepare rt_pend_linux_irq(). Linux process. */
void linux_irqs_init(void);

/** linux_irqs_free - the same of rt_request_linux_irq()'s. Linux process; may sleep. */
void linux_irqs_free(const struct module *mod);

/** named_forget - delete what rt_named_*() made for code in @mod; NULL: all. Linux process. */
void named_forget(const struct module *mod);

/** heap_init - prepare rt_malloc()'s memory. 0, -ENOMEM. Linux process. */
int heap_init(void);

/** heap_exit - give it back. Linux process. */
void heap_exit(void);

/** garbage_free - have Linux free @memory, which kvmalloc() gave, a little later. Any context. */
void garbage_free(void *memory);

/** garbage_wait - until all of that is done. Linux process. */
void garbage_wait(void);

/** names_forget - forget the names of objects in @mod; NULL: all. Linux process. */
void names_forget(const struct module *mod);

/** tasklets_forget - forget the tasklets of @mod; NULL: all. Linux process. */
void tasklets_forget(const struct module *mod);

#endif
