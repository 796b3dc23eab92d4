/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* RTAI's names in numbers, the same for its modules and its processes on Tactus. */
#ifndef _UAPI_TACTUS_RTAI_H
#define _UAPI_TACTUS_RTAI_H

/* The segment that a number stands for: printf() it with the number. */
#define RTAI_SHM_NAME "rtai-%lx"

/** rtai_nam2num - six letters, digits, '_' or '$' in a number; case does not matter */
static inline unsigned long rtai_nam2num(const char *name)
{
	unsigned long num = 0;
	int i, digit;

	for (i = 0; i < 6; i++) {
		char c = name && *name ? *name++ : 0;

		if (c >= 'a' && c <= 'z')
			digit = c - 'a' + 1;
		else if (c >= 'A' && c <= 'Z')
			digit = c - 'A' + 1;
		else if (c >= '0' && c <= '9')
			digit = c - '0' + 27;
		else
			digit = !c ? 0 : c == '_' ? 37 : 38;
		num = num * 39 + digit;
	}
	return num;
}

#endif
