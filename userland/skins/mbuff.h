/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RTLinux's shared memory, for processes, by rtshm(4): compile with the folder of this file on the
 * include path, link with -ltactus.
 */
#ifndef _TACTUS_MBUFF_H
#define _TACTUS_MBUFF_H

#include <tactus/shm.h>

/* Memory called @name of @size bytes, made if there is none; NULL and errno. */
static inline void *mbuff_alloc(const char *name, int size)
{
	return rt_shm_map(name, size > 0 ? size : 0, 0660);
}

/* As mbuff_alloc(); the memory must exist. */
static inline void *mbuff_attach(const char *name, int size)
{
	return rt_shm_map(name, size > 0 ? size : 0, 0);
}

static inline void mbuff_free(const char *name, void *memory)
{
	(void)name;
	rt_shm_unmap(memory);
}

#define mbuff_detach mbuff_free

#endif
