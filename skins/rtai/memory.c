// SPDX-License-Identifier: GPL-2.0-only
/* RTAI's memory that is shared with processes, by <rt/shm.h>. */
#include <linux/err.h>
#include <rt/shm.h>
#include "native.h"

static void name_of(unsigned long name, char *text)
{
	snprintf(text, RTSHM_NAME_MAX + 1, RTAI_SHM_NAME, name);
}

void *rtai_shm_alloc(struct module *owner, unsigned long name, int size)
{
	char text[RTSHM_NAME_MAX + 1];
	void *memory;

	if (!name || size < 1)
		return NULL;
	name_of(name, text);
	do {
		memory = rt_shm_attach_for(owner, text, size);
		if (memory == ERR_PTR(-ENOENT))
			memory = rt_shm_create_for(owner, text, size, 0660);
	} while (memory == ERR_PTR(-EEXIST));
	return IS_ERR(memory) ? NULL : memory;
}
EXPORT_SYMBOL_GPL(rtai_shm_alloc);

/* The name says which; to attach once more says where that is. */
int rtai_shm_free(struct module *owner, unsigned long name)
{
	char text[RTSHM_NAME_MAX + 1];
	void *memory;

	name_of(name, text);
	memory = rt_shm_attach_for(owner, text, 0);
	if (IS_ERR(memory))
		return 0;
	rt_shm_detach_for(owner, memory);
	return !rt_shm_detach_for(owner, memory);
}
EXPORT_SYMBOL_GPL(rtai_shm_free);
