/* SPDX-License-Identifier: GPL-2.0-only */
/* For test modules: what the kernel does not export. */
#ifndef _UNEXPORTED_H
#define _UNEXPORTED_H

#include <linux/kprobes.h>

/*
 * Where the function or data @name is; one of a module's: "module:name". Context: Linux process.
 * Return: NULL if there is none.
 */
static inline void *find_symbol(const char *name)
{
	/* Functions are found by a kprobe, and one of them knows data. */
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	void *(*lookup)(const char *name);

	if (register_kprobe(&probe))
		return NULL;
	lookup = (void *)probe.addr;
	unregister_kprobe(&probe);
	return lookup(name);
}

#endif
