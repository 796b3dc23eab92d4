/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Memory that RT code and processes share, of the module rtshm. Programs use libtactus,
 * <tactus/shm.h>.
 *
 *	int fd = open("/dev/rtshm/NAME", O_RDWR | O_CLOEXEC);
 *	__u64 bytes;
 *	ioctl(fd, RTSHM_IOC_BYTES, &bytes);
 *	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
 *
 * A process that opens /dev/rtshmctl for reading and writing makes a segment by RTSHM_IOC_CREATE.
 * From then on that descriptor is one of the segment, as if /dev/rtshm/NAME had been opened. Each
 * open file and each mapping holds the segment; so does each module that created or attached it.
 * With the last of them it goes, and its name.
 */
#ifndef _UAPI_TACTUS_SHM_H
#define _UAPI_TACTUS_SHM_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Letters, digits, and ". _ -"; the first is no dot. */
#define RTSHM_NAME_MAX 31

/**
 * struct rtshm_new - a segment to be made
 * @name: ends with a 0
 * @bytes: from 1; the memory is 0 and ends with a page
 * @mode: permission bits of /dev/rtshm/NAME, up to 0777; the caller owns it
 * @reserved: 0
 */
struct rtshm_new {
	char name[RTSHM_NAME_MAX + 1];
	__u64 bytes;
	__u32 mode;
	__u32 reserved;
};

#define RTSHM_IOC_CREATE _IOW(0xED, 1, struct rtshm_new)
/* How many bytes the open segment has. */
#define RTSHM_IOC_BYTES _IOR(0xED, 2, __u64)

#endif
