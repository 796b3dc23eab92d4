// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page tables of RT mode: the process's pages at the process's addresses, pinned, in tables of our
 * own. Linux never changes them. So no TLB shootdown, migration, swapping, NUMA hint, collapse into
 * huge pages or copy-on-write reaches RT code, and there is no protocol for that to get wrong.
 *
 * Entries are only ever added while anybody uses it, which needs no flush. Tables and pages go when
 * nobody does.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/pgtable.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "compat/pages.h"
#include "user.h"

#define USER_ENTRIES 256	/* of the top table; the rest is the kernel's */
#define BATCH 256
#define LEAF_BYTES (512 * PAGE_SIZE)	/* that one of the lowest tables has */

/* ---- changes of the memory meanwhile ---- */

void changes_init(struct changes *c)
{
	spin_lock_init(&c->lock);
	init_waitqueue_head(&c->none);
}

void changes_begin(struct changes *c, unsigned long from, unsigned long to)
{
	spin_lock(&c->lock);
	c->open++;
	if (from < c->to && to > c->from)
		c->hit = true;
	spin_unlock(&c->lock);
}

void changes_end(struct changes *c)
{
	spin_lock(&c->lock);
	if (!--c->open)
		wake_up_all(&c->none);
	spin_unlock(&c->lock);
}

/*
 * What is pinned of [@from, @to) from here on is what the process sees, unless there is a hit.
 * Those who change memory do not wait for who fills: it has their locks for reading only.
 */
static void watch(struct changes *c, unsigned long from, unsigned long to)
{
	bool open;

	do {
		wait_event(c->none, !READ_ONCE(c->open));
		spin_lock(&c->lock);
		open = c->open;
		c->from = from;
		c->to = to;
		c->hit = false;
		spin_unlock(&c->lock);
	} while (open);
}

/* ---- the tables ---- */

static int levels(void)
{
	return pgtable_l5_enabled() ? 5 : 4;
}

static bool isolated(void)
{
	return boot_cpu_has(X86_FEATURE_PTI);
}

static unsigned int shift_of(int level)
{
	return PAGE_SHIFT + 9 * level;
}

static u64 *below(u64 entry)
{
	return __va(entry & PTE_PFN_MASK);
}

static u64 *new_table(struct shadow *s)
{
	struct page *page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);

	if (!page)
		return NULL;
	list_add(&page->lru, &s->tables);
	return page_address(page);
}

/* The lowest table on the way to @addr; NULL: there is none. */
static u64 *leaf_of(const struct shadow *s, unsigned long addr)
{
	u64 *table = s->pgd;

	for (int level = levels() - 1; level > 0; level--) {
		u64 entry = READ_ONCE(table[addr >> shift_of(level) & 511]);

		if (!entry)
			return NULL;
		table = below(entry);
	}
	return table;
}

/* The entry of @addr's page; NULL: there is no table with it. */
static u64 *find(const struct shadow *s, unsigned long addr)
{
	u64 *leaf = leaf_of(s, addr);

	return leaf ? &leaf[addr >> PAGE_SHIFT & 511] : NULL;
}

/* Likewise, with tables made where there are none; NULL: no memory. */
static u64 *make(struct shadow *s, unsigned long addr)
{
	u64 *table = s->pgd;

	for (int level = levels() - 1; level > 0; level--) {
		u64 *entry = &table[addr >> shift_of(level) & 511];

		if (!*entry) {
			u64 *fresh = new_table(s);

			if (!fresh)
				return NULL;
			/* With page table isolation the second half is what ring 3 has. */
			if (table == s->pgd && isolated())
				WRITE_ONCE(entry[512], __sme_pa(fresh) | _PAGE_TABLE);
			WRITE_ONCE(*entry, __sme_pa(fresh) | _PAGE_TABLE);
		}
		table = below(*entry);
	}
	return &table[addr >> PAGE_SHIFT & 511];
}

void *shadow_at(const struct shadow *s, unsigned long addr, bool write)
{
	u64 *pte, need = _PAGE_PRESENT | _PAGE_USER | (write ? _PAGE_RW : 0);

	if (addr >= TASK_SIZE_MAX)
		return NULL;
	pte = find(s, addr);
	if (!pte || (*pte & need) != need)
		return NULL;
	return (void *)below(*pte) + offset_in_page(addr);
}

bool shadow_touches(const struct shadow *s, unsigned long from, unsigned long to)
{
	unsigned long at = from;

	to = min(to, TASK_SIZE_MAX);
	while (at < to) {
		u64 *table = s->pgd, entry;
		int level = levels() - 1;

		for (;; level--) {
			entry = READ_ONCE(table[at >> shift_of(level) & 511]);
			if (!entry || !level)
				break;
			table = below(entry);
		}
		if (entry)
			return true;
		at = ((at >> shift_of(level)) + 1) << shift_of(level);
	}
	return false;
}

/* A CPU may be using them: entries come, and none that it has seen becomes another one. */
void shadow_follow(struct shadow *s)
{
	const u64 *theirs = (u64 *)s->mm->pgd;

	for (int i = USER_ENTRIES; i < 2 * USER_ENTRIES; i++) {
		WRITE_ONCE(s->pgd[i], READ_ONCE(theirs[i]));
		if (isolated())
			WRITE_ONCE(s->pgd[512 + i], READ_ONCE(theirs[512 + i]));
	}
}

struct shadow *shadow_new(struct mm_struct *mm, struct changes *changes)
{
	struct shadow *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);

	if (!s)
		return NULL;
	s->pgd = (u64 *)__get_free_pages(GFP_KERNEL_ACCOUNT | __GFP_ZERO, 1);
	if (!s->pgd) {
		kfree(s);
		return NULL;
	}
	kref_init(&s->ref);
	INIT_LIST_HEAD(&s->tables);
	mmgrab(mm);
	s->mm = mm;
	s->changes = changes;
	return s;
}

/* So many pages more, or -EAGAIN. */
static int charge(struct shadow *s, long pages)
{
	u64 limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic64_add_return(pages, &s->mm->pinned_vm) <= limit || capable(CAP_IPC_LOCK))
		return 0;
	atomic64_sub(pages, &s->mm->pinned_vm);
	return -EAGAIN;
}

static pte_t pte_of(struct vm_area_struct *vma, struct page *page)
{
	pte_t pte = pte_mkyoung(mk_pte(page, vma->vm_page_prot));

	return vma->vm_flags & VM_WRITE ? pte_mkdirty(compat_pte_mkwrite(pte, vma)) : pte;
}

/* Tables for @count pages from @at on: not more than there are in one of them. */
static int make_tables(struct shadow *s, unsigned long at, long count)
{
	return make(s, at) && make(s, at + (count - 1) * PAGE_SIZE) ? 0 : -ENOMEM;
}

/*
 * Pages behind one another, from @at on, that have been pinned since watch(): all of them, or none
 * if some are what the process saw, not what it sees: @again says so. Then they are unpinned.
 */
static int enter_pages(struct shadow *s, struct vm_area_struct *vma, unsigned long at,
		       struct page **pages, long count, bool *again)
{
	u64 *entry = NULL;
	int err = charge(s, count);

	if (err)
		goto err_unpin;
	err = make_tables(s, at, count);
	if (err)
		goto err_charge;
	spin_lock(&s->changes->lock);
	*again = s->changes->hit;
	for (long i = 0; i < count && !*again; i++, at += PAGE_SIZE) {
		/* A table's first entry, or the next one of the same table. */
		entry = entry && at & (LEAF_BYTES - 1) ? entry + 1 : find(s, at);
		WRITE_ONCE(*entry, pte_val(pte_of(vma, pages[i])));
		s->pages++;
	}
	spin_unlock(&s->changes->lock);
	if (!*again)
		return 0;
err_charge:
	atomic64_sub(count, &s->mm->pinned_vm);
err_unpin:
	unpin_user_pages(pages, count);
	return err;
}

/*
 * How many pages from @at on, up to @end, are there; or are not, if not @there. It walks once for
 * each lowest table: a process has few of these, and many pages.
 */
static unsigned long run_of(const struct shadow *s, unsigned long at, unsigned long end, bool there)
{
	unsigned long from = at;

	while (at < end) {
		unsigned long stop = min(end, (at | (LEAF_BYTES - 1)) + 1);
		const u64 *leaf = leaf_of(s, at);

		if (!leaf && there)
			break;
		if (!leaf)
			at = stop;
		for (; at < stop; at += PAGE_SIZE)
			if (!!leaf[at >> PAGE_SHIFT & 511] != there)
				return (at - from) >> PAGE_SHIFT;
	}
	return (at - from) >> PAGE_SHIFT;
}

static int fill_area(struct shadow *s, struct vm_area_struct *vma, struct page **pages)
{
	unsigned int flags = FOLL_LONGTERM | (vma->vm_flags & VM_WRITE ? FOLL_WRITE : 0);
	unsigned long at = vma->vm_start, end = vma->vm_end;
	int err = 0;

	for (;;) {
		bool again = false;
		unsigned long want;
		long count;

		at += run_of(s, at, end, true) << PAGE_SHIFT;
		if (err || at >= end)
			return err;
		if (signal_pending(current))
			return -EINTR;
		cond_resched();
		want = run_of(s, at, min(end, at + BATCH * PAGE_SIZE), false);
		watch(s->changes, at, at + (want << PAGE_SHIFT));
		count = compat_pin_user_pages(at, want, flags, pages);
		/* Beyond a file's end, for instance: RT code finds none either. */
		if (count <= 0) {
			at += PAGE_SIZE;
			continue;
		}
		/* Pinning changes memory, too: it makes the copies that fork() left for later. */
		err = enter_pages(s, vma, at, pages, count, &again);
		at += again ? 0 : count << PAGE_SHIFT;
	}
}

int shadow_fill(struct shadow *s)
{
	struct page **pages = kmalloc_array(BATCH, sizeof(*pages), GFP_KERNEL);
	struct vm_area_struct *vma;
	int err = 0;

	if (!pages)
		return -ENOMEM;
	mmap_read_lock(s->mm);
	{
		VMA_ITERATOR(vmi, s->mm, 0);

		for_each_vma(vmi, vma) {
			/* Devices, and what nobody can read. */
			if (vma->vm_flags & (VM_IO | VM_PFNMAP) ||
			    !(vma->vm_flags & (VM_READ | VM_EXEC)))
				continue;
			err = fill_area(s, vma, pages);
			if (err)
				break;
		}
	}
	mmap_read_unlock(s->mm);
	kfree(pages);
	return err;
}

static void unpin_below(struct shadow *s, u64 *table, int level, int entries)
{
	for (int i = 0; i < entries; i++) {
		struct page *page;

		if (!table[i])
			continue;
		if (level) {
			unpin_below(s, below(table[i]), level - 1, 512);
			continue;
		}
		page = pfn_to_page((table[i] & PTE_PFN_MASK) >> PAGE_SHIFT);
		unpin_user_pages_dirty_lock(&page, 1, table[i] & _PAGE_RW);
		atomic64_dec(&s->mm->pinned_vm);
		cond_resched();
	}
}

static void shadow_free(struct kref *ref)
{
	struct shadow *s = container_of(ref, struct shadow, ref);
	struct page *page, *next;

	unpin_below(s, s->pgd, levels() - 1, USER_ENTRIES);
	list_for_each_entry_safe(page, next, &s->tables, lru)
		__free_page(page);
	free_pages((unsigned long)s->pgd, 1);
	mmdrop(s->mm);
	kfree(s);
}

void shadow_put(struct shadow *s)
{
	kref_put(&s->ref, shadow_free);
}
