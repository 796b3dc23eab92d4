/* SPDX-License-Identifier: GPL-2.0-only */
/* All text that the pipeline rewrites: the kernel's and the modules'. Private to pipeline/x86. */
#ifndef _TACTUS_TEXTS_H
#define _TACTUS_TEXTS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct pl_text;

extern struct mutex pl_texts_mutex;	/* guards what follows, and every switch-over */
extern struct list_head pl_texts;	/* of struct pl_text; the kernel's first */
extern struct pl_text *pl_kernel_text;	/* NULL while nothing is installed */

/**
 * pl_texts_find_kernel - find the slots of the kernel's own text
 *
 * Context: Linux process; may sleep; pl_texts_mutex held.
 * Return: 0, -ENOMEM, or -EOPNOTSUPP after a line in the log.
 */
int pl_texts_find_kernel(void);

/** pl_texts_find_modules - likewise of every module there is. Context and result as above. */
int pl_texts_find_modules(void);

/** pl_texts_fence - keep kprobes off all slots. Context as above, patchers held. 0 or -ENOMEM. */
int pl_texts_fence(void);

/*
 * pl_texts_watch_modules, pl_texts_ignore_modules - from now on each module that comes is
 * searched and, if the pipeline is on, written before its first instruction runs; or not let in
 *
 * Context: Linux process; may sleep; pl_texts_mutex not held.
 * Return: 0 or -errno.
 */
int pl_texts_watch_modules(void);
void pl_texts_ignore_modules(void);

/** pl_texts_forget - forget all. Context: Linux process; may sleep; pl_texts_mutex held. */
void pl_texts_forget(void);

/*
 * pl_texts_inside_slot - is @addr inside a slot, behind its first byte? Then that slot cannot
 * be rewritten while somebody is to return there.
 *
 * Context: any, pl_texts_mutex held by the caller or by whom it works for.
 */
bool pl_texts_inside_slot(unsigned long addr);

#endif
