/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages from RT code to the kernel's log.
 */
#ifndef _RT_PRINTK_H
#define _RT_PRINTK_H

#include <linux/compiler.h>
#include <linux/kern_levels.h>
#include <linux/types.h>

/* A message's length with the terminating zero; a longer one is cut. */
#define RT_PRINTK_MAX_BYTES 256

/**
 * rt_printk - have Linux print a message soon
 * @fmt: as for printk(), with a level like KERN_INFO in front or not
 *
 * The text is made now and printed by Linux when it gets to it, in order on each CPU;
 * Linux's time stamp tells when that was. Messages that find the CPU's buffer (16 KiB) full
 * are lost, and Linux says how many. It formats on the caller's stack, which must have room for
 * RT_PRINTK_MAX_BYTES and some 500 bytes more.
 *
 * Context: any; wait-free but for the formatting. It takes a few thousand instructions.
 * Return: the length of the text, -ENOSPC (lost: the buffer is full).
 */
int rt_printk(const char *fmt, ...) __printf(1, 2);

#endif
