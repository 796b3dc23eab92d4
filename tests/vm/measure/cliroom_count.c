// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plug-in for QEMU: how often each cli, sti and pushf of a kernel runs, and how long the CPU's
 * interrupts are off by those of each class.
 *
 *	qemu-system-x86_64 -icount shift=0 -plugin cliroom_count.so,places=FILE,out=OUT ...
 *
 * FILE is what `tools/cli-room --list` prints; its third word is the class. Counting begins at the
 * guest's second mark (tests/vm/harness/mark.h; its init makes the first) and ends at the third. OUT gets a line
 *
 *	ADDRESS COUNT LONGEST
 *
 * for each place that ran, LONGEST in instructions: from that cli, if it is the first of its class
 * ("jump" for those with room, "none", "hard"), to the next sti, iret, sysret or popf. A last line
 * says "total", how many instructions there were, and 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

#define MOST	4096
#define MARK	0x4b52414d	/* "MARK" */
#define ADD_U64	0

void qemu_plugin_register_vcpu_tb_exec_inline(struct tb *tb, int op, void *to, uint64_t what);

enum class { JUMP, NONE, HARD, CLASSES };

struct place {
	uint64_t at;
	uint64_t count;
	uint64_t longest;
	enum class class;
};

static struct place places[MOST];
static unsigned int number;
static uint64_t total;		/* instructions up to the end of this block */
static uint64_t began, ended;
static bool counting;
static struct place *off_by[CLASSES];
static uint64_t off_since[CLASSES];
static const char *out;

/* What is to come of a block behind an instruction, and its place, in one word. */
static void *packed(size_t left, const struct place *place)
{
	return (void *)((uint64_t)left << 32 | (uint64_t)(place ? place - places + 1 : 0));
}

static uint64_t now(void *data)
{
	return total - ((uint64_t)data >> 32);
}

static void ran(unsigned int cpu, void *data)
{
	struct place *place = &places[((uint64_t)data & 0xffffffff) - 1];

	(void)cpu;
	if (counting)
		place->count++;
}

static void off(unsigned int cpu, void *data)
{
	struct place *place = &places[((uint64_t)data & 0xffffffff) - 1];

	ran(cpu, data);
	if (counting && !off_by[place->class]) {
		off_by[place->class] = place;
		off_since[place->class] = now(data);
	}
}

static void on(unsigned int cpu, void *data)
{
	(void)cpu;
	for (int class = 0; class < CLASSES; class++) {
		struct place *place = off_by[class];

		if (place && now(data) - off_since[class] > place->longest)
			place->longest = now(data) - off_since[class];
		off_by[class] = NULL;
	}
}

static void mark(unsigned int cpu, void *data)
{
	static unsigned int marks;

	(void)cpu;
	marks++;
	counting = marks == 2;
	if (marks == 2)
		began = now(data);
	else if (marks == 3)
		ended = now(data);
}

static struct place *place_at(uint64_t address)
{
	for (unsigned int i = 0; i < number; i++)
		if (places[i].at == address)
			return &places[i];
	return NULL;
}

static bool turns_on(const uint8_t *bytes, size_t size)
{
	return bytes[0] == 0xfb || bytes[0] == 0x9d || (size > 1 && bytes[0] == 0x48 &&
	       (bytes[1] == 0xcf || (bytes[1] == 0x0f && bytes[2] == 0x07)));
}

static void translate(plugin_id id, struct tb *tb)
{
	size_t many = qemu_plugin_tb_n_insns(tb);

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, ADD_U64, &total, many);
	for (size_t i = 0; i < many; i++) {
		struct insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const uint8_t *bytes = qemu_plugin_insn_data(insn);
		size_t size = qemu_plugin_insn_size(insn), left = many - i - 1;
		uint64_t address = qemu_plugin_insn_vaddr(insn);
		struct place *place = address >> 63 ? place_at(address) : NULL;
		uint32_t word = 0;

		if (place)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, bytes[0] == 0xfa ? off : ran,
							       NO_REGISTERS, packed(left, place));
		if (address >> 63 && turns_on(bytes, size))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on, NO_REGISTERS,
							       packed(left, NULL));
		if (size == 7 && bytes[0] == 0x0f && bytes[1] == 0x1f && bytes[2] == 0x80)
			memcpy(&word, bytes + 3, sizeof(word));
		if (word == MARK)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, mark, NO_REGISTERS,
							       packed(left, NULL));
	}
}

static void finish(plugin_id id, void *data)
{
	FILE *file = fopen(out, "w");

	(void)id;
	(void)data;
	if (!file || !ended) {
		fprintf(stderr, "cliroom_count: there were not three marks, or %s cannot be written\n", out);
		return;
	}
	for (unsigned int i = 0; i < number; i++)
		if (places[i].count)
			fprintf(file, "%llx %llu %llu\n", (unsigned long long)places[i].at,
				(unsigned long long)places[i].count,
				(unsigned long long)places[i].longest);
	fprintf(file, "total %llu 0\n", (unsigned long long)(ended - began));
	fclose(file);
}

static int read_places(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[256], class[16];

	if (!file) {
		perror(path);
		return 1;
	}
	while (fgets(line, sizeof(line), file) && number < MOST) {
		unsigned long long at;

		if (sscanf(line, "%llx %*s %15s", &at, class) != 2)
			continue;
		places[number].at = at;
		places[number++].class = !strcmp(class, "hard") ? HARD :
					 !strcmp(class, "none") ? NONE : JUMP;
	}
	fclose(file);
	return 0;
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
	const char *from = NULL;

	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "places=", 7))
			from = argv[i] + 7;
		else if (!strncmp(argv[i], "out=", 4))
			out = strdup(argv[i] + 4);
	}
	if (!from || !out || read_places(from)) {
		fprintf(stderr, "cliroom_count: places=FILE,out=OUT is missing\n");
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, finish, NULL);
	return 0;
}
