/* SPDX-License-Identifier: GPL-2.0-only */
/* open() and its like, where a program asks for their header. */
#ifndef _RTL_FILES_H
#define _RTL_FILES_H

#include <rtl_compat.h>

static __maybe_unused int open(const char *name, int flags, ...)
{
	return rtl_open(THIS_MODULE, name, flags);
}

static inline int close(int fd)
{
	return rtl_close(fd);
}

static inline ssize_t read(int fd, void *buf, size_t count)
{
	return rtl_read(fd, buf, count);
}

static inline ssize_t write(int fd, const void *buf, size_t count)
{
	return rtl_write(fd, buf, count);
}

static inline int ioctl(int fd, int request, unsigned long value)
{
	return rtl_ioctl(fd, request, value);
}

#endif
