// SPDX-License-Identifier: GPL-2.0-only
/* The pipeline's surroundings: the executive above it, the APIC driver below it, and the log. */
#include <linux/errno.h>
#include <linux/printk.h>
#include "pipeline/x86/client.h"

struct apic *pl_apic;
const struct pl_client *pl_client;

int pl_refuse(const char *why)
{
	pr_err("refused: %s; nothing was changed\n", why);
	return -EOPNOTSUPP;
}
