/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the tap loop without hardware need, in the kernel and on the host.
 */
#ifndef _TAP_BASE_H
#define _TAP_BASE_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/errno.h>
#include <linux/limits.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <errno.h>
#include <linux/types.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
#define U16_MAX UINT16_MAX
#define S64_MAX INT64_MAX
#endif

#endif
