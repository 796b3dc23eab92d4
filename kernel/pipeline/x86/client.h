/* SPDX-License-Identifier: GPL-2.0-only */
/* What every part of the pipeline on x86 may need of its surroundings. Private to pipeline/x86. */
#ifndef _TACTUS_CLIENT_H
#define _TACTUS_CLIENT_H

struct apic;
struct pl_client;

extern struct apic *pl_apic;			/* the kernel's APIC driver */
extern const struct pl_client *pl_client;	/* the executive */

/** pl_refuse - say why in the log; returns -EOPNOTSUPP. Context: Linux process. */
int pl_refuse(const char *why);

#endif
