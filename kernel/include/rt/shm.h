/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that RT code and Linux processes share: segments with a name, an owner and a mode, at
 * /dev/rtshm/NAME. What processes see of it is in <uapi/tactus/shm.h>.
 *
 * A segment lives as long as a module holds it, a process has it open or has it mapped. The memory
 * is ordinary, zeroed, and never paged out; RT code may use it from the moment it has the pointer.
 * Nothing orders accesses of the two sides: use one writer a word, or a sequence counter.
 */
#ifndef _RT_SHM_H
#define _RT_SHM_H

#include <linux/module.h>
#include <uapi/tactus/shm.h>

/**
 * rt_shm_create_for - make a segment and hold it
 * @owner: the module that holds it, until rt_shm_detach_for() or its unloading
 * @name: 1 to RTSHM_NAME_MAX letters, digits and ". _ -"; the first is no dot
 * @bytes: 1 to rtshm's parameter max_bytes, for all segments together
 * @mode: permission bits for processes, up to 0777; the node is root's
 *
 * Context: Linux process; may sleep.
 * Return: the memory, or ERR_PTR: -EINVAL (name, size, mode, owner), -EEXIST, -ENOSPC (max_bytes,
 * or 1024 segments), -ENOMEM, -EPERM (called from RT code).
 */
void *rt_shm_create_for(struct module *owner, const char *name, size_t bytes, unsigned int mode);
#define rt_shm_create(name, bytes, mode) rt_shm_create_for(THIS_MODULE, name, bytes, mode)

/**
 * rt_shm_attach_for - hold a segment that exists
 * @owner: the module that holds it, once more if it does already
 * @name: of a segment
 * @bytes: how many it must have at least
 *
 * Context: Linux process; may sleep.
 * Return: the memory, or ERR_PTR: -EINVAL (@name, @owner, or the segment is smaller), -ENOENT,
 * -ENOMEM, -EPERM (called from RT code).
 */
void *rt_shm_attach_for(struct module *owner, const char *name, size_t bytes);
#define rt_shm_attach(name, bytes) rt_shm_attach_for(THIS_MODULE, name, bytes)

/**
 * rt_shm_detach_for - let go of a segment, once
 * @owner: the module that held it
 * @memory: from rt_shm_create_for() or rt_shm_attach_for()
 *
 * Processes that have it open or mapped keep it.
 *
 * Context: Linux process; may sleep. No RT code may use the memory any more.
 * Return: 0, or -EINVAL (@owner does not hold such a segment), -EPERM (called from RT code).
 */
int rt_shm_detach_for(struct module *owner, void *memory);
#define rt_shm_detach(memory) rt_shm_detach_for(THIS_MODULE, memory)

#endif
