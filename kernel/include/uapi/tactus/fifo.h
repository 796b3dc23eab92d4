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

#endif
