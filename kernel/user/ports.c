// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ports of I/O. Linux decides which a thread may use, by ioperm() or iopl(); RT mode has the
 * decision as it was when the thread entered. The CPU's bitmap is the interrupted process's, and
 * RT mode has none: so a port instruction is an exception, and what it says is done here, if it
 * is allowed. Anything else is Linux's.
 */
#include <linux/io.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <asm/io_bitmap.h>
#include <asm/processor.h>
#include <asm/trapnr.h>
#include "user.h"

#define OPERAND_16	0x66
#define OPCODE_LOW	0xe4	/* in al, imm8; in eax, imm8; out imm8, al; out imm8, eax */
#define OPCODE_DX	8	/* likewise, with the port in dx */
#define OPCODE_OUT	2
#define OPCODE_WIDE	1
#define IOPL_ALL	3

int ports_take(struct thread *t)
{
#ifdef CONFIG_X86_IOPL_IOPERM
	const struct io_bitmap *map = current->thread.io_bitmap;

	t->all_ports = current->thread.iopl_emul == IOPL_ALL;
	if (t->all_ports || !map)
		return 0;
	t->ports = kmemdup(map->bitmap, sizeof(map->bitmap), GFP_KERNEL_ACCOUNT);
	if (!t->ports)
		return -ENOMEM;
	t->ports_bytes = map->max;
#endif
	return 0;
}

void ports_give(struct thread *t)
{
	kfree(t->ports);
	t->ports = NULL;
	t->all_ports = false;
}

/* In the bitmap a bit that is set forbids. */
static bool may_use(const struct thread *t, unsigned int port, unsigned int bytes)
{
	if (t->all_ports)
		return port + bytes <= IO_BITMAP_BITS;
	for (unsigned int at = port; at < port + bytes; at++)
		if (!t->ports || at / BITS_PER_BYTE >= t->ports_bytes || test_bit(at, t->ports))
			return false;
	return true;
}

static void carry_out(struct pt_regs *regs, unsigned int port, unsigned int bytes, bool out)
{
	switch (bytes | out << 3) {
	case 1:
		regs->ax = (regs->ax & ~0xffUL) | inb(port);
		break;
	case 2:
		regs->ax = (regs->ax & ~0xffffUL) | inw(port);
		break;
	case 4:
		regs->ax = inl(port);
		break;
	case 1 | 8:
		outb(regs->ax, port);
		break;
	case 2 | 8:
		outw(regs->ax, port);
		break;
	case 4 | 8:
		outl(regs->ax, port);
		break;
	}
}

bool ports_serve(struct thread *t, struct pt_regs *regs)
{
	unsigned int length = 0, port, bytes;
	bool narrow = false;
	u8 code[3], op;

	/* A debugger's step would be lost. */
	if ((!t->ports && !t->all_ports) || regs->flags & X86_EFLAGS_TF)
		return false;
	for (unsigned int i = 0; i < sizeof(code); i++) {
		const u8 *at = shadow_at(t->shadow, regs->ip + i, false);

		code[i] = at ? *at : 0;
	}
	if (code[0] == OPERAND_16) {
		narrow = true;
		length++;
	}
	op = code[length++];
	if ((op & ~(OPCODE_DX | OPCODE_OUT | OPCODE_WIDE)) != OPCODE_LOW)
		return false;
	port = op & OPCODE_DX ? regs->dx & 0xffff : code[length++];
	bytes = !(op & OPCODE_WIDE) ? 1 : narrow ? 2 : 4;
	if (!may_use(t, port, bytes))
		return false;
	carry_out(regs, port, bytes, op & OPCODE_OUT);
	regs->ip += length;
	return true;
}
