/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RTAI's shared memory, for processes, by rtshm(4): compile with the folder of this file on the
 * include path, link with -ltactus.
 */
#ifndef _TACTUS_RTAI_SHM_H
#define _TACTUS_RTAI_SHM_H

#include <stdio.h>
#include <tactus/shm.h>
#if __has_include(<tactus/rtai_abi.h>)
#include <tactus/rtai_abi.h>
#else
#include "uapi/tactus/rtai.h"
#endif

#define USE_VMALLOC 0
#define USE_GFP_KERNEL 1
#define USE_GFP_ATOMIC 2
#define USE_GFP_DMA 3
#define nam2num rtai_nam2num

/* Memory numbered @name of @size bytes, made if there is none; NULL and errno. */
static inline void *rt_shm_alloc(unsigned long name, int size, int kind)
{
	char text[RTSHM_NAME_MAX + 1];

	(void)kind;
	snprintf(text, sizeof(text), RTAI_SHM_NAME, name);
	return rt_shm_map(text, size > 0 ? size : 0, 0660);
}

#define rtai_malloc(name, size) rt_shm_alloc(name, size, USE_VMALLOC)

/* Give back what this process has under @memory. */
static inline void rtai_free(unsigned long name, void *memory)
{
	(void)name;
	rt_shm_unmap(memory);
}

#endif
