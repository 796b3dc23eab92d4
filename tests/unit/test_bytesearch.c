// SPDX-License-Identifier: GPL-2.0-only
/*
 * The search for a byte finds what a loop over bytes does: in random text, and with the byte, and
 * its neighbours by value, at each place. The sanitizer sees reads behind the end.
 */
#include "check.h"
#include "pipeline/x86/patch/bytesearch.h"

#define MOST_BYTES 150

static const u8 *by_bytes(const u8 *byte, const u8 *end, u8 wanted)
{
	while (byte < end && *byte != wanted)
		byte++;
	return byte;
}

/* In memory of just that size. */
static void check(const u8 *bytes, unsigned int count, u8 wanted)
{
	u8 *text = malloc(count ? count : 1);
	const u8 *end = text + count;

	__builtin_memcpy(text, bytes, count);
	CHECK_EQ(pl_byte_find(text, end, wanted) - text, by_bytes(text, end, wanted) - text);
	free(text);
}

int main(void)
{
	static const u8 wanted[] = { 0x00, 0x01, 0x1f, 0x7f, 0x80, 0x9f, 0xfe, 0xff };
	u8 bytes[MOST_BYTES];

	srand(1);
	for (unsigned int k = 0; k < sizeof(wanted); k++) {
		u8 w = wanted[k];

		for (unsigned int count = 0; count < 2 * LOOK_BYTES + 12; count++)
			for (unsigned int place = 0; place <= count; place++) {
				/* A borrow may make the byte behind look like it. */
				for (unsigned int i = 0; i < count; i++)
					bytes[i] = w + (i % 3 ? 1 : -1);
				if (place < count)
					bytes[place] = w;
				if (place + 1 < count)
					bytes[place + 1] = w + 1;
				check(bytes, count, w);
			}
	}
	for (unsigned int round = 0; round < 20000; round++) {
		unsigned int few = round % 2 ? 3 : 256;

		for (unsigned int i = 0; i < MOST_BYTES; i++)
			bytes[i] = rand() % few;
		check(bytes, rand() % MOST_BYTES, rand() % few);
	}
	return 0;
}
