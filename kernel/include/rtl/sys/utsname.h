/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of the kernel that runs. */
#ifndef _RTL_SYS_UTSNAME_H
#define _RTL_SYS_UTSNAME_H

#include <linux/utsname.h>

struct utsname {
	char sysname[__NEW_UTS_LEN + 1];
	char nodename[__NEW_UTS_LEN + 1];
	char release[__NEW_UTS_LEN + 1];
	char version[__NEW_UTS_LEN + 1];
	char machine[__NEW_UTS_LEN + 1];
};

/** uname - any context. 0. */
static inline int uname(struct utsname *name)
{
	memcpy(name, &init_uts_ns.name, sizeof(*name));
	return 0;
}

#endif
