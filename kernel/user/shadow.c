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
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/pgtable.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "compat/pages.h"
#include "user.h"

#define USER_ENTRIES 256	/* of the top table; the rest is the kernel's */
#define LEAF_PAGES SHADOW_PINS	/* of one of the lowest tables */
#define LEAF_BYTES (LEAF_PAGES * PAGE_SIZE)

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
 * What is looked up and pinned from here on is what the process sees, unless there is a hit. Who
 * has begun to change memory has the memory's lock if it needs it, and waits for nobody who fills.
 */
static void watch(struct changes *c)
{
	bool open;

	do {
		wait_event(c->none, !READ_ONCE(c->open));
		spin_lock(&c->lock);
		open = c->open;
		c->from = 0;
		c->to = ULONG_MAX;
		c->hit = false;
		spin_unlock(&c->lock);
	} while (open);
}

/* From here on only changes of [@from, @to) matter. */
static void watch_only(struct changes *c, unsigned long from, unsigned long to)
{
	spin_lock(&c->lock);
	c->from = from;
	c->to = to;
	spin_unlock(&c->lock);
}

static bool is_hit(struct changes *c)
{
	bool hit;

	spin_lock(&c->lock);
	hit = c->hit;
	spin_unlock(&c->lock);
	return hit;
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

/* Is it a page of 2 MiB's, of a table at @level? The lowest tables have no such bit. */
static bool is_huge(u64 entry, int level)
{
	return level && entry & _PAGE_PSE;
}

/*
 * The entry for @addr where the way down ends, and the level of its table: a page's, of either
 * size, or an empty one.
 */
static __always_inline const u64 *find(const struct shadow *s, unsigned long addr, int *level)
{
	const u64 *table = s->pgd;

	for (*level = levels() - 1;; --*level) {
		const u64 *at = &table[addr >> shift_of(*level) & 511];
		u64 entry = READ_ONCE(*at);

		if (!entry || !*level || is_huge(entry, *level))
			return at;
		table = below(entry);
	}
}

/* @addr's entry in the table at @level, with tables made where there are none; NULL: no memory. */
static u64 *make(struct shadow *s, unsigned long addr, int level)
{
	u64 *table = s->pgd;

	for (int at = levels() - 1; at > level; at--) {
		u64 *entry = &table[addr >> shift_of(at) & 511];

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
	return &table[addr >> shift_of(level) & 511];
}

void *shadow_at(const struct shadow *s, unsigned long addr, bool write)
{
	u64 entry, need = _PAGE_PRESENT | _PAGE_USER | (write ? _PAGE_RW : 0);
	int level;

	if (addr >= TASK_SIZE_MAX)
		return NULL;
	entry = *find(s, addr, &level);
	if ((entry & need) != need)
		return NULL;
	return (void *)below(entry) + (addr & (BIT(shift_of(level)) - 1));
}

bool shadow_touches(const struct shadow *s, unsigned long from, unsigned long to)
{
	unsigned long at = from;

	to = min(to, TASK_SIZE_MAX);
	while (at < to) {
		int level;

		if (*find(s, at, &level))
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
	atomic_inc(&changes->shadows);
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

/*
 * struct area - of the process's memory, as it was when it was looked up
 * @start: address of its first page
 * @end: behind its last one
 * @entry: of the tables, without a page's address
 */
struct area {
	unsigned long start, end;
	u64 entry;
};

static u64 entry_for(struct vm_area_struct *vma)
{
	pte_t pte = pte_mkyoung(pfn_pte(0, vma->vm_page_prot));

	return pte_val(vma->vm_flags & VM_WRITE ? pte_mkdirty(compat_pte_mkwrite(pte, vma)) : pte);
}

/*
 * Devices'; what nobody can read; and what Linux itself writes for programs to read. That is the
 * vDSO's clock, of which RT code could wait for ever: it may have interrupted Linux in setting it.
 * Since 7.0 its pages are ordinary memory, so it is known by the name of its kind of area.
 */
static bool left_out(struct vm_area_struct *vma)
{
	bool named = vma->vm_ops && vma->vm_ops->name;

	return vma->vm_flags & (VM_IO | VM_PFNMAP) || !(vma->vm_flags & (VM_READ | VM_EXEC)) ||
	       (named && !(vma->vm_flags & VM_EXEC));
}

/* The first one that ends beyond @at, but for those. The caller has the memory's lock. */
static bool find_area(struct mm_struct *mm, unsigned long at, struct area *area)
{
	struct vm_area_struct *vma;

	for (;;) {
		vma = find_vma(mm, at);
		if (!vma || !left_out(vma))
			break;
		at = vma->vm_end;
	}
	if (vma)
		*area = (struct area) {
			.start = vma->vm_start, .end = vma->vm_end, .entry = entry_for(vma),
		};
	return vma;
}

/* Are these pages one of 2 MiB, and can the tables have it so? */
static bool fits_huge(u64 entry, struct page **pages, long count)
{
	unsigned long pfn = page_to_pfn(pages[0]);

	/* In a page's entry the bit of its size is one of the cache's. */
	if (count < LEAF_PAGES || pfn % LEAF_PAGES || entry & _PAGE_CACHE_MASK)
		return false;
	for (long i = 1; i < count; i++)
		if (page_to_pfn(pages[i]) != pfn + i)
			return false;
	return true;
}

static u64 at_page(u64 entry, struct page *page)
{
	return entry | page_to_phys(page);
}

/*
 * Pages behind one another, from @at on, of one lowest table, that have been pinned since watch():
 * all of them, or none if some are what the process saw, not what it sees: @again says so. Then
 * they are unpinned.
 */
static int enter_pages(struct shadow *s, u64 entry, unsigned long at, struct page **pages,
		       long count, bool *again)
{
	bool huge = fits_huge(entry, pages, count);
	int err = charge(s, count);
	u64 *to;

	if (err)
		goto err_unpin;
	to = make(s, at, huge);
	err = -ENOMEM;
	/* A table that is there stays. */
	if (to && huge && *to) {
		huge = false;
		to = make(s, at, huge);
	}
	if (!to)
		goto err_charge;
	err = 0;
	spin_lock(&s->changes->lock);
	*again = s->changes->hit;
	if (!*again) {
		if (huge)
			WRITE_ONCE(*to, at_page(entry, pages[0]) | _PAGE_PSE);
		for (long i = 0; i < count && !huge; i++)
			WRITE_ONCE(to[i], at_page(entry, pages[i]));
		s->pages += count;
		s->huge_pages += huge;
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
		int level;
		const u64 *entry = find(s, at, &level);

		/* One of a higher table is for all up to there. */
		if (level && !!*entry == there)
			at = stop;
		for (; at < stop && !!*entry == there; at += PAGE_SIZE)
			entry++;
		if (at < stop)
			break;
	}
	return (at - from) >> PAGE_SHIFT;
}

/*
 * What is not there of @area from *@at on, of one lowest table; *@at is where to go on, or where it
 * was, if that is to be done again. @held: with the memory's lock held.
 */
static int fill_some(struct shadow *s, const struct area *area, unsigned long *at,
		     struct page **pages, bool held, bool *again)
{
	unsigned int flags = FOLL_LONGTERM | (area->entry & _PAGE_RW ? FOLL_WRITE : 0);
	unsigned long want = run_of(s, *at, min(area->end, (*at | (LEAF_BYTES - 1)) + 1), false);
	long count;
	int err = 0;

	watch_only(s->changes, *at, *at + (want << PAGE_SHIFT));
	/* The fast one takes no lock where the page is there, and the memory's where it is not. */
	count = held ? compat_pin_user_pages(*at, want, flags, pages) :
		       pin_user_pages_fast(*at, want, flags, pages);
	if (count > 0)
		/* Pinning changes memory, too: it makes the copies that fork() left for later. */
		err = enter_pages(s, area->entry, *at, pages, count, again);
	else
		/* Beyond a file's end, for instance: RT code finds none either. */
		*again = is_hit(s->changes);
	if (!*again)
		*at += max(count, 1) << PAGE_SHIFT;
	return err;
}

/* The next that is not there, from *@at on: 1, or 0 if there is no more, or an error. */
static int fill_next(struct shadow *s, unsigned long *at, struct page **pages, bool held,
		     bool *again)
{
	struct area area;
	bool found;

	*again = false;
	watch(s->changes);
	if (!held)
		mmap_read_lock(s->mm);
	found = find_area(s->mm, *at, &area);
	if (!held)
		mmap_read_unlock(s->mm);
	if (!found)
		return 0;
	*at = max(*at, area.start);
	*at += run_of(s, *at, area.end, true) << PAGE_SHIFT;
	if (*at >= area.end)
		return 1;
	if (signal_pending(current))
		return -EINTR;
	return fill_some(s, &area, at, pages, held, again) ?: 1;
}

int shadow_fill(struct shadow *s, struct page *pages[SHADOW_PINS])
{
	unsigned long at = 0;
	int more;

	do {
		bool again;

		cond_resched();
		more = fill_next(s, &at, pages, false, &again);
		if (!again)
			continue;
		/*
		 * A thread that calls fork() over and over would have each copy made anew, for
		 * ever. It waits for this lock, as does whoever maps or unmaps. So the second time,
		 * with all copies made, only what is rare comes between.
		 */
		mmap_read_lock(s->mm);
		for (int tries = 0; again && more > 0 && tries < 2; tries++)
			more = fill_next(s, &at, pages, true, &again);
		mmap_read_unlock(s->mm);
	} while (more > 0);
	return more;
}

static void unpin_below(struct shadow *s, u64 *table, int level, int entries)
{
	for (int i = 0; i < entries; i++) {
		unsigned long pages = is_huge(table[i], level) ? LEAF_PAGES : 1;
		struct page *page;

		if (!table[i])
			continue;
		if (level && pages == 1) {
			unpin_below(s, below(table[i]), level - 1, 512);
			continue;
		}
		page = pfn_to_page((table[i] & PTE_PFN_MASK) >> PAGE_SHIFT);
		unpin_user_page_range_dirty_lock(page, pages, table[i] & _PAGE_RW);
		atomic64_sub(pages, &s->mm->pinned_vm);
		cond_resched();
	}
}

static void shadow_free(struct kref *ref)
{
	struct shadow *s = container_of(ref, struct shadow, ref);
	struct changes *changes = s->changes;
	struct page *page, *next;

	unpin_below(s, s->pgd, levels() - 1, USER_ENTRIES);
	list_for_each_entry_safe(page, next, &s->tables, lru)
		__free_page(page);
	free_pages((unsigned long)s->pgd, 1);
	mmdrop(s->mm);
	kfree(s);
	atomic_dec(&changes->shadows);
	wake_up_var(&changes->shadows);
}

void shadow_put(struct shadow *s)
{
	kref_put(&s->ref, shadow_free);
}
