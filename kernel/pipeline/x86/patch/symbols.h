/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's unexported functions and data, by name. Private to pipeline/x86. */
#ifndef _TACTUS_SYMBOLS_H
#define _TACTUS_SYMBOLS_H

#include <linux/types.h>
#include <asm/insn.h>

/**
 * pl_symbols_init - find the symbol table
 *
 * Context: Linux process; may sleep.
 * Return: 0, or -EOPNOTSUPP after a line in the log.
 */
int pl_symbols_init(void);

/** pl_symbol - address of a kernel symbol; 0 after a line in the log if there is none */
unsigned long pl_symbol(const char *name);

/** struct pl_range - a stretch of the kernel's text */
struct pl_range {
	unsigned long start, end;
};

static inline bool pl_in_range(const struct pl_range *range, unsigned long addr)
{
	return addr - range->start < range->end - range->start;
}

/** pl_symbol_range - from one symbol to another; 0, or -EOPNOTSUPP after a line in the log */
int pl_symbol_range(const char *start, const char *end, struct pl_range *range);

/** pl_symbol_try - address of a kernel symbol, or 0 */
unsigned long pl_symbol_try(const char *name);

/**
 * pl_symbol_at - which symbol an address belongs to
 * @addr: address in kernel or module text
 * @start: where the symbol starts
 * @size: its size, bytes
 * @name: KSYM_NAME_LEN bytes for its name, or NULL
 */
bool pl_symbol_at(unsigned long addr, unsigned long *start, unsigned long *size, char *name);

/*
 * pl_insn_length - decode one instruction with the kernel's own decoder, or an oddity (oddity.h)
 *
 * Return: its length in bytes, or -EINVAL.
 */
int pl_insn_length(unsigned long addr);

#endif
