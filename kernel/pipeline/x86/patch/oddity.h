/* SPDX-License-Identifier: GPL-2.0-only */
/* What is in the kernel's code and is not instructions to the kernel's own decoder. Pure logic. */
#ifndef _TACTUS_ODDITY_H
#define _TACTUS_ODDITY_H

#include <rt/pure.h>

/*
 * A check of whom an indirect call reaches (kCFI), as Linux leaves it with cfi=off: it writes a
 * jump over the check on the first two bytes, and of the first instruction the hash stays.
 *
 *	eb 0c		jmp	1f			was 41 ba: mov $hash,%r10d
 *	.. .. .. ..	the hash
 *	45 03 53 f1	add	-15(%r11),%r10d
 *	74 02		je	1f
 *	0f 0b		ud2
 *	1:		call	*%r11, or the like
 *
 * Nobody enters it but at its start. Bytes are read up to the first that differs, so none behind
 * the end of code that ends there. Where functions' padding is not of 16 bytes the hash is not at
 * -15: such code is not known, and so it is refused.
 */
static inline int pl_cfi_off_length(const u8 *byte)
{
	static const u8 check[] = { 0x45, 0x03, 0x53, 0xf1, 0x74, 0x02, 0x0f, 0x0b };

	if (byte[0] != 0xeb || byte[1] != 4 + sizeof(check))
		return 0;
	for (unsigned int i = 0; i < sizeof(check); i++)
		if (byte[6 + i] != check[i])
			return 0;
	return 6 + sizeof(check);
}

/**
 * pl_oddity_length - is this something that the decoder does not know, and how long is it?
 * @byte: where an instruction begins
 *
 * Return: its length in bytes, or 0: it is an instruction like others.
 */
static inline int pl_oddity_length(const u8 *byte)
{
	/* ud1: sanitizers plant it as a marker. */
	if (byte[0] == 0x0f && byte[1] == 0xb9)
		return 3;
	return pl_cfi_off_length(byte);
}

#endif
