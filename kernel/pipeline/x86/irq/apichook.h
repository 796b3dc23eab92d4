/* SPDX-License-Identifier: GPL-2.0-only */
/* Hooking two functions of the kernel's APIC driver. Private to pipeline/x86. */
#ifndef _TACTUS_APICHOOK_H
#define _TACTUS_APICHOOK_H

#include <linux/types.h>

/**
 * pl_apichook_find - find them
 *
 * Context: Linux process; may sleep.
 * Return: 0, -ENOMEM, or -EOPNOTSUPP after a line in the log.
 */
int pl_apichook_find(void);

/*
 * pl_apichook_before_on, pl_apichook_after_off - put ours in the kernel's place, and back, where
 * that takes locks; ours only pass through while the pipeline is off
 *
 * Context: Linux process; may sleep.
 */
void pl_apichook_before_on(void);
void pl_apichook_after_off(void);

/** pl_apichook_switch - the same where it is a store. Context: inside the switch-over. */
void pl_apichook_switch(bool on);

/** pl_apichook_forget - undo pl_apichook_find(). Context: Linux process; may sleep. */
void pl_apichook_forget(void);

#endif
