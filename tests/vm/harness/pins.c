// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plug-in for QEMU: a parallel port for output, and what a logic analyser at its pins would see.
 *
 *	qemu-system-x86_64 -nodefaults -plugin pins.so,base=0x378,out=FILE ...
 *
 * Each write by the guest to one of the three registers becomes 16 bytes of FILE: the virtual time in
 * nanoseconds, the register (0: data), the value. Data and control register read back what was
 * written, the status register says that a printer is ready. QEMU's own parallel port must not be there.
 *
 * QEMU's interface for plug-ins has no devices: these are functions of the program itself, which
 * exports them for its own modules.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT		__attribute__((visibility("default")))
#define CLOCK_VIRTUAL	1
#define READY		0xdf
#define REGISTERS	3

/* QEMU's. */
struct limits {
	unsigned int least, most;
	bool unaligned;
};

struct region_ops {
	uint64_t (*read)(void *opaque, uint64_t offset, unsigned int size);
	void (*write)(void *opaque, uint64_t offset, uint64_t value, unsigned int size);
	void *read_with_attrs, *write_with_attrs;
	int endianness;
	struct {
		unsigned int least, most;
		bool unaligned;
		void *accepts;
	} valid;
	struct limits impl;
};

struct notifier {
	void (*notify)(struct notifier *notifier, void *data);
	void *next, **prev;
};

void memory_region_init_io(void *region, void *owner, const struct region_ops *ops, void *opaque,
			   const char *name, uint64_t size);
void memory_region_add_subregion_overlap(void *above, uint64_t offset, void *region, int priority);
void *get_system_io(void);
int64_t qemu_clock_get_ns(int clock);
void qemu_add_machine_init_done_notifier(struct notifier *notifier);

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

struct record {
	uint64_t time_ns;
	uint32_t port;
	uint32_t value;
};

static uint64_t base;
static int out;
static uint8_t registers[REGISTERS] = { 0, READY, 0 };
static uint64_t room[512];		/* QEMU's description of a region; about 272 bytes are used */

static uint64_t read_register(void *opaque, uint64_t offset, unsigned int size)
{
	(void)opaque;
	(void)size;
	return registers[offset];
}

/* On the CPU's thread, after an instruction that QEMU counts exactly. */
static void write_register(void *opaque, uint64_t offset, uint64_t value, unsigned int size)
{
	struct record record = { qemu_clock_get_ns(CLOCK_VIRTUAL), offset, value };

	(void)opaque;
	(void)size;
	if (offset != 1)
		registers[offset] = value;
	if (write(out, &record, sizeof(record)) != sizeof(record)) {
		perror("pins");
		exit(1);
	}
}

static const struct region_ops ops = {
	.read = read_register, .write = write_register,
	.valid = { .least = 1, .most = 1 }, .impl = { 1, 1, false },
};

static void plug_in(struct notifier *notifier, void *data)
{
	(void)notifier;
	(void)data;
	memory_region_init_io(room, NULL, &ops, NULL, "pins", REGISTERS);
	memory_region_add_subregion_overlap(get_system_io(), base, room, 1);
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	static struct notifier done = { .notify = plug_in };
	const char *path = NULL;

	(void)id;
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "base=", 5))
			base = strtoull(argv[i] + 5, NULL, 0);
		else if (!strncmp(argv[i], "out=", 4))
			path = argv[i] + 4;
	}
	if (!base || !path) {
		fprintf(stderr, "pins: base= and out= are needed\n");
		return -1;
	}
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (out < 0) {
		perror(path);
		return -1;
	}
	qemu_add_machine_init_done_notifier(&done);
	return 0;
}
