/* SPDX-License-Identifier: GPL-2.0-only */
/* A process's pages: pinning them, and entries of page tables. See compat.h. */
#ifndef _TACTUS_COMPAT_PAGES_H
#define _TACTUS_COMPAT_PAGES_H

#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/version.h>

/* 6.7: it may be of a shadow stack, which depends on the area; ours is not */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define compat_pte_mkwrite(pte, vma) pte_mkwrite(pte)
#else
#define compat_pte_mkwrite(pte, vma) pte_mkwrite_novma(pte)
#endif

/* 6.5: it tells of no areas any more */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define compat_pin_user_pages(start, count, flags, pages) \
	pin_user_pages(start, count, flags, pages, NULL)
#else
#define compat_pin_user_pages(start, count, flags, pages) \
	pin_user_pages(start, count, flags, pages)
#endif

#endif
