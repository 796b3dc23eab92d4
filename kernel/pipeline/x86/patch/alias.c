// SPDX-License-Identifier: GPL-2.0-only
/* See alias.h. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "pipeline/x86/patch/alias.h"

/* The kernel image is mapped linearly; modules and the like have page tables of their own. */
static struct page *page_of(unsigned long addr)
{
	if (addr - __START_KERNEL_map < KERNEL_IMAGE_SIZE)
		return pfn_to_page(__pa(addr) >> PAGE_SHIFT);
	return vmalloc_to_page((void *)addr);
}

int pl_alias_map(struct pl_alias *alias, unsigned long addr, size_t bytes)
{
	unsigned long first = addr & PAGE_MASK;
	unsigned int count = (PAGE_ALIGN(addr + bytes) - first) >> PAGE_SHIFT;
	struct page **pages = kvmalloc_array(count, sizeof(*pages), GFP_KERNEL);

	if (!pages)
		return -ENOMEM;
	for (unsigned int i = 0; i < count; i++) {
		pages[i] = page_of(first + i * PAGE_SIZE);
		if (!pages[i]) {
			kvfree(pages);
			return -EFAULT;
		}
	}
	alias->map = vmap(pages, count, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	if (!alias->map)
		return -ENOMEM;
	alias->to = alias->map + (addr - first);
	return 0;
}

void pl_alias_unmap(struct pl_alias *alias)
{
	if (alias->map)
		vunmap(alias->map);
	alias->map = NULL;
	alias->to = NULL;
}
