/* SPDX-License-Identifier: LGPL-2.1-or-later WITH Linux-syscall-note */
/*
 * Memory that processes share with RT code in the kernel: <rt/shm.h> there, rtshm(4) here.
 *
 *	volatile struct state *state = rt_shm_map("axis", sizeof(*state), 0660);
 *
 *	if (!state)
 *		err(1, "axis");
 */
#ifndef _TACTUS_SHM_USER_H
#define _TACTUS_SHM_USER_H

#include <stddef.h>
#if __has_include(<tactus/shm_abi.h>)
#include <tactus/shm_abi.h>
#else
#include "uapi/tactus/shm.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * rt_shm_map - map a segment for reading and writing; make it if there is none
 * @name: 1 to RTSHM_NAME_MAX letters, digits and ". _ -"; the first is no dot
 * @bytes: how many it must have at least, and gets if it is made; 0: any
 * @mode: permission bits if it is made; 0: it must exist
 *
 * The segment lives as long as somebody has it mapped, or a module holds it.
 *
 * Return: the memory; NULL and errno: EINVAL (name, mode, or the segment is smaller), ENOENT,
 * EACCES, ENOSPC (parameter max_bytes of rtshm), ENOMEM; ENODEV (rtshm is not loaded).
 */
void *rt_shm_map(const char *name, size_t bytes, unsigned int mode);

/**
 * rt_shm_unmap - give a segment back
 * @memory: from rt_shm_map()
 * Return: 0; -EINVAL (no such memory).
 */
int rt_shm_unmap(void *memory);

#ifdef __cplusplus
}
#endif

#endif
