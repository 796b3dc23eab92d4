// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plug-in for QEMU: bears witness when a CPU executes code that memory does not hold any more.
 *
 *	qemu-system-x86_64 -accel tcg,thread=multi -smp 2 -plugin witness.so,out=FILE ...
 *
 * QEMU forgets what it has translated of a piece of memory, and then stores there. A CPU that comes
 * in between translates the old bytes again, and nobody has it forget them. When Linux changes its
 * text, the old byte is often a breakpoint, int3: that CPU goes on to execute one that is gone.
 *
 * At each interrupt and exception of a CPU this looks at the places where it has executed an int3
 * before. If it found none there at its last looks, and the CPU executes one now, and there is none
 * now, then it was none of memory's: Linux puts an int3 in, interrupts all CPUs, and only then takes
 * it out, so none can come and go between two looks. Each such execution is a line of FILE. One look
 * would do, but for a store that is made and not yet forgotten (forget.c) while the CPU is here.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT		__attribute__((visibility("default")))
#define INT3		0xcc
#define BYTES		5	/* the longest that Linux exchanges */
#define KERNEL		(1ULL << 63)
#define CPUS		64
#define PLACES		32
#define LOOKS		3
#define MOST_LINES	100	/* of each CPU */

/* QEMU's, and GLib's. */
enum { INTERRUPT = 1, EXCEPTION = 2 };
struct bytes { uint8_t *data; unsigned int count; };
struct bytes *g_byte_array_new(void);
bool qemu_plugin_read_memory_vaddr(uint64_t address, struct bytes *to, size_t count);
void qemu_plugin_register_vcpu_discon_cb(uint64_t id, int which,
					 void (*callback)(unsigned int cpu, int which, uint64_t from,
							  uint64_t to, void *opaque),
					 void *opaque);

EXPORT int qemu_plugin_version = 7;
EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

/*
 * struct cpu - one CPU's; only its own thread touches it
 * @excepted: where the exception is that has been raised, and not delivered yet
 * @int3_entry: where an int3 leads to; 0: none has been seen
 * @places: where it has executed one; @none: at so many looks in a row there was none
 */
struct cpu {
	struct bytes *buffer;
	uint64_t excepted, int3_entry;
	struct { uint64_t address; unsigned long none; } places[PLACES];
	unsigned int next, lines;
};

static struct cpu cpus[CPUS];
static FILE *out;

/* What memory has there; NULL: there is none. */
static const uint8_t *look(struct cpu *cpu, uint64_t address)
{
	if (!cpu->buffer)
		cpu->buffer = g_byte_array_new();
	return qemu_plugin_read_memory_vaddr(address, cpu->buffer, BYTES) ? cpu->buffer->data : NULL;
}

/* The CPU has executed an int3. */
static void breakpoint(struct cpu *cpu, unsigned int number, uint64_t address, const uint8_t *has)
{
	unsigned int i;

	for (i = 0; i < PLACES && cpu->places[i].address != address; i++)
		;
	if (i == PLACES) {
		cpu->places[cpu->next].address = address;
		cpu->next = (cpu->next + 1) % PLACES;
	} else if (cpu->places[i].none >= LOOKS && *has != INT3 &&
		   cpu->lines++ < MOST_LINES) {
		fprintf(out, "CPU %u executed int3 at %016llx, memory has %02x %02x %02x %02x %02x\n",
			number, (unsigned long long)address, has[0], has[1], has[2], has[3], has[4]);
		fflush(out);
	}
}

static void event(unsigned int number, int which, uint64_t from, uint64_t to, void *unused)
{
	struct cpu *cpu = &cpus[number % CPUS];
	const uint8_t *has;

	(void)unused;
	/* An exception is told twice: here, when it is raised, and as an interrupt, when it comes. */
	if (which == EXCEPTION) {
		cpu->excepted = from;
		return;
	}
	if (from == cpu->excepted && from >= KERNEL && (has = look(cpu, from))) {
		if (*has == INT3)
			cpu->int3_entry = to;
		if (to == cpu->int3_entry)
			breakpoint(cpu, number, from, has);
	}
	cpu->excepted = 0;
	for (unsigned int i = 0; i < PLACES; i++)
		if (cpu->places[i].address) {
			has = look(cpu, cpu->places[i].address);
			cpu->places[i].none = has && *has != INT3 ? cpu->places[i].none + 1 : 0;
		}
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	out = argc == 1 && !strncmp(argv[0], "out=", 4) ? fopen(argv[0] + 4, "a") : NULL;
	if (!out) {
		fprintf(stderr, "witness: out=FILE is wanted\n");
		return -1;
	}
	qemu_plugin_register_vcpu_discon_cb(id, INTERRUPT | EXCEPTION, event, NULL);
	return 0;
}
