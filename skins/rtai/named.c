// SPDX-License-Identifier: GPL-2.0-only
/*
 * RTAI's memory for any context, and its objects by name. The memory is one piece from the start;
 * Linux's pool of bits over it is made for NMIs.
 */
#include <linux/genalloc.h>
#include <linux/vmalloc.h>
#include <rt/post.h>
#include "native.h"

#define UNIT_ORDER 6	/* 64 bytes */

static struct gen_pool *heap;
static void *heap_memory;

/* What stands in front of each piece. */
union piece {
	size_t bytes;
	char align[16];
};

int heap_init(void)
{
	heap = gen_pool_create(UNIT_ORDER, NUMA_NO_NODE);
	heap_memory = vmalloc(RTAI_HEAP_BYTES);
	if (heap && heap_memory &&
	    !gen_pool_add(heap, (unsigned long)heap_memory, RTAI_HEAP_BYTES, NUMA_NO_NODE))
		return 0;
	vfree(heap_memory);
	if (heap)
		gen_pool_destroy(heap);
	return -ENOMEM;
}

/* What is still in use is nobody's any more: every program has gone. */
void heap_exit(void)
{
	size_t used = gen_pool_size(heap) - gen_pool_avail(heap);

	if (used) {
		pr_warn("rtai_compat: %zu bytes of rt_malloc() were not freed\n", used);
		return;	/* to destroy a pool in use is a bug to Linux; its memory stays */
	}
	gen_pool_destroy(heap);
	vfree(heap_memory);
}

/* Context: any. */
void *rt_malloc(int size)
{
	union piece *piece;

	if (size < 1)
		return NULL;
	piece = (void *)gen_pool_alloc(heap, size + sizeof(*piece));
	if (!piece)
		return NULL;
	piece->bytes = size + sizeof(*piece);
	return piece + 1;
}
EXPORT_SYMBOL_GPL(rt_malloc);

void rt_free(void *memory)
{
	union piece *piece = (union piece *)memory - 1;

	if (memory)
		gen_pool_free(heap, (unsigned long)piece, piece->bytes);
}
EXPORT_SYMBOL_GPL(rt_free);

/* What RT code gives up and only Linux can free. */

static LLIST_HEAD(garbage);

static void garbage_run(struct rt_post *unused)
{
	struct llist_node *node, *next;

	for (node = llist_del_all(&garbage); node; node = next) {
		next = node->next;
		kvfree(node);
	}
}

static struct rt_post garbage_post = {
	.work = IRQ_WORK_INIT_HARD((void (*)(struct irq_work *))garbage_run),
};

void garbage_free(void *memory)
{
	llist_add(memory, &garbage);
	rt_post(&garbage_post);
}

void garbage_wait(void)
{
	rt_post_sync(&garbage_post);
}

/* Objects by name. One that is there already is used by one more. */

#define NAMED 256

static struct entry {
	void *object;
	const void *code;	/* of the program that made it */
	unsigned long name;
	int type, users;
} entries[NAMED];

static DEFINE_RAW_SPINLOCK(entries_lock);

/* Context: any; entries_lock is for this file alone and held with interrupts off. */
static void *use(const char *name, int type, size_t bytes, const void *code, bool *fresh)
{
	unsigned long number = nam2num(name), flags = rt_global_save_flags_and_cli();
	struct entry *entry, *empty = NULL;
	void *object = NULL;

	arch_spin_lock(&entries_lock.raw_lock);
	*fresh = false;
	for (entry = entries; entry < entries + NAMED; entry++) {
		if (entry->object && entry->name == number)
			break;
		if (!entry->object && !empty)
			empty = entry;
	}
	if (entry < entries + NAMED) {
		if (entry->type == type) {
			entry->users++;
			object = entry->object;
		}
	} else if (number && empty) {
		object = rt_malloc(bytes);
		if (object) {
			memset(object, 0, bytes);
			*empty = (struct entry){ object, code, number, type, 1 };
			*fresh = true;
		}
	}
	arch_spin_unlock(&entries_lock.raw_lock);
	rt_global_restore_flags(flags);
	return object;
}

/* One user fewer. Was it the last? Then the object is no longer known. */
static bool unuse(const void *object, bool last)
{
	unsigned long flags = rt_global_save_flags_and_cli();
	struct entry *entry;
	bool done = false;

	arch_spin_lock(&entries_lock.raw_lock);
	for (entry = entries; object && entry < entries + NAMED; entry++)
		if (entry->object == object) {
			done = last || !--entry->users;
			if (done)
				entry->object = NULL;
			break;
		}
	arch_spin_unlock(&entries_lock.raw_lock);
	rt_global_restore_flags(flags);
	return done;
}

static void publish(const char *name, void *object, int type)
{
	rt_register(nam2num(name), object, type, NULL);
}

SEM *rt_typed_named_sem_init(const char *name, int value, int type)
{
	bool fresh;
	SEM *sem = use(name, IS_SEM, sizeof(*sem), __builtin_return_address(0), &fresh);

	if (fresh) {
		rt_typed_sem_init(sem, value, type);
		publish(name, sem, IS_SEM);
	}
	return sem;
}
EXPORT_SYMBOL_GPL(rt_typed_named_sem_init);

static void sem_gone(SEM *sem)
{
	rt_drg_on_adr(sem);
	rt_sem_delete(sem);
	rt_free(sem);
}

int rt_named_sem_delete(SEM *sem)
{
	if (unuse(sem, false))
		sem_gone(sem);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_named_sem_delete);

/* Context: Linux process. */
MBX *rt_typed_named_mbx_init(const char *name, int size, int type)
{
	bool fresh;
	MBX *mbx = use(name, IS_MBX, sizeof(*mbx), __builtin_return_address(0), &fresh);

	if (!fresh)
		return mbx;
	if (rtai_mbx_init(mbx, size)) {
		unuse(mbx, true);
		rt_free(mbx);
		return NULL;
	}
	publish(name, mbx, IS_MBX);
	return mbx;
}
EXPORT_SYMBOL_GPL(rt_typed_named_mbx_init);

static void mbx_gone(MBX *mbx)
{
	rt_drg_on_adr(mbx);
	rt_mbx_delete(mbx);
	rt_free(mbx);
}

int rt_named_mbx_delete(MBX *mbx)
{
	if (unuse(mbx, false))
		mbx_gone(mbx);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_named_mbx_delete);

/* Context: Linux process. A name that is taken: NULL. */
struct rtai_task *rtai_named_task_init(const char *name, void (*fn)(long data), long data,
				       int stack_size, int priority, int uses_fpu,
				       void (*signal)(void), int cpu, int fp_file)
{
	struct rtai_task *task;
	bool fresh;

	task = use(name, IS_TASK, sizeof(*task), fn, &fresh);
	if (!fresh) {
		unuse(task, false);
		return NULL;
	}
	if (rtai_task_init(task, fn, data, stack_size, priority, uses_fpu, signal, cpu, fp_file)) {
		unuse(task, true);
		rt_free(task);
		return NULL;
	}
	publish(name, task, IS_TASK);
	return task;
}
EXPORT_SYMBOL_GPL(rtai_named_task_init);

static void task_gone(struct rtai_task *task)
{
	rt_drg_on_adr(task);
	rt_task_delete(&task->task);
	rt_free(task);
}

int rt_named_task_delete(struct rtai_task *task)
{
	if (unuse(task, false))
		task_gone(task);
	return 0;
}
EXPORT_SYMBOL_GPL(rt_named_task_delete);

unsigned long rtai_name_of(void *object)
{
	int i;

	for (i = 0; object && i < NAMED; i++)
		if (entries[i].object == object)
			return entries[i].name;
	return 0;
}
EXPORT_SYMBOL_GPL(rtai_name_of);

/* Tasks first: they may use the rest. */
void named_forget(const struct module *mod)
{
	static const int order[] = { IS_TASK, IS_SEM, IS_MBX };
	struct entry *entry;
	void *object;
	int i;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		for (entry = entries; entry < entries + NAMED; entry++) {
			object = entry->object;
			if (!object || entry->type != order[i] ||
			    (mod && !within_module((unsigned long)entry->code, mod)))
				continue;
			if (!unuse(object, true))
				continue;
			if (entry->type == IS_TASK)
				task_gone(object);
			else if (entry->type == IS_SEM)
				sem_gone(object);
			else
				mbx_gone(object);
		}
}
