/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slots: the places in kernel and module text that are rewritten. Finding and
 * checking them, and writing them. Private to pipeline/x86.
 */
#ifndef _TACTUS_SLOTS_H
#define _TACTUS_SLOTS_H

#include <linux/list.h>
#include <linux/module.h>
#include <linux/types.h>
#include "pipeline/x86/patch/alias.h"

struct kprobe_blacklist_entry;

#define PL_CALL_BYTES 5U
#define PL_OP_CALL 0xe8
#define PL_OP_JMP 0xe9
#define PL_PREFIX_CS 0x2e	/* ignored on a call or jump: only makes it longer */

/** pl_call_target - where a direct call or jump leads */
static inline unsigned long pl_call_target(const u8 *code)
{
	return (unsigned long)code + PL_CALL_BYTES + *(const s32 *)(code + 1);
}

enum pl_slot_kind {
	PL_SLOT_CLI,
	PL_SLOT_STI,
	PL_SLOT_SAVE_FL,
	PL_SLOT_CLI_HARD,	/* stays native; kept to be checked and listed */
	PL_SLOT_IRQ,		/* call of an interrupt's C handler */
	PL_SLOT_EXC,		/* call of an exception's C handler */
	PL_SLOT_NMI,		/* call of an IST exception's C handler */
	PL_SLOT_MISC,		/* idle, swapgs windows, CMOS */
	PL_SLOT_SYS,		/* call of a system call's C function */
	PL_SLOT_KINDS
};

/*
 * struct pl_slot - one place
 * @addr: where
 * @kind: enum pl_slot_kind
 * @bytes: how many
 * @old, @new: as found, and ours, in the low bytes: eight bytes are compared and written at once
 */
struct pl_slot {
	unsigned long addr;
	u8 kind, bytes;
	u64 old, new;
};

/*
 * struct pl_text - one stretch of text and its slots
 * @node: in the installer's list
 * @mod: the module it belongs to; NULL: the kernel
 * @name: the module's, or "kernel"
 * @base, @bytes: the stretch
 * @slots, @count, @room: its slots
 * @kinds: how many of each kind
 * @fence: keeps kprobes off the slots; an entry each, or NULL
 */
struct pl_text {
	struct list_head node;
	struct module *mod;
	char name[MODULE_NAME_LEN];
	unsigned long base, bytes;
	struct pl_alias alias;
	struct pl_slot *slots;
	unsigned int count, room;
	unsigned int kinds[PL_SLOT_KINDS];
	struct kprobe_blacklist_entry *fence;
};

extern const char *const pl_slot_name[PL_SLOT_KINDS];

/**
 * pl_slots_find - find the sections of the kernel's text in which a cli stays hard
 *
 * Context: Linux process; may sleep; before any text is scanned.
 * Return: 0, or -EOPNOTSUPP after a line in the log.
 */
int pl_slots_find(void);

/** pl_text_open - prepare a stretch of text; returns it or an ERR_PTR. May sleep. */
struct pl_text *pl_text_open(struct module *mod, unsigned long base, unsigned long bytes);

/** pl_text_close - forget it; writes nothing */
void pl_text_close(struct pl_text *text);

/*
 * pl_text_scan - find every cli, sti and save_fl slot of a stretch
 *
 * Context: Linux process; may sleep.
 * Return: 0, -ENOMEM, or -EOPNOTSUPP after a line in the log (text that cannot be decoded).
 */
int pl_text_scan(struct pl_text *text);

/** pl_text_scanned - how many slots pl_text_scan() found; they come first, in ascending order */
static inline unsigned int pl_text_scanned(const struct pl_text *text)
{
	return text->kinds[PL_SLOT_CLI] + text->kinds[PL_SLOT_STI] +
	       text->kinds[PL_SLOT_SAVE_FL] + text->kinds[PL_SLOT_CLI_HARD];
}

/*
 * pl_text_add - a slot at @addr becomes a call or jump
 * @opcode: 0xe8 (call) or 0xe9 (jmp)
 * @target: where to; NULL: nowhere, the slot is only checked and listed
 * @bytes: of the slot, 5 or 6
 *
 * Return: 0, -ENOMEM, -EOPNOTSUPP (target out of reach).
 */
int pl_text_add(struct pl_text *text, unsigned long addr, enum pl_slot_kind kind,
		u8 opcode, const void *target, u8 bytes);

/*
 * pl_text_add_calls - every call of @callee in [@base, @base + @bytes) is a slot
 * @stub: what is called instead
 *
 * Return: how many, or a negative errno.
 */
int pl_text_add_calls(struct pl_text *text, unsigned long base, unsigned long bytes,
		      unsigned long callee, enum pl_slot_kind kind, const void *stub);

/** pl_text_add_all_calls - likewise for the whole text. Context: Linux process; may sleep. */
int pl_text_add_all_calls(struct pl_text *text, unsigned long callee, enum pl_slot_kind kind,
			  const void *stub);

/*
 * pl_text_find - the first place in [@base, @base + @bytes) with the given bytes, at
 * an instruction's start; 0 if there is none
 */
unsigned long pl_text_find(unsigned long base, unsigned long bytes,
			   const u8 *pattern, unsigned int pattern_bytes);

/*
 * pl_text_check - is every slot what it should be?
 * @on: as we wrote them; else as they were found
 *
 * Context: any.
 * Return: NULL, or the first slot that differs.
 */
const struct pl_slot *pl_text_check(const struct pl_text *text, bool on);

/*
 * pl_text_write - write all slots
 * @on: ours; else as they were found
 *
 * Context: all other CPUs wait with hardware interrupts off, as does the caller.
 */
void pl_text_write(struct pl_text *text, bool on);

#endif
