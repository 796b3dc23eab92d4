// SPDX-License-Identifier: GPL-2.0-only
/* A module whose text ends with a cli's slot and a ret, seven bytes before a page's end: end.S. */
#include <linux/module.h>

static int __init brink_init(void)
{
	return 0;
}

module_init(brink_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A slot at the end of a page");
