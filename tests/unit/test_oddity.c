// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel's decoder does not know. The bytes are those of a kernel that clang 19 built. */
#include "check.h"
#include "pipeline/x86/patch/oddity.h"

/* A call and a jump through %r11, as compiled, and with the two bytes that cfi=off writes. */
static const u8 compiled[] = { 0x41, 0xba, 0x5a, 0x3a, 0x4e, 0xc9, 0x45, 0x03, 0x53, 0xf1,
			       0x74, 0x02, 0x0f, 0x0b, 0x2e, 0xe8, 0x2a, 0x88, 0x40, 0x00 };
static const u8 off[] = { 0xeb, 0x0c, 0x5a, 0x3a, 0x4e, 0xc9, 0x45, 0x03, 0x53, 0xf1,
			  0x74, 0x02, 0x0f, 0x0b, 0x2e, 0xe8, 0x2a, 0x88, 0x40, 0x00 };
static const u8 off_jump[] = { 0xeb, 0x0c, 0x76, 0xc5, 0x74, 0xa9, 0x45, 0x03, 0x53, 0xf1,
			       0x74, 0x02, 0x0f, 0x0b, 0x2e, 0xe9, 0xed, 0x29, 0x40, 0x00 };

int main(void)
{
	static const u8 ud1[] = { 0x0f, 0xb9, 0x40, 0x10 }, ud2[] = { 0x0f, 0x0b, 0xb9, 0x40 };
	u8 other[sizeof(off)];

	CHECK_EQ(pl_oddity_length(off), 14);
	CHECK_EQ(pl_oddity_length(off_jump), 14);
	CHECK_EQ(pl_oddity_length(ud1), 3);
	/* What is instructions is the decoder's: also the check that is on, and each part of it. */
	CHECK_EQ(pl_oddity_length(ud2), 0);
	CHECK_EQ(pl_oddity_length(compiled), 0);
	for (unsigned int i = 1; i < 15; i++)
		CHECK_EQ(pl_oddity_length(off + i), 0);

	/* Of the check every bit counts; the hash and what comes behind may be anything. */
	for (unsigned int bit = 0; bit < 8 * sizeof(off); bit++) {
		unsigned int i = bit / 8;

		__builtin_memcpy(other, off, sizeof(off));
		other[i] ^= 1 << bit % 8;
		CHECK_EQ(pl_oddity_length(other), (i >= 2 && i < 6) || i >= 14 ? 14 : 0);
	}
	return 0;
}
