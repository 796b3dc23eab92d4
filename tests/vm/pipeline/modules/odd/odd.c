// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module whose text cannot be decoded: bytes that are no instruction, and behind them in the same
 * function a cli as compilers and boot leave it. Nobody ever calls it. Loading it does nothing.
 */
#include <linux/module.h>

asm(".text\n"
    ".type odd_text, @function\n"
    "odd_text:\n"
    "	.byte 0xc5, 0xf8, 0xff, 0xff, 0xff, 0xff, 0x06, 0x07\n"
    "	.byte 0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
    "	.byte 0xcc\n"
    ".size odd_text, . - odd_text\n");

static int __init odd_init(void)
{
	return 0;
}

static void __exit odd_exit(void)
{
}

module_init(odd_init);
module_exit(odd_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Text that cannot be decoded");
