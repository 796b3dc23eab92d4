/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts without hardware need, in the kernel and on the host (tests/unit). */
#ifndef _SPEAKER_PURE_H
#define _SPEAKER_PURE_H

#ifdef __KERNEL__
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/barrier.h>
#else
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define smp_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define div_u64(a, b) ((u64)(a) / (u32)(b))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define clamp(v, lo, hi) min(max(v, lo), hi)
#define U64_MAX UINT64_MAX
#define S16_MIN INT16_MIN
#define S16_MAX INT16_MAX
#endif

/* Ticks of the clock that plays: @num in @den seconds, as a second of it need not be whole. */
struct tick_rate {
	u32 num;
	u32 den;
};

#endif
