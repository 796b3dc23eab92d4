/* SPDX-License-Identifier: GPL-2.0-only */
/* Those who rewrite the kernel's text beside us. Private to pipeline/x86. */
#ifndef _TACTUS_PATCHERS_H
#define _TACTUS_PATCHERS_H

struct pl_text;

/**
 * pl_patchers_find - find what holds them off
 *
 * Context: Linux process; may sleep.
 * Return: 0, or -EOPNOTSUPP after a line in the log.
 */
int pl_patchers_find(void);

/*
 * pl_patchers_hold, pl_patchers_let - between these nobody sets a breakpoint or rewrites an
 * instruction: text can be decoded
 *
 * Context: Linux process; may sleep; pl_texts_mutex held.
 */
void pl_patchers_hold(void);
void pl_patchers_let(void);

/**
 * pl_patchers_check - is every instruction what the compiler or the kernel made it?
 *
 * A kprobe inside a function hides the instruction under it, and with it slots from who
 * decodes.
 *
 * Context: Linux process, patchers held.
 * Return: 0, or -EBUSY after a line in the log.
 */
int pl_patchers_check(void);

/*
 * pl_patchers_fence, pl_patchers_unfence - from now on no kprobe can be set on a slot of @text,
 * and the reverse
 *
 * Context: Linux process; may sleep; pl_texts_mutex held. To fence, patchers held; to unfence a
 * text that is fenced, not held.
 * Return: 0 or -ENOMEM.
 */
int pl_patchers_fence(struct pl_text *text);
void pl_patchers_unfence(struct pl_text *text);

#endif
