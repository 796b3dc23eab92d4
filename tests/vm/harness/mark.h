/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For programs and modules of the guest: from here on the turns of the CPUs are those of the next
 * seed (schedule.c), or, for PID 1's, those of the first. Without `vm run --schedule` it does nothing.
 */
#ifndef _HARNESS_MARK_H
#define _HARNESS_MARK_H

/* nopl 0x4b52414d(%rax): nobody else has a reason to spell a nop like this. */
#define next_schedule() __asm__ volatile(".byte 0x0f, 0x1f, 0x80; .ascii \"MARK\"" : : : "memory")

#endif
