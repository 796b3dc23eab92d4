/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What pure parts need from their surroundings, in the kernel and on the host.
 *
 * A pure file, of the executive or of your own modules, has no hardware in it and includes
 * this and other pure headers only, so that the same lines run under sanitizers in user space.
 */
#ifndef _RT_PURE_H
#define _RT_PURE_H

/* On the path of each job: such functions lie side by side. */
#define rt_hot __attribute__((__hot__))
/* The same, and from a release to its job: all of these are in one page. */
#define rt_path __attribute__((__hot__, __section__(".text.hot.path")))

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/bitops.h>
#include <asm/barrier.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <errno.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
#define U16_MAX UINT16_MAX
#define U64_MAX UINT64_MAX
#define S16_MIN INT16_MIN
#define S16_MAX INT16_MAX
#define S64_MAX INT64_MAX
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define data_race(expr) (expr)	/* no sanitizer looks for races here */
#define smp_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define noinline __attribute__((__noinline__))
#ifndef __always_inline		/* some C libraries have it */
#define __always_inline inline __attribute__((__always_inline__))
#endif
#define div_u64(a, b) ((u64)(a) / (u32)(b))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define clamp(v, lo, hi) min(max(v, lo), hi)
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))
#endif

#endif
