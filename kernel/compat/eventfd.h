/* SPDX-License-Identifier: GPL-2.0-only */
/* What users of an eventfd in the kernel must know of its version. */
#ifndef _COMPAT_EVENTFD_H
#define _COMPAT_EVENTFD_H

#include <linux/eventfd.h>
#include <linux/version.h>

/* 6.8: one at a time, without saying so. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
#define compat_eventfd_signal(ctx) eventfd_signal(ctx)
#else
#define compat_eventfd_signal(ctx) ((void)eventfd_signal(ctx, 1))
#endif

#endif
