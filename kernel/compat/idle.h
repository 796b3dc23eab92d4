/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's idle function without a cpuidle driver: a pointer, then (6.8) a static
 * call; and whether it comes back with interrupts on (until 6.2) or off.
 */
#ifndef _TACTUS_COMPAT_IDLE_H
#define _TACTUS_COMPAT_IDLE_H

#include <linux/static_call.h>
#include <linux/version.h>

struct compat_idle {
	void (*fn)(void);	/* the kernel's choice */
	void *place;		/* where it is kept */
	void *tramp;
	void (*update)(struct static_call_key *key, void *tramp, void *func);
};

/* Return: false if the kernel has made no choice. */
static inline bool compat_idle_find(struct compat_idle *idle,
				    unsigned long (*symbol)(const char *name))
{
	idle->place = (void *)symbol("x86_idle");
	if (idle->place) {
		idle->fn = *(void (**)(void))idle->place;
		return idle->fn;
	}
	idle->place = (void *)symbol("__SCK__x86_idle");
	idle->tramp = (void *)symbol("__SCT__x86_idle");
	idle->update = (void *)symbol("__static_call_update");
	if (!idle->place || !idle->tramp || !idle->update)
		return false;
	idle->fn = ((struct static_call_key *)idle->place)->func;
	return idle->fn;
}

static inline void compat_idle_set(struct compat_idle *idle, void (*fn)(void))
{
	if (idle->tramp)
		idle->update(idle->place, idle->tramp, fn);
	else
		WRITE_ONCE(*(void (**)(void))idle->place, fn);
}

/* Leave the idle function as it would leave: the log is replayed at the next soft sti. */
static inline void compat_idle_abort(void)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	asm volatile("call pl_sti" : ASM_CALL_CONSTRAINT : : "rax", "memory", "cc");
#endif
}

#endif
