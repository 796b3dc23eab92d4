// SPDX-License-Identifier: GPL-2.0-only
/*
 * A prototype, no part of the product: what would it take to have calls for cli, sti and pushf in a
 * kernel without CONFIG_PARAVIRT_XXL? docs/decisions/0011 has what it measures.
 *
 *	insmod cli_detour.ko places=FILE write=0|1|2
 *
 * FILE is what `tools/cli-room --list` prints for this very kernel. Where a jump has room, the
 * instructions that it covers are copied to an area of this module, with their operands relative to
 * the instruction pointer put right, and a jump back; then, with write=1, the jump is written. With
 * write=2 an int3 is written, too, where there is no room, and its handler does what the instruction
 * did. So Linux goes on as before, only slower. What was done is in /proc/cli_detour, with the time of some
 * pairs; reading it measures. Unloading puts everything back.
 *
 * It is for one CPU. Everything is written with that CPU's interrupts off, and no place is touched
 * in whose bytes some task may have been pre-empted: a word of its stack says so.
 */
#include <linux/kdebug.h>
#include <linux/kernel_read_file.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>
#include <linux/sort.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>
#include <linux/vmalloc.h>
#include <asm/insn.h>
#include <asm/tsc.h>

#include "../../pipeline/modules/unexported.h"

#define MOST 4096
#define JUMP_BYTES 5
#define AREA_BYTES 65536
#define INT3 0xcc

enum kind { CLI, STI, SAVE };
enum way { NOTHING, JUMP, BREAKPOINT };

struct place {
	unsigned long at;	/* of the instruction itself */
	unsigned long start;	/* of what is covered */
	u8 bytes;		/* covered */
	u8 kind;
	u8 way;
	u8 reg;			/* that pushf-pop loads */
	u8 own;			/* bytes of the instruction */
	bool written;
	u8 before[32];
	unsigned long copy;	/* in the area */
};

void detour_pairs(void);
extern u8 detour_pair_cli[], detour_pair_sti[], detour_area[];

static char *places_file;
static uint upto;
module_param_named(places, places_file, charp, 0444);
module_param_named(write, upto, uint, 0444);

static struct place *places;
static unsigned int count, other_bytes, no_decode, occupied;
static unsigned int written_kinds[3][3];	/* by way and kind */
static unsigned long used;			/* bytes of the area */
static unsigned long hits;			/* breakpoints met */

static int (*decode)(struct insn *insn, const void *at, int bytes, enum insn_mode mode);
static u8 *text_map;		/* writable views */
static u8 *area_map;
static unsigned long text_start, text_end;

/* The kernel's text, or this module's area, to be written. Returns NULL if it is neither. */
static u8 *writable(unsigned long at)
{
	if (at >= text_start && at < text_end)
		return text_map + (at - (text_start & PAGE_MASK));
	if (at - (unsigned long)detour_area < AREA_BYTES)
		return area_map + (at - (unsigned long)detour_area);
	return NULL;
}

static u8 *map_pages(unsigned long from, unsigned long to)
{
	unsigned int number = (PAGE_ALIGN(to) - (from & PAGE_MASK)) >> PAGE_SHIFT;
	struct page **pages = kvmalloc_array(number, sizeof(*pages), GFP_KERNEL);
	u8 *map;

	if (!pages)
		return NULL;
	for (unsigned int i = 0; i < number; i++) {
		unsigned long page = (from & PAGE_MASK) + i * PAGE_SIZE;

		pages[i] = page - __START_KERNEL_map < KERNEL_IMAGE_SIZE ?
			pfn_to_page(__pa(page) >> PAGE_SHIFT) : vmalloc_to_page((void *)page);
	}
	map = vmap(pages, number, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	return map;
}

static int read_places(void)
{
	static const char *const kinds[] = { "cli", "sti", "pushf-pop" };
	size_t size;
	void *text = NULL;
	char *line, *rest;
	int read = kernel_read_file_from_path(places_file, 0, &text, INT_MAX, &size,
					      READING_UNKNOWN);

	if (read < 0)
		return read;
	rest = kvzalloc(size + 1, GFP_KERNEL);
	if (!rest) {
		vfree(text);
		return -ENOMEM;
	}
	line = memcpy(rest, text, size);
	vfree(text);
	text = line;
	while ((line = strsep(&rest, "\n")) && count < MOST) {
		struct place *place = &places[count];
		char kind[16], where[16];
		unsigned int bytes;

		if (sscanf(line, "%lx %15s %15s %lx %u", &place->at, kind, where, &place->start,
			   &bytes) != 5 || bytes > sizeof(place->before))
			continue;
		for (place->kind = CLI; place->kind < SAVE && strcmp(kind, kinds[place->kind]); )
			place->kind++;
		place->bytes = bytes;
		place->way = !strcmp(where, "hard") ? NOTHING :
			     !strcmp(where, "none") ? BREAKPOINT : JUMP;
		count++;
	}
	kvfree(text);
	return count ? 0 : -ENODATA;
}

/* Is the instruction there, and what is it like? */
static bool looks_right(struct place *place)
{
	const u8 *at = (void *)place->at;

	place->own = 1;
	if (place->kind != SAVE)
		return at[0] == (place->kind == CLI ? 0xfa : 0xfb);
	if (at[0] != 0x9c)
		return false;
	place->reg = at[1] == 0x41 ? (at[2] & 7) + 8 : at[1] & 7;
	place->own = at[1] == 0x41 ? 3 : 2;
	return (at[place->own - 1] & 0xf8) == 0x58;
}

/* A memory operand relative to the instruction pointer: mod is 0, rm is 5. */
static bool rip_relative(const struct insn *insn)
{
	return insn->modrm.nbytes && (insn->modrm.value & 0xc7) == 0x05;
}

/* Copies what a jump covers to the area, fit to run there. Returns false if it cannot be. */
static bool copy(struct place *place)
{
	unsigned long from = place->start, to = (unsigned long)detour_area + used;
	bool met = false;
	s32 *back;

	place->copy = to;
	while (from < place->start + place->bytes) {
		struct insn insn;

		if (decode(&insn, (void *)from, MAX_INSN_SIZE, INSN_MODE_KERN) < 0)
			return false;
		met |= from == place->at;
		memcpy(writable(to), (void *)from, insn.length);
		if (rip_relative(&insn)) {
			s64 off = (s64)insn.displacement.value + (s64)(from - to);

			if (off != (s32)off)
				return false;
			*(s32 *)(writable(to) + insn_offset_displacement(&insn)) = off;
		}
		from += insn.length;
		to += insn.length;
	}
	if (!met || from != place->start + place->bytes)
		return false;
	*writable(to) = 0xe9;
	back = (s32 *)writable(to + 1);
	*back = from - (to + JUMP_BYTES);
	used = to + JUMP_BYTES - (unsigned long)detour_area;
	return used < AREA_BYTES - 64;
}

static int by_start(const void *a, const void *b)
{
	const struct place *one = a, *two = b;

	return one->start < two->start ? -1 : one->start > two->start;
}

static struct place *place_at(unsigned long address)
{
	unsigned int low = 0, high = count;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (places[middle].start + places[middle].bytes <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && places[low].start <= address ? &places[low] : NULL;
}

/* Calls @meet with each word of each task's stack; more than return addresses, and none is left out. */
static void each_word(void (*meet)(unsigned long word))
{
	struct task_struct *group, *task;

	for_each_process_thread(group, task) {
		unsigned long *word = task_stack_page(task), *end;

		if (!word)
			continue;
		for (end = word + THREAD_SIZE / sizeof(*word); word < end; word++)
			meet(*word);
	}
}

static void forbid(unsigned long word)
{
	struct place *place = place_at(word);

	if (place && word > place->start && place->way == JUMP) {
		place->way = NOTHING;
		occupied++;
	}
}

static unsigned int inside;
static void look_inside(unsigned long word)
{
	inside += word - (unsigned long)detour_area < AREA_BYTES;
}

static int write_all(void *unused)
{
	each_word(forbid);
	for (struct place *place = places; place < places + count; place++) {
		u8 *to = writable(place->way == JUMP ? place->start : place->at);

		if (place->way == NOTHING || place->way > upto)
			continue;
		if (place->way == JUMP) {
			memcpy(place->before, to, place->bytes);
			memset(to, INT3, place->bytes);
			*(s32 *)(to + 1) = place->copy - (place->start + JUMP_BYTES);
			to[0] = 0xe9;
		} else {
			place->before[0] = *to;
			*to = INT3;
		}
		place->written = true;
		written_kinds[place->way][place->kind]++;
	}
	sync_core();
	return 0;
}

static int unwrite_all(void *unused)
{
	for (struct place *place = places; place < places + count; place++) {
		if (!place->written)
			continue;
		if (place->way == JUMP)
			memcpy(writable(place->start), place->before, place->bytes);
		else
			*writable(place->at) = place->before[0];
		place->written = false;
	}
	sync_core();
	return 0;
}

static int look(void *unused)
{
	inside = 0;
	each_word(look_inside);
	return 0;
}

static unsigned long *reg_of(struct pt_regs *regs, u8 number)
{
	static const u8 offsets[] = {
		offsetof(struct pt_regs, ax), offsetof(struct pt_regs, cx),
		offsetof(struct pt_regs, dx), offsetof(struct pt_regs, bx),
		offsetof(struct pt_regs, sp), offsetof(struct pt_regs, bp),
		offsetof(struct pt_regs, si), offsetof(struct pt_regs, di),
		offsetof(struct pt_regs, r8), offsetof(struct pt_regs, r9),
		offsetof(struct pt_regs, r10), offsetof(struct pt_regs, r11),
		offsetof(struct pt_regs, r12), offsetof(struct pt_regs, r13),
		offsetof(struct pt_regs, r14), offsetof(struct pt_regs, r15),
	};

	return (void *)regs + offsets[number];
}

/* Does what the instruction under a breakpoint did. Context: like an NMI's. */
static int met_breakpoint(struct notifier_block *block, unsigned long event, void *data)
{
	struct pt_regs *regs = ((struct die_args *)data)->regs;
	unsigned long at = regs->ip - 1;
	struct place *place = place_at(at);

	if (event != DIE_INT3 || user_mode(regs))
		return NOTIFY_DONE;
	if (at == (unsigned long)detour_pair_cli) {
		regs->flags &= ~X86_EFLAGS_IF;
	} else if (at == (unsigned long)detour_pair_sti) {
		regs->flags |= X86_EFLAGS_IF;
	} else if (place && place->at == at && place->way == BREAKPOINT) {
		if (place->kind == CLI)
			regs->flags &= ~X86_EFLAGS_IF;
		else if (place->kind == STI)
			regs->flags |= X86_EFLAGS_IF;
		else
			*reg_of(regs, place->reg) = regs->flags;
		regs->ip = at + place->own;
	} else {
		return NOTIFY_DONE;
	}
	hits++;
	return NOTIFY_STOP;
}

static struct notifier_block breakpoint_block = {
	.notifier_call = met_breakpoint, .priority = INT_MAX,
};

static u64 time_pairs(void)
{
	u64 begin = rdtsc_ordered();

	detour_pairs();
	return rdtsc_ordered() - begin;
}

static DEFINE_RAW_SPINLOCK(some_lock);

/* A thousand times a function of Linux's with such places in it. */
static u64 time_locks(void)
{
	u64 begin = rdtsc_ordered();

	for (int i = 0; i < 1000; i++) {
		unsigned long flags;

		raw_spin_lock_irqsave(&some_lock, flags);
		raw_spin_unlock_irqrestore(&some_lock, flags);
	}
	return rdtsc_ordered() - begin;
}

/* The pairs of pair.S under breakpoints. */
static u64 time_breakpoints(void)
{
	u8 *map = map_pages((unsigned long)detour_pair_cli, (unsigned long)detour_pair_sti + 1);
	u8 *cli = map ? map + offset_in_page(detour_pair_cli) : NULL;
	u8 *sti = cli ? cli + (detour_pair_sti - detour_pair_cli) : NULL;
	u64 taken;

	if (!map)
		return 0;
	*cli = *sti = INT3;
	sync_core();
	taken = time_pairs();
	*cli = 0xfa;
	*sti = 0xfb;
	sync_core();
	vunmap(map);
	return taken;
}

static const char *way_of(const char *name)
{
	static const char *const names[] = { "nothing", "jump", "breakpoint" };
	unsigned long at = (unsigned long)find_symbol(name);

	for (struct place *place = places; place < places + count; place++)
		if (place->at >= at && place->at < at + 48 && place->written)
			return names[place->way];
	return names[NOTHING];
}

static int show(struct seq_file *file, void *unused)
{
	seq_printf(file, "places=%u jumps=%u,%u,%u breakpoints=%u,%u,%u other_bytes=%u "
		   "no_decode=%u occupied=%u hits=%lu\n", count,
		   written_kinds[JUMP][CLI], written_kinds[JUMP][STI], written_kinds[JUMP][SAVE],
		   written_kinds[BREAKPOINT][CLI], written_kinds[BREAKPOINT][STI],
		   written_kinds[BREAKPOINT][SAVE], other_bytes, no_decode, occupied, hits);
	seq_printf(file, "now_ns=%llu ", (u64)(rdtsc_ordered() * 1000000 / tsc_khz));
	seq_printf(file, "pairs_ns=%llu breakpoint_pairs_ns=%llu locks_ns=%llu lock=%s unlock=%s\n",
		   time_pairs() * 1000000 / tsc_khz, time_breakpoints() * 1000000 / tsc_khz,
		   time_locks() * 1000000 / tsc_khz, way_of("_raw_spin_lock_irqsave"),
		   way_of("_raw_spin_unlock_irqrestore"));
	return 0;
}

static void take_back(void)
{
	stop_machine(unwrite_all, NULL, NULL);
	/* Somebody may have been pre-empted in a copy: it goes on to the jump back. */
	for (stop_machine(look, NULL, NULL); inside; stop_machine(look, NULL, NULL))
		msleep(20);
	unregister_die_notifier(&breakpoint_block);
	vunmap(area_map);
	vunmap(text_map);
	kvfree(places);
}

static int __init detour_init(void)
{
	int err;

	if (num_online_cpus() != 1 || !places_file)
		return -EINVAL;
	decode = find_symbol("insn_decode");
	text_start = (unsigned long)find_symbol("_stext");
	text_end = (unsigned long)find_symbol("_etext");
	places = kvcalloc(MOST, sizeof(*places), GFP_KERNEL);
	if (!places || !decode || !text_start || !text_end)
		return -ENOMEM;
	err = read_places();
	text_map = map_pages(text_start, text_end);
	area_map = map_pages((unsigned long)detour_area, (unsigned long)detour_area + AREA_BYTES);
	if (err || !text_map || !area_map) {
		vunmap(area_map);
		vunmap(text_map);
		kvfree(places);
		return err ?: -ENOMEM;
	}
	sort(places, count, sizeof(*places), by_start, NULL);
	for (struct place *place = places; place < places + count; place++) {
		if (place->way == NOTHING)
			continue;
		if (place->at < text_start || place->at >= text_end || !looks_right(place)) {
			place->way = NOTHING;
			other_bytes++;
		} else if (place->way == JUMP && !copy(place)) {
			place->way = NOTHING;
			no_decode++;
		}
	}
	register_die_notifier(&breakpoint_block);
	stop_machine(write_all, NULL, NULL);
	proc_create_single("cli_detour", 0444, NULL, show);
	return 0;
}

static void __exit detour_exit(void)
{
	remove_proc_entry("cli_detour", NULL);
	take_back();
}
module_init(detour_init);
module_exit(detour_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Prototype: detours for cli and sti in a kernel without CONFIG_PARAVIRT_XXL");
