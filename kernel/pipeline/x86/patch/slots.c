// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding and writing slots.
 *
 * On a kernel with CONFIG_PARAVIRT_XXL each local_irq_disable(), local_irq_enable()
 * and local_save_flags() was compiled as a six-byte paravirt call, which boot code
 * replaced by the native instruction and a nop. Those six bytes are the signature.
 * They also occur by chance (on IBT kernels the last byte of endbr64 before a
 * ftrace nop looks like cli), so a place counts only if decoding its function from
 * the start arrives at it.
 */
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/x86/patch/bytesearch.h"
#include "pipeline/x86/patch/slots.h"
#include "pipeline/x86/patch/symbols.h"

#define SLOT_BYTES 6
#define OP_PUSHF 0x9c
#define OP_CLI	 0xfa
#define OP_STI	 0xfb

#define SIGNATURE_MARK 0x1f	/* a nop's second byte, rare elsewhere: what is looked for first */

/* @mark: where SIGNATURE_MARK is in it */
static const struct {
	u8 bytes[SLOT_BYTES], mark;
	const char *target;
} signature[] = {
	[PL_SLOT_CLI]	  = { { OP_CLI, 0x0f, 0x1f, 0x44, 0x00, 0x00 }, 2, pl_cli },
	[PL_SLOT_STI]	  = { { OP_STI, 0x0f, 0x1f, 0x44, 0x00, 0x00 }, 2, pl_sti },
	[PL_SLOT_SAVE_FL] = { { OP_PUSHF, 0x58, 0x0f, 0x1f, 0x40, 0x00 }, 3, pl_save_fl },
};

const char *const pl_slot_name[PL_SLOT_KINDS] = {
	[PL_SLOT_CLI] = "cli",
	[PL_SLOT_STI] = "sti",
	[PL_SLOT_SAVE_FL] = "save_fl",
	[PL_SLOT_CLI_HARD] = "cli_hard",
	[PL_SLOT_IRQ] = "irq",
	[PL_SLOT_EXC] = "exc",
	[PL_SLOT_NMI] = "nmi",
	[PL_SLOT_MISC] = "misc",
	[PL_SLOT_SYS] = "sys",
};

/*
 * A cli on the way back to assembly must be hard, since the return to user mode or from an
 * exception relies on it. All such code but a few functions is in the section that must not be
 * instrumented, and so is idle code, which is soft all the same. In a function there that nobody
 * named a hard cli costs latency, and a soft one could cost the machine: so it is hard. Every sti
 * is soft, so nothing is lost by it.
 */
static const char *const soft_noinstr[] = {
	"ct_idle_exit",
};

/*
 * The others (by prefix), depending on what the compiler made inline; and where a CPU ends: one
 * that is stopped runs no RT code any more, and one that leaves for another kernel has no IDT.
 */
static const char *const hard_ordinary[] = {
	"__syscall_exit_to_user_mode_work",
	"exit_to_user_mode_",
	"local_irq_disable_exit_to_user",
	"machine_kexec",
	"native_machine_crash_shutdown",
	"panic",
	"preempt_schedule_irq",
	"ret_from_fork",
	"stop_this_cpu",
	"syscall_exit_to_user_mode_work",
	"vpanic",
};

static struct pl_range noinstr_text, idle_text;

/*
 * KVM's modules look for work with interrupts off, then enter their guest, which an interrupt
 * that is only logged would not get it out of; and between the two the CPU has the guest's state.
 */
static bool is_kvm(const struct module *mod)
{
	return mod && strstarts(mod->name, "kvm");
}

static bool is_one_of(const char *function, const char * const *prefixes, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (strstarts(function, prefixes[i]))
			return true;
	return false;
}

static bool stays_hard(const struct pl_text *text, unsigned long addr, const char *function)
{
	if (is_kvm(text->mod))
		return true;
	if (pl_in_range(&noinstr_text, addr))
		return !pl_in_range(&idle_text, addr) &&
		       !is_one_of(function, soft_noinstr, ARRAY_SIZE(soft_noinstr));
	return is_one_of(function, hard_ordinary, ARRAY_SIZE(hard_ordinary));
}

int pl_slots_find(void)
{
	int err = pl_symbol_range("__noinstr_text_start", "__noinstr_text_end", &noinstr_text);

	return err ?: pl_symbol_range("__cpuidle_text_start", "__cpuidle_text_end", &idle_text);
}

struct pl_text *pl_text_open(struct module *mod, unsigned long base, unsigned long bytes)
{
	struct pl_text *text = kzalloc(sizeof(*text), GFP_KERNEL);
	int err;

	if (!text)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&text->node);
	text->mod = mod;
	strscpy(text->name, mod ? mod->name : "kernel", sizeof(text->name));
	text->base = base;
	text->bytes = bytes;
	err = pl_alias_map(&text->alias, base, bytes);
	if (err) {
		kfree(text);
		return ERR_PTR(err);
	}
	return text;
}

void pl_text_close(struct pl_text *text)
{
	pl_alias_unmap(&text->alias);
	kvfree(text->slots);
	kfree(text);
}

static int make_room(struct pl_text *text)
{
	unsigned int room = text->room ? 2 * text->room : 64;
	struct pl_slot *slots;

	if (text->count < text->room)
		return 0;
	slots = kvmalloc_array(room, sizeof(*slots), GFP_KERNEL);
	if (!slots)
		return -ENOMEM;
	memcpy(slots, text->slots, text->count * sizeof(*slots));
	kvfree(text->slots);
	text->slots = slots;
	text->room = room;
	return 0;
}

int pl_text_add(struct pl_text *text, unsigned long addr, enum pl_slot_kind kind,
		u8 opcode, const void *target, u8 bytes)
{
	s64 distance = (unsigned long)target - (addr + bytes);
	s32 rel = distance;
	struct pl_slot *slot;
	int err = make_room(text);

	if (err)
		return err;
	if (target && rel != distance) {
		pr_err("refused: %pS is out of a call's reach of %pS; nothing was changed\n",
		       target, (void *)addr);
		return -EOPNOTSUPP;
	}
	/* Compared and written as a word; the next page is somebody else's, or nobody's. */
	if (addr + sizeof(slot->old) > PAGE_ALIGN(text->base + text->bytes)) {
		pr_err("refused: %pS is too close to the end of its text's last page; nothing was changed\n",
		       (void *)addr);
		return -EOPNOTSUPP;
	}
	slot = &text->slots[text->count++];
	*slot = (struct pl_slot){ .addr = addr, .kind = kind, .bytes = bytes };
	memcpy(&slot->old, (const void *)addr, bytes);
	if (target) {
		u8 *new = (u8 *)&slot->new;

		/*
		 * One instruction, as long as the slot: who is pre-empted in the callee while we
		 * switch off returns behind the slot, not into the instructions put back.
		 */
		new[0] = PL_PREFIX_CS;
		new[bytes - PL_CALL_BYTES] = opcode;
		memcpy(new + bytes - sizeof(rel), &rel, sizeof(rel));
	} else {
		slot->new = slot->old;
	}
	text->kinds[kind]++;
	return 0;
}

/*
 * Where decoding stands: candidates come in ascending order, so each function is
 * decoded once.
 */
struct cursor {
	unsigned long start, end, at;
	char name[KSYM_NAME_LEN];
};

/* Return: 1 if @addr is an instruction's start, 0 if not, or -EOPNOTSUPP. */
static int is_boundary(struct cursor *cursor, unsigned long addr)
{
	if (addr >= cursor->end || addr < cursor->at) {
		unsigned long size;

		if (!pl_symbol_at(addr, &cursor->start, &size, cursor->name)) {
			pr_err("refused: no symbol for the text at %px; nothing was changed\n",
			       (void *)addr);
			return -EOPNOTSUPP;
		}
		cursor->at = cursor->start;
		cursor->end = cursor->start + size;
	}
	while (cursor->at < addr) {
		int length = pl_insn_length(cursor->at);

		if (length <= 0) {
			pr_err("refused: cannot decode %pS; nothing was changed\n",
			       (void *)cursor->at);
			return -EOPNOTSUPP;
		}
		cursor->at += length;
	}
	return cursor->at == addr;
}

#define CHUNK_BYTES (1UL << 16)	/* looked at without a pause */

/* Is the byte at @mark that of a signature? @at: of the signature's begin */
static int signature_around(const u8 *mark, const u8 *begin, const u8 *end, const u8 **at)
{
	for (unsigned int kind = 0; kind < ARRAY_SIZE(signature); kind++) {
		*at = mark - signature[kind].mark;
		if (*at >= begin && *at + SLOT_BYTES <= end &&
		    !memcmp(*at, signature[kind].bytes, SLOT_BYTES))
			return kind;
	}
	return -1;
}

static int add_signature(struct pl_text *text, struct cursor *cursor, unsigned long addr, int kind)
{
	int err = is_boundary(cursor, addr);

	if (err <= 0)
		return err;
	if (kind == PL_SLOT_CLI && stays_hard(text, addr, cursor->name))
		return pl_text_add(text, addr, PL_SLOT_CLI_HARD, 0, NULL, SLOT_BYTES);
	return pl_text_add(text, addr, kind, PL_OP_CALL, signature[kind].target, SLOT_BYTES);
}

/* Signatures do not overlap, so they come in the order of their marks. */
int pl_text_scan(struct pl_text *text)
{
	const u8 *begin = (const u8 *)text->base, *end = begin + text->bytes, *mark = begin, *at;
	struct cursor *cursor = kzalloc(sizeof(*cursor), GFP_KERNEL);
	int err = 0;

	if (!cursor)
		return -ENOMEM;
	while (mark < end && !err) {
		const u8 *stop = mark + min_t(unsigned long, end - mark, CHUNK_BYTES);

		cond_resched();
		for (; (mark = pl_byte_find(mark, stop, SIGNATURE_MARK)) < stop && !err; mark++) {
			int kind = signature_around(mark, begin, end, &at);

			if (kind >= 0)
				err = add_signature(text, cursor, (unsigned long)at, kind);
		}
	}
	kfree(cursor);
	return err;
}

int pl_text_add_calls(struct pl_text *text, unsigned long base, unsigned long bytes,
		      unsigned long callee, enum pl_slot_kind kind, const void *stub)
{
	int found = 0, length, err;

	for (unsigned long at = base; at + PL_CALL_BYTES <= base + bytes; at += length) {
		length = pl_insn_length(at);
		if (length <= 0) {
			pr_err("refused: cannot decode %pS; nothing was changed\n", (void *)at);
			return -EOPNOTSUPP;
		}
		if (*(const u8 *)at != PL_OP_CALL ||
		    pl_call_target((const u8 *)at) != callee)
			continue;
		err = pl_text_add(text, at, kind, PL_OP_CALL, stub, PL_CALL_BYTES);
		if (err)
			return err;
		found++;
	}
	return found;
}

/*
 * A call's third operand byte, the mark, says in which 64 KiB of distance its callee lies. So for
 * 64 KiB of places at a time it is the same in all calls of @callee, and rare enough.
 */
int pl_text_add_all_calls(struct pl_text *text, unsigned long callee, enum pl_slot_kind kind,
			  const void *stub)
{
	const u8 *begin = (const u8 *)text->base, *end = begin + text->bytes, *mark = begin + 3;
	struct cursor *cursor = kzalloc(sizeof(*cursor), GFP_KERNEL);
	int found = 0, err = 0;

	if (!cursor)
		return -ENOMEM;
	while (end - mark >= PL_CALL_BYTES - 3 && err >= 0) {
		s32 distance = callee - (unsigned long)(mark - 3 + PL_CALL_BYTES);
		unsigned long same = (distance & 0xffff) + 1;
		const u8 *stop = mark + min_t(unsigned long, end - 1 - mark, same);

		cond_resched();
		for (; (mark = pl_byte_find(mark, stop, distance >> 16)) < stop && err >= 0;
		     mark++) {
			const u8 *call = mark - 3;
			unsigned long at = (unsigned long)call;

			if (*call != PL_OP_CALL || pl_call_target(call) != callee)
				continue;
			err = is_boundary(cursor, at);
			if (err > 0)
				err = pl_text_add(text, at, kind, PL_OP_CALL, stub,
						  PL_CALL_BYTES) ?: 1;
			if (err > 0)
				found++;
		}
	}
	kfree(cursor);
	return err < 0 ? err : found;
}

unsigned long pl_text_find(unsigned long base, unsigned long bytes,
			   const u8 *pattern, unsigned int pattern_bytes)
{
	int length;

	for (unsigned long at = base; at + pattern_bytes <= base + bytes; at += length) {
		if (!memcmp((const void *)at, pattern, pattern_bytes))
			return at;
		length = pl_insn_length(at);
		if (length <= 0)
			return 0;
	}
	return 0;
}

/* The bits of a word that are not the slot's, shifted out. */
static __always_inline u64 word_of(const struct pl_slot *slot, u64 word)
{
	return word << (-8 * slot->bytes & 63);
}

const struct pl_slot *pl_text_check(const struct pl_text *text, bool on)
{
	const struct pl_slot *slot, *end = text->slots + text->count;

	for (slot = text->slots; slot < end; slot++)
		if (word_of(slot, *(const u64 *)slot->addr ^ (on ? slot->new : slot->old)))
			return slot;
	return NULL;
}

void pl_text_write(struct pl_text *text, bool on)
{
	const struct pl_slot *slot, *end = text->slots + text->count;
	u8 *alias = text->alias.to - text->base;

	/* One store: an NMI on this CPU sees a slot as it was or as it will be. */
	for (slot = text->slots; slot < end; slot++)
		if (slot->kind != PL_SLOT_CLI_HARD)
			*(volatile u64 *)(alias + slot->addr) ^= slot->old ^ slot->new;
}
