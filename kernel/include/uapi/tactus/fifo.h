/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What user programs may ask of /dev/rtfN beside read, write, poll and FIONREAD.
 *
 * Directions: "in" is from Linux to the RT side (write), "out" is from the RT
 * side to Linux (read). Sizes are in bytes.
 */
#ifndef _UAPI_TACTUS_FIFO_H
#define _UAPI_TACTUS_FIFO_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* The largest FIFO, per direction. */
#define RTF_MAX_SIZE_BYTES (16 * 1024 * 1024)

/*
 * Writes of up to this many bytes, and of up to half the FIFO's size, are handed
 * over in one piece or not at all.
 */
#define RTF_ATOMIC_BYTES 4096

/* What RTF_IOC_STATS tells. Counts are since rtf_create(). */
struct rtf_stats {
	__u32 size;		/* bytes it holds in each direction */
	__u32 used_in;		/* bytes in it now */
	__u32 used_out;
	__u32 high_in;		/* the most bytes there were */
	__u32 high_out;
	__u32 openers;		/* open files */
	__u64 drops;		/* puts of the RT side that did not fit */
	__u64 lost_bytes;	/* out bytes that rtf_put_overwrite() dropped unread */
};

/* Any open file. */
#define RTF_IOC_STATS _IOR(0xEB, 0, struct rtf_stats)

/* As rtf_resize(); needs CAP_SYS_RESOURCE. */
#define RTF_IOC_RESIZE _IOW(0xEB, 1, __u32)

/* Forget the unread out bytes; their number is the result. The file is open for reading. */
#define RTF_IOC_FLUSH _IO(0xEB, 2)

/*
 * This open file's low-water mark: a blocking read waits for so many bytes (or as
 * many as were asked for, if that is less), and poll() reports POLLIN at so many. From 1, the
 * default, to the FIFO's size.
 */
#define RTF_IOC_LOWAT _IOW(0xEB, 3, __u32)

#endif
