/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A writable view of read-only kernel memory. text_poke() would do, but its names
 * change between releases; a second mapping of the same pages does not.
 * Private to pipeline/x86.
 */
#ifndef _TACTUS_ALIAS_H
#define _TACTUS_ALIAS_H

#include <linux/types.h>

struct pl_alias {
	void *map;	/* of whole pages */
	u8 *to;		/* the alias of the first byte asked for */
};

/**
 * pl_alias_map - map a writable alias of kernel or module memory
 * @alias: filled in
 * @addr: first byte
 * @bytes: how many
 *
 * Context: Linux process; may sleep.
 * Return: 0, -ENOMEM, or -EFAULT (not mapped memory).
 */
int pl_alias_map(struct pl_alias *alias, unsigned long addr, size_t bytes);

/** pl_alias_unmap - undo pl_alias_map(); harmless on a zeroed alias */
void pl_alias_unmap(struct pl_alias *alias);

#endif
