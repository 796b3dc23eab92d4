// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plug-in for QEMU: has it forget what it has translated of a piece of text that Linux changes.
 *
 *	qemu-system-x86_64 -accel tcg,thread=multi -smp 2 -plugin forget.so ...
 *
 * QEMU itself forgets it before the store is made. A CPU that comes in between translates the old
 * bytes again and keeps them: see witness.c. Here it forgets once more, when the store is made.
 *
 * Linux changes text that CPUs may be executing by way of an address of the lower half, of user space.
 * So of the stores that are made in the upper half, those to the lower half are meant. QEMU's
 * interface for plug-ins has nothing to forget translations: these are functions of the program
 * itself, which exports them for its own modules.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT		__attribute__((visibility("default")))
#define UPPER_HALF	(1ULL << 63)
#define BELOW_THE_HOLE	0xc0000000	/* where memory is in one piece */
#define STORES		2

/* QEMU's. */
extern __thread void *current_cpu;
void tb_invalidate_phys_range(void *cpu, uint64_t first, uint64_t last);
void *qemu_ram_block_by_name(const char *name);
uint64_t qemu_ram_get_offset(const void *block);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*callback)(void *block, void *opaque),
					   void *opaque);
size_t qemu_plugin_tb_n_insns(const void *block);
void *qemu_plugin_tb_get_insn(const void *block, size_t index);
uint64_t qemu_plugin_tb_vaddr(const void *block);
void qemu_plugin_register_vcpu_mem_cb(void *insn,
				      void (*callback)(unsigned int cpu, uint32_t what,
						       uint64_t address, void *opaque),
				      int flags, int which, void *opaque);
const void *qemu_plugin_get_hwaddr(uint32_t what, uint64_t address);
uint64_t qemu_plugin_hwaddr_phys_addr(const void *where);
unsigned int qemu_plugin_mem_size_shift(uint32_t what);

EXPORT int qemu_plugin_version = 7;
EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

/* A store has been made. */
static void stored(unsigned int cpu, uint32_t what, uint64_t address, void *unused)
{
	const void *where, *memory;
	uint64_t first;

	(void)cpu;
	(void)unused;
	if (address & UPPER_HALF)
		return;
	where = qemu_plugin_get_hwaddr(what, address);
	memory = qemu_ram_block_by_name("pc.ram");
	first = where ? qemu_plugin_hwaddr_phys_addr(where) : BELOW_THE_HOLE;
	if (first >= BELOW_THE_HOLE || !memory)
		return;
	first += qemu_ram_get_offset(memory);
	tb_invalidate_phys_range(current_cpu, first,
				 first + (1ULL << qemu_plugin_mem_size_shift(what)) - 1);
}

static void translates(void *block, void *unused)
{
	(void)unused;
	if (!(qemu_plugin_tb_vaddr(block) & UPPER_HALF))
		return;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++)
		qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), stored, 0, STORES,
						 NULL);
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	(void)argc;
	(void)argv;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translates, NULL);
	return 0;
}
