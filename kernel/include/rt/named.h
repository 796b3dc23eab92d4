/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Semaphores, mutexes, mailboxes, condition variables and events with names: shared by programs in
 * RT mode (libtactus(3)) and RT tasks in the kernel, inheritance included. In the module
 * tactus_user.
 */
#ifndef _RT_NAMED_H
#define _RT_NAMED_H

#include <rt/sync.h>
#include <uapi/tactus/rt.h>

/**
 * rt_named_get - find an object by its name, or make it
 * @wish: its name, not empty, and what it is to be
 *
 * Any program that may open /dev/rt may use what a module has made.
 *
 * Context: Linux process; may sleep.
 * Return: a struct rt_sem, rt_mtx, rt_mbx, rt_cnd or rt_evt, by the kind; give it back by
 * rt_named_put(). Else an ERR_PTR: -EINVAL (@wish is out of range), -EEXIST (there is another of
 * this name), -ENOMEM.
 */
void *rt_named_get(const struct rt_object *wish);

/**
 * rt_named_put - no more use of an object; the last user destroys it
 * @object: from rt_named_get(); NULL and an ERR_PTR are none
 *
 * Context: Linux process; may sleep.
 */
void rt_named_put(void *object);

#endif
