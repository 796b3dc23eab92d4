/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * What user programs may ask of /dev/rtfN beside read, write, poll and FIONREAD, and of
 * /dev/rtfctl; and what the ring looks like to who maps it.
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
	__u32 number;		/* N of /dev/rtfN */
	__u32 record;		/* bytes of a record; 0: none */
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
 * This open file's low-water mark: a blocking read waits for that many bytes (or as
 * many as were asked for, if that is less), and poll() reports POLLIN at so many. From 1, the
 * default, to the FIFO's size.
 */
#define RTF_IOC_LOWAT _IOW(0xEB, 3, __u32)

/* As rtf_set_record(): only whole records of that many bytes; needs CAP_SYS_RESOURCE. */
#define RTF_IOC_RECORD _IOW(0xEB, 4, __u32)

/*
 * Zero-copy reading
 *
 * RTF_IOC_CLAIM makes this open file the FIFO's only reader; others get EBUSY, until
 * it is closed or says RTF_IOC_RELEASE. Then
 *
 *	base = mmap(NULL, l.index_bytes + 2 * l.data_bytes, PROT_READ, MAP_SHARED, fd, 0);
 *
 * maps a struct rtf_map, and from base + l.index_bytes on the ring's memory, twice: so
 * the bytes numbered tail up to head, there being at most l.size of them, lie in one piece at
 *
 *	base + l.index_bytes + (tail & (l.data_bytes - 1))
 *
 * The reader loads head (acquire), uses the bytes, and gives their room back by
 * RTF_IOC_CONSUME with the tail that it began at. head and tail count bytes modulo 2^32.
 *
 * If RT code overwrites (that is what rtf_put_overwrite() does with a full FIFO), then tail
 * moves on by itself. What was read then has to be taken for garbage unless, *after* it was
 * copied or used, tail (acquire) is still what it was; RTF_IOC_CONSUME says ESTALE if not.
 */
struct rtf_layout {
	__u32 index_bytes;	/* the ring's memory begins at this offset */
	__u32 data_bytes;	/* how much that is: a power of two */
	__u32 size;		/* as in struct rtf_stats */
	__u32 record;
};

struct rtf_map {
	__u32 head;		/* number of the byte that RT code puts next */
	__u32 reserved0[15];
	__u32 tail;		/* number of the oldest byte there is */
	__u32 reserved1[15];
};

struct rtf_consume {
	__u32 from;		/* the tail at which the reader began */
	__u32 bytes;		/* how many it has done with */
};

#define RTF_IOC_CLAIM _IOR(0xEB, 5, struct rtf_layout)
#define RTF_IOC_RELEASE _IO(0xEB, 6)
#define RTF_IOC_CONSUME _IOW(0xEB, 7, struct rtf_consume)

/* The longest name of a FIFO; made of letters, digits, '_', '-' and, not first, '.'. */
#define RTF_NAME_MAX 31

/* What RTF_IOC_CREATE is told. */
struct rtf_new {
	__s32 fifo;		/* its number; -1: any; afterwards, which it is */
	__u32 size;		/* bytes it holds in each direction */
	__u32 record;		/* bytes of a record; 0: none */
	char name[RTF_NAME_MAX + 1];	/* of /dev/rtf/NAME; empty: none */
};

/* Of /dev/rtfctl; both need CAP_SYS_RESOURCE. */
#define RTF_IOC_CREATE _IOWR(0xEB, 16, struct rtf_new)
/* Its number; only one that RTF_IOC_CREATE made. */
#define RTF_IOC_DESTROY _IOW(0xEB, 17, __u32)

#endif
