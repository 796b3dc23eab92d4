/* SPDX-License-Identifier: GPL-2.0-only */
/* A byte that is rare, in much text. Pure logic. */
#ifndef _TACTUS_BYTESEARCH_H
#define _TACTUS_BYTESEARCH_H

#include <rt/pure.h>

#define EACH_BYTE (~0ULL / 0xff)
#define LOOK_BYTES 32	/* looked at together */

/* Some byte's highest bit is set: there is such a byte; the lowest of these bits is the first's. */
static __always_inline u64 bytes_that_are(u64 each, const u8 *word)
{
	u64 other;

	__builtin_memcpy(&other, word, sizeof(other));
	other ^= each;
	return (other - EACH_BYTE) & ~other;
}

/*
 * The first @wanted from @byte on, or @end. Most words have none, and the text has millions of
 * bytes. Nothing is read from @end on.
 */
static __always_inline const u8 *pl_byte_find(const u8 *byte, const u8 *end, u8 wanted)
{
	const u64 each = EACH_BYTE * wanted, high = EACH_BYTE << 7;
	const u8 *whole = byte + ((end - byte) & ~(long)(LOOK_BYTES - 1));

	for (; byte < whole; byte += LOOK_BYTES)
		if ((bytes_that_are(each, byte) | bytes_that_are(each, byte + 8) |
		     bytes_that_are(each, byte + 16) | bytes_that_are(each, byte + 24)) & high)
			break;
	for (; end - byte >= (long)sizeof(u64); byte += sizeof(u64)) {
		u64 found = bytes_that_are(each, byte) & high;

		if (found)
			return byte + __builtin_ctzll(found) / 8;
	}
	while (byte < end && *byte != wanted)
		byte++;
	return byte;
}

#endif
