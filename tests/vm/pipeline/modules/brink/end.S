/* SPDX-License-Identifier: GPL-2.0-only */
/* Nobody ever calls it. */
	.text
	.balign	4096
	.skip	4096 - 7, 0xcc
	.type	brink_text, @function
brink_text:
	.byte	0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00
	.byte	0xc3
	.size	brink_text, . - brink_text
