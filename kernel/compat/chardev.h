/* SPDX-License-Identifier: GPL-2.0-only */
/* What character devices must know of the kernel's version; used by rtfifo and rtshm. */
#ifndef _COMPAT_CHARDEV_H
#define _COMPAT_CHARDEV_H

#include <linux/version.h>

/* 6.2: a class's devnode() gets a const device. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define compat_devnode_device const struct device
#else
#define compat_devnode_device struct device
#endif

/* 6.3: so does that of a device's type. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#define compat_type_devnode_device const struct device
#else
#define compat_type_devnode_device struct device
#endif

/* 6.5: splicing from a file that has no page cache got a name of its own. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define compat_splice_read copy_splice_read
#else
#define compat_splice_read generic_file_splice_read
#endif

/* 6.3: a mapping's flags are changed by functions. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#define compat_vm_flags(vma, set, clear) vm_flags_mod(vma, set, clear)
#else
#define compat_vm_flags(vma, set, clear) \
	((void)((vma)->vm_flags = ((vma)->vm_flags | (set)) & ~(clear)))
#endif

#endif
