// SPDX-License-Identifier: GPL-2.0-only
/*
 * NMIs of our own: a CPU does something in its next one. And: no NMI while slots are written.
 *
 * Hardware interrupts are off on all CPUs then, but an NMI could run into a slot of which
 * another CPU has written one half. So the others wait inside an NMI handler: until it
 * returns, the hardware holds the next NMI back. The CPU that writes needs no gate, since to
 * its own NMIs each slot's single store is whole.
 */
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/processor.h>
#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/nmi.h>
#include "pipeline/pipeline.h"
#include "pipeline/x86/client.h"
#include "pipeline/x86/patch/nmigate.h"
#include "pipeline/x86/rouse.h"

#define ANSWER_NS 1000000000ULL	/* long after any CPU has taken an NMI, emulated ones too */
#define SPARE_NS 10000000ULL

static DEFINE_PER_CPU(pl_nmi_fn, called);	/* what this CPU is to do in its next NMI */
static DEFINE_PER_CPU(u64, spare_until);
static atomic_t inside;
static bool open;

/* Context: NMI. */
static void wait_at_gate(struct pt_regs *regs)
{
	int leaf = 0;

	atomic_inc(&inside);
	/* Pairs with the release in pl_nmi_gate_open(): the slots are written. */
	while (!smp_load_acquire(&open))
		cpu_relax();
	/*
	 * Serialize: the way back from here may hold text that was rewritten. By cpuid, for
	 * sync_core()'s iret would let the next NMI in.
	 */
	asm volatile("cpuid" : "+a" (leaf) : : "ebx", "ecx", "edx", "memory");
}

/* Context: NMI. */
static int answer(unsigned int type, struct pt_regs *regs)
{
	pl_nmi_fn fn = this_cpu_read(called);

	if (fn) {
		this_cpu_write(called, NULL);
		fn(regs);
		/* If somebody else's NMI brought us here, ours follows, and has no other owner. */
		this_cpu_write(spare_until, pl_clock() + SPARE_NS);
		return NMI_HANDLED;
	}
	pl_rouse_late(regs);
	if (pl_clock() < this_cpu_read(spare_until)) {
		this_cpu_write(spare_until, 0);
		return NMI_HANDLED;
	}
	return NMI_DONE;
}

int pl_nmi_gate_init(void)
{
	return register_nmi_handler(NMI_LOCAL, answer, 0, "tactus");
}

void pl_nmi_gate_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "tactus");
}

void pl_nmi_send(int cpu, pl_nmi_fn fn)
{
	per_cpu(called, cpu) = fn;
	pl_apic->send_IPI(cpu, NMI_VECTOR);
}

bool pl_nmi_gate_close(void)
{
	int here = raw_smp_processor_id(), others = num_online_cpus() - 1, cpu;
	u64 limit = pl_clock() + ANSWER_NS;

	open = false;
	atomic_set(&inside, 0);
	for_each_online_cpu(cpu)
		if (cpu != here)
			pl_nmi_send(cpu, wait_at_gate);
	while (atomic_read(&inside) < others) {
		if (pl_clock() > limit) {
			for_each_online_cpu(cpu)
				per_cpu(called, cpu) = NULL;
			pl_nmi_gate_open();
			return false;
		}
		cpu_relax();
	}
	return true;
}

void pl_nmi_gate_open(void)
{
	/* Pairs with the acquire in wait_at_gate(). */
	smp_store_release(&open, true);
}
