// SPDX-License-Identifier: GPL-2.0-only
/*
 * One shadow a process, which its threads share, and what makes it stale.
 *
 * Linux tells before it takes memory away or puts other memory in its place. The pinned pages stay
 * what they are, so nothing breaks; but RT code would go on with memory that the process does not
 * see any more. So its tasks are demoted, and the next one to enter gets a new shadow. fork() and
 * writeback only protect pages, which changes nothing for who has them pinned.
 */
#include <linux/err.h>
#include <linux/memory.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "user.h"

static struct process *process_of(struct mmu_notifier *notifier)
{
	return container_of(notifier, struct process, notifier);
}

static bool puts_other_memory(const struct mmu_notifier_range *range)
{
	return range->event == MMU_NOTIFY_UNMAP || range->event == MMU_NOTIFY_CLEAR;
}

static int memory_changes(struct mmu_notifier *notifier, const struct mmu_notifier_range *range)
{
	struct process *p = process_of(notifier);
	struct thread *t;

	if (!puts_other_memory(range))
		return 0;
	/* From here on nothing of it is entered that was pinned before. */
	changes_begin(&p->changes, range->start, range->end);
	spin_lock(&p->lock);
	if (p->shadow && shadow_touches(p->shadow, range->start, range->end)) {
		p->shadow->stale = true;
		list_for_each_entry(t, &p->threads, node)
			if (t->shadow == p->shadow)
				thread_stray(t, range->start);
	}
	spin_unlock(&p->lock);
	return 0;
}

static void memory_changed(struct mmu_notifier *notifier, const struct mmu_notifier_range *range)
{
	if (puts_other_memory(range))
		changes_end(&process_of(notifier)->changes);
}

/* p->mutex held. */
static void forget(struct process *p)
{
	struct shadow *s;

	spin_lock(&p->lock);
	s = p->shadow;
	p->shadow = NULL;
	spin_unlock(&p->lock);
	if (s)
		shadow_put(s);
}

static void drop_shadow(struct process *p)
{
	mutex_lock(&p->mutex);
	forget(p);
	mutex_unlock(&p->mutex);
}

void process_refused(struct process *p)
{
	mutex_lock(&p->mutex);
	if (p->shadow && kref_read(&p->shadow->ref) == 1)
		forget(p);
	mutex_unlock(&p->mutex);
}

/* The process ends, or its memory does by exec; another may have its file still. */
static void memory_ends(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	drop_shadow(process_of(notifier));
}

static const struct mmu_notifier_ops notifier_ops = {
	.invalidate_range_start = memory_changes,
	.invalidate_range_end = memory_changed,
	.release = memory_ends,
};

struct process *process_new(void)
{
	struct process *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	int err = -ENOMEM;

	if (!p)
		return ERR_PTR(err);
	mutex_init(&p->mutex);
	spin_lock_init(&p->lock);
	changes_init(&p->changes);
	INIT_LIST_HEAD(&p->threads);
	INIT_LIST_HEAD(&p->node);
	p->notifier.ops = &notifier_ops;
	p->mm = current->mm;
	get_task_comm(p->name, current);
	p->fifos = kcalloc(BITS_TO_LONGS(RTF_MAX_FIFOS), sizeof(long), GFP_KERNEL_ACCOUNT);
	p->pins = kmalloc_array(SHADOW_PINS, sizeof(*p->pins), GFP_KERNEL_ACCOUNT);
	if (!p->fifos || !p->pins)
		goto err_free;
	err = mmu_notifier_register(&p->notifier, p->mm);
	if (err)
		goto err_free;
	return p;
err_free:
	kfree(p->pins);
	kfree(p->fifos);
	kfree(p);
	return ERR_PTR(err);
}

void process_free(struct process *p)
{
	struct thread *t, *next;

	mmu_notifier_unregister(&p->notifier, p->mm);
	drop_shadow(p);
	list_for_each_entry_safe(t, next, &p->threads, node)
		thread_free(t);
	objects_close(p);
	kfree(p->pins);
	kfree(p->fifos);
	kfree(p);
}

/* Of the process; p->mutex held. */
static struct shadow *renew(struct process *p)
{
	struct shadow *old = p->shadow, *s = old;

	if (s && !s->stale)
		return s;
	s = shadow_new(p->mm, &p->changes);
	if (!s)
		return NULL;
	/* From here on it hears of changes, while it is filled too. */
	spin_lock(&p->lock);
	p->shadow = s;
	spin_unlock(&p->lock);
	if (old)
		shadow_put(old);
	return s;
}

/*
 * Fill the current one. Stale ones are pinned and charged as well, until the threads that were in
 * them have come back. These are on their way, and want nothing that we hold.
 */
static int fill(struct process *p, struct shadow *s)
{
	atomic_t *shadows = &p->changes.shadows;
	bool stale_ones = atomic_read(shadows) > 1;
	int err = shadow_fill(s, p->pins);

	if (err != -EAGAIN || !stale_ones)
		return err;
	if (wait_var_event_interruptible(shadows, atomic_read(shadows) == 1))
		return -EINTR;
	return shadow_fill(s, p->pins);
}

struct shadow *process_shadow(struct process *p, u64 *took_ns)
{
	RTIME before = rt_get_time();
	struct shadow *s;
	int err;

	mutex_lock(&p->mutex);
	do {
		s = renew(p);
		err = s ? fill(p, s) : -ENOMEM;
	} while (!err && READ_ONCE(s->stale));
	*took_ns = rt_get_time() - before;
	if (!err)
		kref_get(&s->ref);
	/* Who was refused has nothing pinned. What a signal cut short is gone on with. */
	else if (s && err != -EINTR && kref_read(&s->ref) == 1)
		forget(p);
	mutex_unlock(&p->mutex);
	return err ? ERR_PTR(err) : s;
}

/* ---- memory that is added to the machine ---- */

static void follow_in(struct process *p)
{
	struct thread *t;

	spin_lock(&p->lock);
	list_for_each_entry(t, &p->threads, node)
		if (t->in_rt)
			shadow_follow(t->shadow);
	spin_unlock(&p->lock);
}

/*
 * It may have made an entry of the top tables, which Linux gives to all that it knows. None
 * of that memory is in use yet. Who goes to RT mode later follows then.
 */
static int memory_comes(struct notifier_block *block, unsigned long event, void *data)
{
	if (event == MEM_GOING_ONLINE)
		process_each(follow_in);
	return NOTIFY_OK;
}

static struct notifier_block memory_block = { .notifier_call = memory_comes };

int process_init(void)
{
	return register_memory_notifier(&memory_block);
}

void process_exit(void)
{
	unregister_memory_notifier(&memory_block);
}
