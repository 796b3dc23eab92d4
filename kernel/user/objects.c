// SPDX-License-Identifier: GPL-2.0-only
/*
 * Semaphores, mutexes, mailboxes, condition variables and events for RT mode. They lie in the
 * kernel, where no program can spoil them, and are those of <rt/sync.h>: so tasks of programs and
 * of the kernel wait for one another.
 *
 * A process has a table of those that it uses, which only grows until its /dev/rt is closed. So RT
 * calls look into it without a lock.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rt/named.h>
#include "user.h"

static LIST_HEAD(objects);
static DEFINE_MUTEX(objects_mutex);

static bool is_possible(const struct rt_object *wish)
{
	size_t length = strnlen(wish->name, sizeof(wish->name));

	if (length == sizeof(wish->name) || wish->reserved)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isascii(wish->name[i]) || !isgraph(wish->name[i]))
			return false;
	switch (wish->kind) {
	case RT_OBJECT_SEM:
		return wish->count <= RT_SEM_MAX && !wish->bytes;
	case RT_OBJECT_EVT:
		return !wish->bytes;
	case RT_OBJECT_MTX:
	case RT_OBJECT_CND:
		return !wish->count && !wish->bytes;
	case RT_OBJECT_MBX:
		return wish->count && wish->bytes && wish->bytes <= RT_MBX_MAX_BYTES &&
		       wish->count <= RT_MBX_MOST / wish->bytes;
	}
	return false;
}

static struct object *make(const struct rt_object *wish, bool by_kernel)
{
	size_t bytes = wish->kind == RT_OBJECT_MBX ? (size_t)wish->bytes * wish->count : 0;
	struct object *o = kzalloc(struct_size(o, memory, bytes), GFP_KERNEL_ACCOUNT);

	if (!o)
		return NULL;
	kref_init(&o->ref);
	o->wish = *wish;
	o->owner = current_euid();
	o->by_kernel = by_kernel;
	switch (wish->kind) {
	case RT_OBJECT_SEM:
		rt_sem_init(&o->sem, wish->count);
		break;
	case RT_OBJECT_MTX:
		rt_mtx_init(&o->mtx);
		break;
	case RT_OBJECT_MBX:
		rt_mbx_init(&o->mbx, o->memory, wish->bytes, wish->count);
		break;
	case RT_OBJECT_CND:
		rt_cnd_init(&o->cnd);
		break;
	case RT_OBJECT_EVT:
		rt_evt_init(&o->evt, wish->count);
		break;
	}
	list_add(&o->node, &objects);
	return o;
}

/* A semaphore's count, and an event's flags, are only for whoever makes it. */
static bool is_alike(const struct rt_object *a, const struct rt_object *b)
{
	return a->kind == b->kind && a->bytes == b->bytes &&
	       (a->kind != RT_OBJECT_MBX || a->count == b->count);
}

/* An object that somebody else has in hand, too, if it has a name. Or an ERR_PTR. */
static struct object *get(const struct rt_object *wish, bool by_kernel)
{
	struct object *o, *found = NULL;

	if (!is_possible(wish))
		return ERR_PTR(-EINVAL);
	mutex_lock(&objects_mutex);
	list_for_each_entry(o, &objects, node)
		if (*wish->name && !strcmp(o->wish.name, wish->name))
			found = o;
	if (!found)
		found = make(wish, by_kernel) ?: ERR_PTR(-ENOMEM);
	else if (!by_kernel && !found->by_kernel && !uid_eq(found->owner, current_euid()) &&
		 !capable(CAP_SYS_ADMIN))
		found = ERR_PTR(-EACCES);
	else if (!is_alike(&found->wish, wish))
		found = ERR_PTR(-EEXIST);
	else
		kref_get(&found->ref);
	mutex_unlock(&objects_mutex);
	return found;
}

/* objects_mutex held. */
static void destroy(struct kref *ref)
{
	struct object *o = container_of(ref, struct object, ref);

	list_del(&o->node);
	switch (o->wish.kind) {
	case RT_OBJECT_SEM:
		rt_sem_destroy(&o->sem);
		break;
	case RT_OBJECT_MTX:
		rt_mtx_destroy(&o->mtx);
		break;
	case RT_OBJECT_MBX:
		rt_mbx_destroy(&o->mbx);
		break;
	case RT_OBJECT_CND:
		rt_cnd_destroy(&o->cnd);
		break;
	case RT_OBJECT_EVT:
		rt_evt_destroy(&o->evt);
		break;
	}
	kfree(o);
}

static void put(struct object *o)
{
	mutex_lock(&objects_mutex);
	kref_put(&o->ref, destroy);
	mutex_unlock(&objects_mutex);
}

void *rt_named_get(const struct rt_object *wish)
{
	struct object *o = *wish->name ? get(wish, true) : ERR_PTR(-EINVAL);

	return IS_ERR(o) ? (void *)o : &o->sem;
}
EXPORT_SYMBOL_GPL(rt_named_get);

void rt_named_put(void *object)
{
	if (!IS_ERR_OR_NULL(object))
		put(container_of((struct rt_sem *)object, struct object, sem));
}
EXPORT_SYMBOL_GPL(rt_named_put);

/* ---- a process's ---- */

long object_open(struct process *p, const struct rt_object __user *from)
{
	struct rt_object wish;
	struct object *o;
	long place;

	if (copy_from_user(&wish, from, sizeof(wish)))
		return -EFAULT;
	o = get(&wish, false);
	if (IS_ERR(o))
		return PTR_ERR(o);
	mutex_lock(&p->mutex);
	for (place = 0; place < RT_OBJECTS_MOST && p->objects[place]; place++)
		if (p->objects[place] == o)
			break;
	if (place == RT_OBJECTS_MOST || p->objects[place] == o) {
		put(o);
		place = place == RT_OBJECTS_MOST ? -EMFILE : place;
	} else {
		smp_store_release(&p->objects[place], o);
	}
	mutex_unlock(&p->mutex);
	return place;
}

struct object *object_at(const struct process *p, unsigned long place, unsigned int kind)
{
	struct object *o = place < RT_OBJECTS_MOST ? smp_load_acquire(&p->objects[place]) : NULL;

	return o && o->wish.kind == kind ? o : NULL;
}

void objects_close(struct process *p)
{
	for (int i = 0; i < RT_OBJECTS_MOST; i++)
		if (p->objects[i])
			put(p->objects[i]);
}

/* ---- a thread of Linux's: what need not wait ---- */

long object_post(const struct process *p, unsigned long place)
{
	struct object *o = object_at(p, place, RT_OBJECT_SEM);

	return o ? rt_sem_post(&o->sem) : -EBADF;
}

long object_message(const struct process *p, const struct rt_message __user *from, bool send)
{
	struct rt_message m;
	struct object *o;
	void *buffer;
	long err;

	if (copy_from_user(&m, from, sizeof(m)))
		return -EFAULT;
	o = object_at(p, m.object, RT_OBJECT_MBX);
	if (!o || m.reserved)
		return o ? -EINVAL : -EBADF;
	buffer = kmalloc(o->wish.bytes, GFP_KERNEL);
	if (!buffer)
		return -ENOMEM;
	if (send) {
		err = copy_from_user(buffer, u64_to_user_ptr(m.at), o->wish.bytes) ? -EFAULT :
		      rt_mbx_send_until(&o->mbx, buffer, 0);
	} else {
		/* What is taken cannot be put back. */
		err = clear_user(u64_to_user_ptr(m.at), o->wish.bytes) ? -EFAULT :
		      rt_mbx_receive_until(&o->mbx, buffer, 0);
		if (!err && copy_to_user(u64_to_user_ptr(m.at), buffer, o->wish.bytes))
			err = -EFAULT;
	}
	kfree(buffer);
	return err;
}

long object_flags(const struct process *p, const struct rt_flags __user *from, bool set)
{
	struct rt_flags f;
	struct object *o;

	if (copy_from_user(&f, from, sizeof(f)))
		return -EFAULT;
	o = object_at(p, f.object, RT_OBJECT_EVT);
	if (!o)
		return -EBADF;
	return set ? rt_evt_set(&o->evt, f.flags) : rt_evt_clear(&o->evt, f.flags);
}
