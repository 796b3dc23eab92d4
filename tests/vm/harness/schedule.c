// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plug-in for QEMU: ends the turns of the CPUs at moments that a seed chooses.
 *
 *	qemu-system-x86_64 -icount shift=0,sleep=off -smp 2 -plugin schedule.so,seed=7,out=FILE ...
 *
 * In virtual time CPUs run by turns, and a turn lasts until the next timer of the virtual clock is
 * due, divided by the number of CPUs: most often far longer than any critical section. A timer of
 * our own that does nothing but start anew cuts turns short, at any instruction. How long until the
 * next is log-uniform, from 32 ns to a limit that changes each millisecond, from half a microsecond to
 * a millisecond: there are times in which turns last a few instructions, and such in which the other
 * CPU gets far. The same seed gives the same turns.
 *
 * The first mark begins it: an instruction of the guest's that does nothing (mark.h). PID 1 makes it.
 * Each further one begins the schedule of the next number, so one boot is enough for many. FILE has a
 * line for each that has begun, its number.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turns.h"

#define EXPORT		__attribute__((visibility("default")))
#define SHORTEST_LOG2	5
#define LOWEST_LIMIT_LOG2	9
#define HIGHEST_LIMIT_LOG2	20
#define PHASE_NS	1000000
#define MARK		{ 0x0f, 0x1f, 0x80, 'M', 'A', 'R', 'K' }	/* mark.h */

/* QEMU's. */
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*callback)(uint64_t, void *block));
size_t qemu_plugin_tb_n_insns(const void *block);
void *qemu_plugin_tb_get_insn(const void *block, size_t index);
size_t qemu_plugin_insn_size(const void *insn);
size_t qemu_plugin_insn_data(const void *insn, void *to, size_t bytes);
void qemu_plugin_register_vcpu_insn_exec_cb(void *insn, void (*callback)(unsigned int, void *),
					    int flags, void *opaque);

EXPORT int qemu_plugin_version = 4;
EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

static const uint8_t mark[] = MARK;
static struct timer timer;
static FILE *out;
static uint64_t seed, state;
static bool begun, marked;

/* Steele, Lea and Flood's SplitMix64 (OOPSLA 2014): any seed does, neighbouring ones too. */
static uint64_t next_random(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static int64_t until_next_ns(int64_t now)
{
	static unsigned int limit;
	static int64_t phase_ends;
	unsigned int log2;
	uint64_t bits;

	if (!begun)
		return PHASE_NS;
	bits = next_random();
	if (now >= phase_ends || marked) {
		marked = false;
		limit = LOWEST_LIMIT_LOG2 +
			(bits >> 16) % (HIGHEST_LIMIT_LOG2 - LOWEST_LIMIT_LOG2 + 1);
		phase_ends = now + PHASE_NS;
	}
	log2 = SHORTEST_LOG2 + bits % (limit - SHORTEST_LOG2);
	return (1ULL << log2) + ((bits >> 32) & ((1ULL << log2) - 1));
}

static void end_turn(void *unused)
{
	int64_t now = qemu_clock_get_ns(VIRTUAL_CLOCK), wait = until_next_ns(now);

	(void)unused;
	if (begun)
		turns_end_in(&timer, wait);
	else
		timer_mod_ns(&timer, now + wait);
}

static void start(uint64_t id, unsigned int cpu)
{
	(void)id;
	if (cpu)
		return;
	turns_init(&timer, end_turn);
	end_turn(NULL);
}

static void next_schedule(unsigned int cpu, void *unused)
{
	(void)cpu;
	(void)unused;
	state = begun ? ++seed : seed;
	begun = marked = true;
	fprintf(out, "%llu\n", (unsigned long long)seed);
	fflush(out);
}

static void translates(uint64_t id, void *block)
{
	uint8_t bytes[sizeof(mark)];

	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
		void *insn = qemu_plugin_tb_get_insn(block, i);

		if (qemu_plugin_insn_size(insn) == sizeof(mark) &&
		    qemu_plugin_insn_data(insn, bytes, sizeof(bytes)) == sizeof(bytes) &&
		    !memcmp(bytes, mark, sizeof(mark)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, next_schedule, 0, NULL);
	}
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc == 2 && !strncmp(argv[0], "seed=", 5) && !strncmp(argv[1], "out=", 4))
		out = fopen(argv[1] + 4, "a");
	if (!out) {
		fprintf(stderr, "schedule: seed=NUMBER,out=FILE is wanted\n");
		return -1;
	}
	seed = strtoull(argv[0] + 5, NULL, 0);
	qemu_plugin_register_vcpu_init_cb(id, start);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translates);
	return 0;
}
