// SPDX-License-Identifier: GPL-2.0-only
/* RTLinux's memory that is shared with processes (mbuff), by <rt/shm.h>. */
#include <linux/err.h>
#include <rt/shm.h>
#include "threads.h"

/* Modes of the node: whoever was let to the device there had it all. */
#define MBUFF_MODE 0660

void *rtl_mbuff(struct module *owner, const char *name, int size, bool make)
{
	void *memory;

	if (size < 1)
		return NULL;
	do {
		memory = rt_shm_attach_for(owner, name, size);
		if (memory == ERR_PTR(-ENOENT) && make)
			memory = rt_shm_create_for(owner, name, size, MBUFF_MODE);
	} while (memory == ERR_PTR(-EEXIST));
	return IS_ERR(memory) ? NULL : memory;
}
EXPORT_SYMBOL_GPL(rtl_mbuff);

void rtl_mbuff_free(struct module *owner, void *memory)
{
	rt_shm_detach_for(owner, memory);
}
EXPORT_SYMBOL_GPL(rtl_mbuff_free);
