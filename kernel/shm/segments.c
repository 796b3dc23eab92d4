// SPDX-License-Identifier: GPL-2.0-only
/* Segments of shared memory: names, limits, who holds them. */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rt/context.h>
#include "shm.h"

DEFINE_MUTEX(shm_mutex);	/* over shm_all and all segments, but what never changes of them */
LIST_HEAD(shm_all);

static DEFINE_IDR(minors);
static size_t used_bytes;
static unsigned int count;

static bool name_is_right(const char *name)
{
	size_t length = strnlen(name, RTSHM_NAME_MAX + 1);

	if (!length || length > RTSHM_NAME_MAX || *name == '.')
		return false;
	for (; *name; name++)
		if (!isascii(*name) || (!isalnum(*name) && !strchr("._-", *name)))
			return false;
	return true;
}

static struct shm *find(const char *name)
{
	struct shm *s;

	list_for_each_entry(s, &shm_all, node)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

struct shm *shm_of_minor(unsigned int minor)
{
	lockdep_assert_held(&shm_mutex);
	return idr_find(&minors, minor);
}

static int check(const struct rtshm_new *want)
{
	if (!name_is_right(want->name) || !want->bytes || want->mode & ~0777 || want->reserved)
		return -EINVAL;
	if (find(want->name))
		return -EEXIST;
	if (count >= RTSHM_MOST || want->bytes > shm_max_bytes ||
	    PAGE_ALIGN(want->bytes) > shm_max_bytes - min(used_bytes, shm_max_bytes))
		return -ENOSPC;
	return 0;
}

static void release_memory(struct shm *s)
{
	vfree(s->memory);
	kfree(s);
}

struct shm *shm_new(const struct rtshm_new *want, kuid_t uid, kgid_t gid, bool account)
{
	gfp_t gfp = account ? GFP_KERNEL_ACCOUNT : GFP_KERNEL;
	int err = check(want);
	struct shm *s;

	lockdep_assert_held(&shm_mutex);
	if (err)
		return ERR_PTR(err);
	s = kzalloc(sizeof(*s), gfp);
	if (!s)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&s->holds);
	strscpy(s->name, want->name, sizeof(s->name));
	s->bytes = want->bytes;
	s->mode = want->mode;
	s->uid = uid;
	s->gid = gid;
	s->memory = __vmalloc(PAGE_ALIGN(want->bytes), gfp | __GFP_ZERO | __GFP_NOWARN);
	err = -ENOMEM;
	if (!s->memory)
		goto err_free;
	err = idr_alloc_cyclic(&minors, s, 0, 1 << MINORBITS, GFP_KERNEL);
	if (err < 0)
		goto err_free;
	s->minor = err;
	err = shm_node_add(s);
	if (err)
		goto err_minor;
	list_add_tail(&s->node, &shm_all);
	used_bytes += PAGE_ALIGN(s->bytes);
	count++;
	return s;

err_minor:
	idr_remove(&minors, s->minor);
err_free:
	release_memory(s);
	return ERR_PTR(err);
}

void shm_settle(struct shm *s)
{
	lockdep_assert_held(&shm_mutex);
	if (s->files || !list_empty(&s->holds))
		return;
	shm_node_remove(s);
	idr_remove(&minors, s->minor);
	list_del(&s->node);
	used_bytes -= PAGE_ALIGN(s->bytes);
	count--;
	release_memory(s);
}

/* ---- modules ---- */

static int hold(struct shm *s, struct module *owner)
{
	struct hold *h = kzalloc(sizeof(*h), GFP_KERNEL);

	if (!h)
		return -ENOMEM;
	h->owner = owner;
	list_add_tail(&h->node, &s->holds);
	return 0;
}

/* Let go once; @all: as often as @owner holds it. Was there anything? */
static bool let_go(struct shm *s, const struct module *owner, bool all)
{
	struct hold *h, *next;
	bool any = false;

	list_for_each_entry_safe(h, next, &s->holds, node) {
		if (h->owner != owner || (any && !all))
			continue;
		list_del(&h->node);
		kfree(h);
		any = true;
	}
	return any;
}

void *rt_shm_create_for(struct module *owner, const char *name, size_t bytes, unsigned int mode)
{
	struct rtshm_new want = { .bytes = bytes, .mode = mode };
	struct shm *s;
	int err = 0;

	if (rt_context() != RT_CONTEXT_LINUX)
		return ERR_PTR(-EPERM);
	if (!owner || !name || strscpy(want.name, name, sizeof(want.name)) < 0)
		return ERR_PTR(-EINVAL);
	mutex_lock(&shm_mutex);
	s = shm_new(&want, GLOBAL_ROOT_UID, GLOBAL_ROOT_GID, false);
	if (!IS_ERR(s)) {
		err = hold(s, owner);
		shm_settle(s);
	}
	mutex_unlock(&shm_mutex);
	if (IS_ERR(s))
		return s;
	return err ? ERR_PTR(err) : s->memory;
}
EXPORT_SYMBOL_GPL(rt_shm_create_for);

void *rt_shm_attach_for(struct module *owner, const char *name, size_t bytes)
{
	struct shm *s;
	void *memory;
	int err;

	if (rt_context() != RT_CONTEXT_LINUX)
		return ERR_PTR(-EPERM);
	if (!owner || !name || !name_is_right(name))
		return ERR_PTR(-EINVAL);
	mutex_lock(&shm_mutex);
	s = find(name);
	err = !s ? -ENOENT : bytes > s->bytes ? -EINVAL : hold(s, owner);
	memory = err ? ERR_PTR(err) : s->memory;
	mutex_unlock(&shm_mutex);
	return memory;
}
EXPORT_SYMBOL_GPL(rt_shm_attach_for);

int rt_shm_detach_for(struct module *owner, void *memory)
{
	int err = -EINVAL;
	struct shm *s;

	if (rt_context() != RT_CONTEXT_LINUX)
		return -EPERM;
	mutex_lock(&shm_mutex);
	list_for_each_entry(s, &shm_all, node) {
		if (s->memory != memory || !let_go(s, owner, false))
			continue;
		shm_settle(s);
		err = 0;
		break;
	}
	mutex_unlock(&shm_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(rt_shm_detach_for);

static void forget(const struct module *owner)
{
	struct shm *s, *next;

	mutex_lock(&shm_mutex);
	list_for_each_entry_safe(s, next, &shm_all, node)
		if (let_go(s, owner, true))
			shm_settle(s);
	mutex_unlock(&shm_mutex);
}

static int on_module(struct notifier_block *block, unsigned long state, void *mod)
{
	if (state == MODULE_STATE_GOING)
		forget(mod);
	return NOTIFY_DONE;
}

/* After Tactus's own, which ends the RT tasks of that module: they may use the memory. */
static struct notifier_block notifier = { .notifier_call = on_module, .priority = -1 };

int shm_segments_init(void)
{
	return register_module_notifier(&notifier);
}

void shm_segments_exit(void)
{
	unregister_module_notifier(&notifier);
	idr_destroy(&minors);
}
