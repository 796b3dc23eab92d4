// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plug-in for QEMU: writes down what ran before the latest of the calls of a function that is
 * called once in a period.
 *
 *	qemu-system-x86_64 -icount shift=0 \
 *		-plugin late_trace.so,target=ADDRESS,period=NS,excess=NS,out=OUT ...
 *
 * An instruction takes one nanosecond. So a call that comes more than `excess` instructions after
 * a period is late by that much more than the call before it. The BEFORE instructions before such
 * a call go to the file, 8 bytes each, behind a word of 0 and one with how much later it was.
 * A CPU that was idle executes less than a period has; such a call is left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

#define BEFORE	2048	/* instructions; a power of two */
#define MOST	3000	/* more than this late: it was left out, or the measurement began anew */

static uint64_t ring[BEFORE];
static uint64_t executed;	/* instructions in all */
static uint64_t last;		/* of these, when the target was called last */
static uint64_t target, period, excess;
static FILE *file;

static void write_down(uint64_t late)
{
	const uint64_t head[] = { 0, late };

	fwrite(head, sizeof(head), 1, file);
	for (uint64_t at = executed - BEFORE; at < executed; at++)
		fwrite(&ring[at % BEFORE], sizeof(ring[0]), 1, file);
	fflush(file);
}

static void execute(unsigned int cpu, void *data)
{
	uint64_t since = executed - last;

	(void)cpu;
	if ((uint64_t)data == target) {
		if (last && since > period + excess && since < period + MOST)
			write_down(since - period);
		last = executed;
	}
	ring[executed++ % BEFORE] = (uint64_t)data;
}

static void translate(plugin_id id, struct tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct insn *insn = qemu_plugin_tb_get_insn(tb, i);

		qemu_plugin_register_vcpu_insn_exec_cb(insn, execute, NO_REGISTERS,
						       (void *)qemu_plugin_insn_vaddr(insn));
	}
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "target=", 7))
			target = strtoull(argv[i] + 7, NULL, 0);
		else if (!strncmp(argv[i], "period=", 7))
			period = strtoull(argv[i] + 7, NULL, 0);
		else if (!strncmp(argv[i], "excess=", 7))
			excess = strtoull(argv[i] + 7, NULL, 0);
		else if (!strncmp(argv[i], "out=", 4))
			file = fopen(argv[i] + 4, "wb");
	}
	if (!target || !period || !file) {
		fputs("late_trace: target=, period= and out= are needed\n", stderr);
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
