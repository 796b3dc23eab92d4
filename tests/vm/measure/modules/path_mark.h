/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Marks for the emulator's plug-in tests/vm/measure/path_trace.c: nops that nobody else executes. Without
 * the plug-in each is an instruction that does nothing.
 */
#ifndef _PATH_MARK_H
#define _PATH_MARK_H

/* nopl DISPLACEMENT(%rax) */
#define PATH_MARK(displacement) \
	asm volatile(".byte 0x0f, 0x1f, 0x80; .long " #displacement ::: "memory")

/* From here on the plug-in looks at each instruction. */
#define PATH_START()	PATH_MARK(0x54435430)
/* The instructions before and after this one are written down. */
#define PATH_HERE()	PATH_MARK(0x54435431)

#endif
