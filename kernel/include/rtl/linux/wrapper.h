/* SPDX-License-Identifier: GPL-2.0-only */
/* How drivers of Linux 2.4 gave a process pages of their own. */
#ifndef _RTL_LINUX_WRAPPER_H
#define _RTL_LINUX_WRAPPER_H

#include <linux/mm.h>

#define mem_map_reserve(page) SetPageReserved(page)
#define mem_map_unreserve(page) ClearPageReserved(page)

/* As there, in a driver's mmap(), with the process's mmap_lock held. */
static inline int remap_page_range(unsigned long from, unsigned long to, unsigned long bytes,
				   pgprot_t prot)
{
	struct vm_area_struct *vma = find_vma(current->mm, from);

	return vma ? remap_pfn_range(vma, from, to >> PAGE_SHIFT, bytes, prot) : -EINVAL;
}

#ifndef VM_RESERVED
#define VM_RESERVED (VM_DONTEXPAND | VM_DONTDUMP)
#endif

#endif
