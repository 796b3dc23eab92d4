// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plug-in for QEMU: writes down the instructions before and after each of some marks.
 *
 *	qemu-system-x86_64 -icount shift=0 -plugin path_trace.so,out=OUT[,before=N] ...
 *
 * The guest marks a place by a nop that nobody else executes, a "nopl" with one of two displacements
 * (tests/vm/measure/modules/path_mark.h): START has the plug-in look at every instruction from then on,
 * which is slow; HERE has it write the BEFORE instructions before it, itself, and the AFTER ones after it.
 *
 * A record is 16 bytes: an address, what it is (0 an instruction, 1 a load, 2 a store, 3 a mark's nop), and
 * how long, in bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

#define BEFORE	8192	/* records, if it is not said */
#define AFTER	4096
#define START	0x54435430
#define HERE	0x54435431

struct record {
	uint64_t address;
	uint32_t what;
	uint32_t length;
};

static struct record *ring;
static uint64_t before = BEFORE;
static uint64_t written;	/* records that went through the ring */
static uint64_t flushed;	/* of these, in the file */
static uint64_t until;		/* flush up to here */
static FILE *file;
static plugin_id self;

static void flush(uint64_t to)
{
	for (; flushed < to; flushed++)
		fwrite(&ring[flushed % before], sizeof(ring[0]), 1, file);
}

static void put(uint64_t address, uint32_t what, uint32_t length)
{
	ring[written++ % before] = (struct record){ address, what, length };
	if (written <= until)
		flush(written);
}

/* An instruction's address is canonical: its length fits above bit 56, which bit 55 gives back. */
static void executed(unsigned int cpu, void *data)
{
	uint64_t word = (uint64_t)data, high = (uint64_t)0xff << 56;

	(void)cpu;
	put(word & (uint64_t)1 << 55 ? word | high : word & ~high, 0, word >> 56);
}

static void accessed(unsigned int cpu, mem_info info, uint64_t address, void *data)
{
	(void)cpu;
	(void)data;
	put(address, qemu_plugin_mem_is_store(info) ? 2 : 1,
	    1U << qemu_plugin_mem_size_shift(info));
}

static void here(unsigned int cpu, void *data)
{
	(void)cpu;
	put((uint64_t)data, 3, 7);
	if (written > before && flushed < written - before)
		flushed = written - before;
	flush(written);
	until = written + AFTER;
}

static uint32_t mark_of(const struct insn *insn)
{
	const uint8_t *bytes = qemu_plugin_insn_data(insn);
	uint32_t number;

	if (qemu_plugin_insn_size(insn) != 7 || bytes[0] != 0x0f || bytes[1] != 0x1f ||
	    bytes[2] != 0x80)
		return 0;
	memcpy(&number, bytes + 3, sizeof(number));
	return number;
}

static void *with_length(const struct insn *insn)
{
	uint64_t address = qemu_plugin_insn_vaddr(insn) & ~((uint64_t)0xff << 56);

	return (void *)(address | (uint64_t)qemu_plugin_insn_size(insn) << 56);
}

static void translate_all(plugin_id id, struct tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct insn *insn = qemu_plugin_tb_get_insn(tb, i);
		void *address = (void *)qemu_plugin_insn_vaddr(insn);

		if (mark_of(insn) == HERE)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, here, NO_REGISTERS, address);
		else
			qemu_plugin_register_vcpu_insn_exec_cb(insn, executed, NO_REGISTERS,
							       with_length(insn));
		qemu_plugin_register_vcpu_mem_cb(insn, accessed, NO_REGISTERS, MEM_READ_WRITE, NULL);
	}
}

static void finish(plugin_id id, void *data)
{
	(void)id;
	(void)data;
	fclose(file);
}

static void again(plugin_id id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate_all);
	qemu_plugin_register_atexit_cb(id, finish, NULL);
}

static void started(unsigned int cpu, void *data)
{
	static bool already;

	(void)cpu;
	(void)data;
	if (already)
		return;
	already = true;
	/* Everything is translated anew, and looked at. */
	qemu_plugin_reset(self, again);
}

static void translate_start(plugin_id id, struct tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (mark_of(insn) == START)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, started, NO_REGISTERS, NULL);
	}
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
	(void)info;
	self = id;
	if (argc == 2 && !strncmp(argv[1], "before=", 7))
		before = strtoull(argv[1] + 7, NULL, 10);
	if (argc < 1 || argc > 2 || strncmp(argv[0], "out=", 4) || !before) {
		fprintf(stderr, "path_trace: out=OUT is missing\n");
		return 1;
	}
	ring = calloc(before, sizeof(*ring));
	file = fopen(argv[0] + 4, "wb");
	if (!ring || !file) {
		perror(argv[0] + 4);
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate_start);
	return 0;
}
