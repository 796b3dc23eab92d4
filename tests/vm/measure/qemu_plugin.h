/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * QEMU's interface for plug-ins, version 1, no more of it than the tracers here use. (The plug-ins
 * of tests/vm/harness take version 4, whose calls differ.) A plug-in includes it in its one file.
 */
#ifndef _QEMU_PLUGIN_H
#define _QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT	__attribute__((visibility("default")))

typedef uint64_t plugin_id;
typedef uint32_t mem_info;
struct tb;
struct insn;
enum { NO_REGISTERS = 0, MEM_READ_WRITE = 3 };

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*callback)(plugin_id, struct tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct insn *insn,
					    void (*callback)(unsigned int, void *),
					    int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct insn *insn,
				      void (*callback)(unsigned int, mem_info, uint64_t, void *),
				      int flags, int rw, void *data);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*callback)(plugin_id, void *), void *data);
void qemu_plugin_reset(plugin_id id, void (*callback)(plugin_id));
size_t qemu_plugin_tb_n_insns(const struct tb *tb);
struct insn *qemu_plugin_tb_get_insn(const struct tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct insn *insn);
size_t qemu_plugin_insn_size(const struct insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct insn *insn);
bool qemu_plugin_mem_is_store(mem_info info);
unsigned int qemu_plugin_mem_size_shift(mem_info info);

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

#endif
